"""Drawn files: scenario files by seed, with faults, repairs, runbooks and requests of whom nothing is known beforehand.

Every step may be refused, so a timeline goes on to its end; what a file does is a function of its seed.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any, TypeAlias

from labkit.scenario.loading import loads
from labkit.scenario.scenario import Scenario

Step: TypeAlias = dict[str, Any]

SITES = ("paris", "tokyo", "lima")
LAYERS = ("root", "subtree", "page", "subpage", "storage")
CONDITIONS: tuple[dict[str, Any], ...] = (
    {"lag": 0},
    {"lag": {"at least": 1}},
    {"connections": {"tokyo": "not ready"}},
    {"modes": {"tokyo": "secondary"}},
    {"roots": "equal"},
    {"lags": {"tokyo": {"at most": 3}}},
    {"clients": {"sharers": {"refused": {"at least": 20}}}},
    {"logins": {"refused": {"at least": 2}}},
)
REQUESTS: tuple[dict[str, Any], ...] = (
    {"method": "POST", "path": "secret/data/app", "body": {"data": {"user": "ada"}}},
    {"method": "DELETE", "path": "secret/metadata/app"},
    {"method": "POST", "path": "auth/token/create", "body": {"ttl": "5s"}},
    {"method": "POST", "path": "sys/rotate"},
    {"method": "GET", "path": "sys/replication/dr/status"},
    {"method": "POST", "path": "transit/keys/orders/rotate"},
)


class _Draws:
    """The draws of one file: its clusters, and the instant of its last step in milliseconds."""

    def __init__(self, seed: int) -> None:
        self.random = Random(f"drawn file {seed}")
        self.sites = SITES[: self.any(2, 3)]
        self.nodes = {name: self.any(1, 3) for name in self.sites}
        self.now_ms = 5_000

    def any(self, *options: Any) -> Any:
        """One of some options."""
        return options[self.random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        """Whether something of that chance is so."""
        return self.random.randrange(100) < percent

    def pair(self) -> list[str]:
        """Two clusters or sites."""
        return self.random.sample(self.sites, 2)

    def host(self) -> str:
        """A node."""
        name = self.any(*self.sites)
        return f"{name}-{self.random.randint(1, self.nodes[name])}"

    def fault(self) -> Step:
        """What goes wrong."""
        one, other = self.pair()
        target, line = self.any(one, self.host()), {"between": [one, other]}
        return self.any(
            {"do": "crash", "target": target},
            {"do": "crash-site", "target": one},
            {"do": "crash-in-commit", "target": one, "moment": self.any("before", "between", "after")},
            {"do": "pause", "target": self.host()},
            {"do": "skew", "target": self.host(), "by": self.any("90s", "-90s", "1h")},
            {"do": "partition", **line},
            {"do": "cut", "from": one, "to": other},
            {"do": "isolate", "target": one},
            {"do": "slow", **line, "factor": self.any(3, 20)},
            {"do": "lose", **line, "loss": self.any("5%", "40%")},
            {"do": "duplicate", **line, "share": self.any("20%", "80%")},
            {"do": "flap", **line, "down": self.any("200ms", "2s"), "up": self.any("300ms", "3s")},
            {"do": "impersonate", "target": self.host()},
            {"do": "corrupt", "cluster": one, "layer": self.any(*LAYERS)},
        )

    def repair(self) -> Step:
        """What undoes a fault."""
        return self.any(
            {"do": "restart", "target": self.any(*self.sites, self.host())},
            {"do": "restart-site", "target": self.any(*self.sites)},
            {"do": "resume", "target": self.host()},
            {"do": "correct", "target": self.host()},
            {"do": "expose", "target": self.host()},
            *({"do": verb} for verb in ("heal", "restore", "steady")),
        )

    def runbook(self) -> Step:
        """What an operator works through."""
        one, other = self.pair()
        return self.any(
            {"do": "failover", "old": one, "new": other},
            {"do": "promote", "cluster": one, "force": self.chance(30)},
            {"do": "promote", "furthest ahead": [one, other], "force": self.chance(30)},
            {"do": "repoint", "cluster": one, "to": other},
            {"do": "replicate", "primary": one, "secondary": other},
            *({"do": verb, "cluster": one} for verb in ("demote", "disable", "reindex", "seal", "unseal")),
            {"do": "ask", "cluster": one, **self.any(*REQUESTS)},
            {"do": "ask", "cluster": one, **self.any(*REQUESTS), "repeat": self.any(1, 4)},
        )

    def timed(self, step: Step, number: int) -> Step:
        """A step with the instant, the step or the result that it waits for."""
        wait_ms = self.any(50, 300, 1_500, 4_000)
        if step["do"] in ("wait", "note") or self.chance(60):
            self.now_ms += wait_ms
            return {**step, "at": f"{self.now_ms}ms", "late": "ok"}
        if self.chance(40):
            return {**step, "when": self.any("done", "refused", "done")}
        if self.chance(40):
            return {**step, "when": self.any(*CONDITIONS), "within": self.any("1s", "8s")}
        if self.chance(40):
            return {**step, "after": {"step": self.random.randint(1, number - 1), "began": f"{wait_ms}ms"}}
        self.now_ms += wait_ms
        return {**step, "after": f"{wait_ms}ms"}


def drawn(seed: int) -> dict[str, Any]:
    """Return the data of one file."""
    draws = _Draws(seed)
    first, *others = draws.sites
    timeline: list[Step] = [
        {"do": "replicate", "primary": first, "secondary": name, "at": "1s", "late": "ok", "fails": "maybe"}
        for name in others
    ]
    for number in range(len(timeline) + 1, len(timeline) + draws.random.randint(6, 14)):
        step = draws.any(draws.fault, draws.fault, draws.repair, draws.runbook)()
        timeline.append({**draws.timed(step, number), "fails": "maybe", **_idle(step)})
    lab = {"sites": list(draws.sites), "links": _links(draws), "clusters": _clusters(draws), "clients": _clients(draws)}
    lab |= {"cloud": {"site": draws.any(*draws.sites)}}
    end = f"{draws.now_ms + 20_000}ms"
    return {"scenario": f"drawn {seed}", "seed": seed, "lab": lab, "timeline": timeline, "end": end}


def text_of(seed: int) -> str:
    """Return the text of one file."""
    return json.dumps(drawn(seed))


def scenario_of(seed: int) -> Scenario:
    """Return one file as a scenario."""
    return loads(text_of(seed).encode(), f"drawn-{seed}.lab.yaml")


def _idle(step: Step) -> dict[str, str]:
    """A drawn fault may have no effect."""
    from labkit.scenario.verbs import VERBS

    return {"idle": "fine"} if VERBS[step["do"]].kind == "fault" else {}


def _links(draws: _Draws) -> list[dict[str, Any]]:
    pairs = [(one, other) for place, one in enumerate(draws.sites) for other in draws.sites[place + 1 :]]
    return [
        {"between": list(pair), "latency": draws.any("1ms", "20ms", "200ms"), "jitter": draws.any("0s", "5ms")}
        for pair in pairs
    ]


def _clusters(draws: _Draws) -> dict[str, Any]:
    backlog = draws.any(8, 64, 16_384)
    return {name: {"site": name, "nodes": draws.nodes[name], "backlog": backlog} for name in draws.sites}


def _clients(draws: _Draws) -> dict[str, Any]:
    site, use = draws.any(*draws.sites), list(draws.sites)
    work = [
        {"do": "put-secret", "every": draws.any("100ms", "1s"), "from": "3s", "keys": draws.any(0, 3)},
        {"do": "get-secret", "every": "500ms", "from": "3s", "keys": 3},
        {"do": "encrypt", "every": "1s", "from": "3s"},
    ]
    group = {"site": site, "use": use, "count": draws.any(1, 2), "work": work, "timeout": "1s"}
    others = draws.random.sample(use, len(use))
    return {
        "writers": {**group, "retries": draws.any(0, 4)},
        "sharers": {"site": draws.any(*use), "use": others, "count": 2, "share": True, "work": _shared_work(draws)},
        "rivals": {"site": draws.any(*use), "use": use, "share": "sharers", "work": _shared_work(draws)},
        "apps": {"site": site, "use": use, "retries": draws.any(0, 6), "work": _token_work(draws)},
    }


def _shared_work(draws: _Draws) -> list[Step]:
    """What meets on two keys."""
    return [
        {"do": "put-secret", "every": draws.any("200ms", "900ms"), "from": "3s", "keys": 2, "cas": draws.chance(50)},
        {"do": "get-secret", "every": "700ms", "from": "3s", "keys": 2},
        {"do": "delete-secret", "every": draws.any("400ms", "3s"), "from": "3s", "keys": 2},
    ]


def _token_work(draws: _Draws) -> list[Step]:
    """Tokens that come, are used, and end; logins that nobody has made possible are refused."""
    return [
        {"do": "create-token", "every": "1s", "from": "3s", "ttl": draws.any("2s", "1h"), "uses": draws.any(1, 3, 100)},
        {"do": "use-token", "every": draws.any("200ms", "700ms"), "from": "3s"},
        {"do": "revoke-token", "every": draws.any("900ms", "5s"), "from": "3s"},
        {"do": "login", "every": "4s", "from": "3s"},
    ]
