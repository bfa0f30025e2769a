"""Stolen keys: random faults around a cluster whose cloud takes a signing key back; who holds it gets in for an hour.

    python tests/torture/test_stolen_keys.py [seeds] [first seed]

What happens before the key is taken back is drawn: faults of nodes, clocks and cloud, logins of the honest and of the
thief, configurations, failovers, branches and restored labs.  Then the cloud is well again, an hour passes, with more
faults of nodes on its way, and the thief logs in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import CloudPlan, pair
from labkit.service.silence import Silence

EVERYDAY, MORE = 4, 400
ACTIONS = 8
ENDPOINTS = ("discovery", "keys", "token", "compute")


class Run:
    """One lab, drawn from a seed: what it did is in ``done``."""

    def __init__(self, seed: int) -> None:
        self.draw, self.done = Random(seed), list[str]()
        self.two = self.draw.random() < 0.3
        plan = pair()
        self.lab = Lab(replace(plan, clusters=plan.clusters[: 1 + self.two], cloud=CloudPlan(site="paris")), seed=seed)
        self.primary, self.other = "paris", "tokyo"
        paris, vm = self.lab["paris"], self.lab.cloud.vm("web-1")
        paris.post("sys/auth/cloud", {"type": "cloud"}).raise_for_status()
        paris.post("auth/cloud/config", self.lab.cloud.config).raise_for_status()
        paris.post("auth/cloud/role/sp", {"bound_service_principal_ids": vm.principal_id}).raise_for_status()
        paris.post("auth/cloud/role/loc", {"bound_locations": "westeurope"}).raise_for_status()
        if self.two:
            self.lab.replicate("paris", "tokyo")
        keys = self.lab.cloud.parts.keys["CloudPublicCloud"]
        self.kid, self.key = keys.signing.kid, keys.private(keys.signing)

    def stolen(self) -> str:
        """A token that the thief mints."""
        return self.lab.cloud.mint("web-1", headers={"kid": self.kid}, key=self.key)

    def body(self, jwt: str) -> dict[str, str]:
        """What a login sends."""
        vm = self.lab.cloud.vm("web-1")
        place = {"subscription_id": vm.subscription_id, "resource_group_name": "web", "vm_name": "web-1"}
        return {"role": self.draw.choice(("sp", "loc")), "jwt": jwt, **place}

    def login(self, jwt: str) -> int:
        """Log in; 0 where nobody answers in time."""
        try:
            return self.lab[self.primary].post("auth/cloud/login", self.body(jwt), token="").status
        except Silence:
            return 0

    def begin(self, jwt: str) -> None:
        """Begin a login, and go on with whatever comes."""
        self.lab.parts.console.ask(Ask(self.primary, "POST", "auth/cloud/login", self.body(jwt), token=""))
        self.lab.run(self.draw.choice(("10ms", "50ms", "1s")))

    def node(self) -> str:
        """A node of the cluster, the active one more often."""
        cluster = self.lab[self.primary]
        return cluster.active if cluster.active and self.draw.random() < 0.7 else self.draw.choice(cluster.nodes)

    # ---- what happens

    def wait(self) -> None:
        self.lab.run(self.draw.choice(("1s", "90s", "6m", "31m", "61m", "25h")))

    def honest(self) -> None:
        self.begin(self.lab.cloud.mint("web-1"))

    def thief(self) -> None:
        self.begin(self.stolen())

    def made_up(self) -> None:
        self.begin(self.lab.cloud.mint("web-1", headers={"kid": "made-up"}))

    def slow(self) -> None:
        self.lab.cloud.slow(self.draw.choice(("500ms", "1500ms", "5s", "12s")), self.draw.choice(ENDPOINTS))

    def fails(self) -> None:
        self.lab.cloud.fail_next(self.draw.choice(ENDPOINTS), 503, times=self.draw.randint(1, 5))

    def well(self) -> None:
        self.lab.cloud.restore()
        self.lab.cloud.recover()

    def roll(self) -> None:
        self.lab.cloud.roll_keys()

    def crash(self) -> None:
        node = self.node()
        self.lab.crash(node)
        self.lab.run(self.draw.choice(("1s", "20s")))
        self.lab.restart(node)
        self.lab.unseal(self.primary)

    def seal(self) -> None:
        self.lab.seal(self.primary)
        self.lab.run(self.draw.choice(("10ms", "3s")))
        self.lab.unseal(self.primary)

    def step_down(self) -> None:
        self.lab[self.primary].post("sys/step-down")

    def pause(self) -> None:
        nodes = self.draw.choice(((self.node(),), tuple(self.lab[self.primary].nodes)))
        for node in nodes:
            self.lab.pause(node)
        self.lab.run(self.draw.choice(("1s", "5s", "70m")))
        for node in nodes:
            self.lab.resume(node)

    def skew(self) -> None:
        by = self.draw.choice(("-240h", "-61m", "-4m", "4m", "61m", "240h"))
        self.lab.skew(self.primary, by=by)
        if self.draw.random() < 0.5:
            self.begin(self.stolen())
            self.lab.run(self.draw.choice(("1s", "61m")))
            self.lab.correct(self.primary)

    def configure(self) -> None:
        self.lab[self.primary].post("auth/cloud/config", {"max_retries": self.draw.randint(0, 3)})

    def rotate(self) -> None:
        self.lab[self.primary].post("auth/cloud/rotate-root", {})

    def failover(self) -> None:
        if self.two:
            for name in (self.primary, self.other):
                self.lab.correct(name)
            self.lab.failover(self.primary, self.other)
            self.primary, self.other = self.other, self.primary

    def restored(self) -> None:
        saved = self.lab.snapshot()
        self.lab.run("5s")
        self.lab = Lab.restore(saved)

    def branched(self) -> None:
        self.lab = self.lab.branch("aside")

    def act(self, acts: tuple[Callable[[Run], None], ...]) -> None:
        """Do one of these."""
        chosen = self.draw.choice(acts)
        self.done.append(chosen.__name__)
        try:
            chosen(self)
        except Silence:
            self.done.append("silence")


OF_NODES = (Run.crash, Run.seal, Run.step_down, Run.pause, Run.restored, Run.branched)
ALL = (
    *OF_NODES,
    *(Run.wait, Run.honest, Run.thief, Run.made_up, Run.slow, Run.fails, Run.well, Run.roll, Run.skew, Run.configure),
    *(Run.rotate, Run.failover, Run.wait, Run.honest, Run.thief),
)


def check(seed: int) -> None:
    """Run one seed; raise AssertionError where the thief gets in, or an honest machine stays outside."""
    run = Run(seed)
    for _ in range(run.draw.randint(2, ACTIONS)):
        run.act(ALL)
    run.well()
    run.lab.run("75s")  # what was under way is answered, or over
    keys = run.lab.cloud.parts.keys["CloudPublicCloud"]
    while any(key.kid == run.kid for key in (keys.signing, *keys.published)):
        keys.roll() if keys.signing.kid != run.kid else run.lab.cloud.revoke_key()
    run.lab.run("30m")
    run.act(OF_NODES)
    run.lab.run("40m")
    said = f"seed {seed}: {' '.join(run.done)}"

    assert run.login(run.stolen()) != 200, f"{said}: the thief gets in"
    run.lab.correct(run.primary)
    run.lab.run("10m")
    assert run.login(run.lab.cloud.mint("web-1")) == 200, f"{said}: an honest machine stays outside"
    assert run.login(run.stolen()) == 403, f"{said}: the thief gets in after the honest one"


@pytest.mark.parametrize("seed", range(EVERYDAY))
@pytest.mark.slow
def test_a_stolen_key_lets_nobody_in_for_longer_than_an_hour(seed) -> None:
    check(seed)


def main(seeds: int = MORE, first: int = 0) -> None:
    """Check many seeds."""
    for seed in range(first, first + seeds):
        check(seed)
    print(f"{seeds} stolen keys: none let anybody in for longer than an hour")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
