"""Replaying recorded answers: cases from the JSON files, a judge, and a line in the summary of how many match."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import requests

from labkit import Lab, Vault
from labkit.doors import httpx as httpx_door
from labkit.doors import hvac as hvac_door
from labkit.doors import requests as requests_door
from labkit.doors.served_door import ServedDoor
from labkit.lab.plan.blueprint import pair
from labkit.lab.snapshot import Snapshot

FILES = ("core", "kv2", "transit", "logins")
IGNORED = ("request_id", "lease_id", "lease_duration", "renewable", "mount_type")
SOFT_TEXTS = ("errors", "error", "warnings")
TYPES = {"str": str, "int": int, "bool": bool, "list": list, "dict": dict, "null": type(None)}

# sends method, path, body and headers; returns status and parsed body
Ask = Callable[[str, str, Any, dict[str, str]], tuple[int, Any]]


class Verdict(NamedTuple):
    """What differs from the recorded answers: what counts, and what is only counted."""

    hard: list[str]
    soft: list[str]


def load() -> list[dict[str, Any]]:
    folder = Path(__file__).parent
    return [case for name in FILES for case in json.loads((folder / f"{name}.json").read_text())]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        cases = load()
        metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])


@pytest.fixture(scope="session")
def cases() -> list[dict[str, Any]]:
    """All recorded cases."""
    return load()


@pytest.fixture(scope="session")
def case_ids(cases: list[dict[str, Any]]) -> list[str]:
    """The ids of all recorded cases."""
    return [case["id"] for case in cases]


@pytest.fixture(scope="session")
def fresh_lab() -> Snapshot:
    """A lab of one cluster, newly built."""
    plan = pair()
    return Lab(replace(plan, clusters=plan.clusters[:1])).snapshot()


def through_requests(vault: Any) -> Ask:
    """Send through the door for requests."""
    session = requests.Session()
    session.mount("http://labkit", requests_door.Adapter(vault))

    def send(method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        content = None if body is None else json.dumps(body)
        answer = session.request(method, f"http://labkit{path}", data=content, headers=headers)
        return answer.status_code, answer.json() if answer.content else None

    return send


def through_httpx(vault: Any) -> Ask:
    """Send through the door for httpx."""
    client = httpx.Client(transport=httpx_door.Transport(vault), base_url="http://labkit")

    def send(method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        content = None if body is None else json.dumps(body).encode()
        answer = client.request(method, path, content=content, headers=headers)
        return answer.status_code, answer.json() if answer.content else None

    return send


def through_hvac(vault: Any) -> Ask:
    """Send through the door for hvac."""
    adapter = hvac_door.Adapter(vault)(base_uri="http://labkit", request_header=False, ignore_exceptions=True)

    def send(method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        answer = adapter.request(method, path, headers=dict(headers), json=body)
        if isinstance(answer, requests.Response):
            return answer.status_code, answer.json() if answer.content else None
        return 200, answer

    return send


def through_socket(session: requests.Session, url: str) -> Ask:
    """Send over a socket."""

    def send(method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        content = None if body is None else json.dumps(body)
        answer = session.request(method, f"{url}{path}", data=content, headers=headers, timeout=30)
        return answer.status_code, answer.json() if answer.content else None

    return send


@pytest.fixture(scope="session")
def served() -> Iterator[Callable[[Vault], Ask]]:
    """Send over a socket: one door for all cases, each with a vault of its own behind it."""
    door = ServedDoor(Vault.dev())
    with door as url, requests.Session() as session:

        def through(vault: Vault) -> Ask:
            door.lead_to(vault)
            return through_socket(session, url)

        yield through


DOORS = {"requests": through_requests, "httpx": through_httpx, "hvac": through_hvac}


EVERYDAY, MORE = ("alone", "lab", "hvac"), ("requests", "httpx", "served")


@pytest.fixture(params=[*EVERYDAY, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)])
def where(request: pytest.FixtureRequest) -> str:
    """Where the service stands: alone in process, as a cluster on a lossless network, or behind a client's door."""
    return str(request.param)


@pytest.fixture
def ask(where: str, fresh_lab: Snapshot, request: pytest.FixtureRequest) -> tuple[Ask, str]:
    """A fresh service and its root token."""
    vault: Any = Lab.restore(fresh_lab)["paris"] if where == "lab" else Vault.dev(seed=1)
    if where in DOORS:
        return DOORS[where](vault), vault.root_token
    if where == "served":
        return request.getfixturevalue("served")(vault), vault.root_token

    def send(method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        response = vault.request(method, path, json=body, headers=headers)
        return response.status, response.body

    return send, vault.root_token


@pytest.fixture
def replay_in_labs(door: str, fresh_lab: Snapshot) -> Iterator[Callable[[Any], Verdict]]:
    """Send a case's requests through a door to a cluster of a lab of its own, and judge the answers."""
    served = Lab.restore(fresh_lab).serve()

    def run(case: dict[str, Any]) -> Verdict:
        lab = Lab.restore(fresh_lab)
        if door != "served":
            return Replay(DOORS[door](lab["paris"]), lab["paris"].root_token).run(case)
        served.lead_to(lab.serve())
        return Replay(through_socket(session, served.urls["paris"]), lab["paris"].root_token).run(case)

    with served if door == "served" else nullcontext(), requests.Session() as session:
        yield run


@pytest.fixture
def replay(ask: tuple[Ask, str], record_property: Callable[[str, object], None]) -> Callable[[Any], Verdict]:
    """Send a case's requests and judge the answers."""

    def run(case: dict[str, Any]) -> Verdict:
        verdict = Replay(*ask).run(case)
        record_property("conformance", (len(verdict.hard), len(verdict.soft)))
        return verdict

    return run


@pytest.fixture
def judged() -> Callable[[Any, Any], Verdict]:
    """Judge one body against a wanted one."""

    def compare(want: Any, body: Any) -> Verdict:
        judge = Judge("body")
        judge.compare_bodies(want, body)
        return judge.verdict

    return compare


@pytest.fixture
def replaying() -> Callable[..., tuple[Verdict, list[Any]]]:
    """Replay a case against answers given by path; return the verdict and what was sent."""

    def run(case: dict[str, Any], answers: dict[str, tuple[int, Any]]) -> tuple[Verdict, list[Any]]:
        sent: list[Any] = []

        def send(method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
            sent.append((method, path, body, headers))
            return answers[path]

        return Replay(send, "root").run(case), sent

    return run


def pytest_terminal_summary(terminalreporter: Any) -> None:
    counts = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, ())
        for name, value in getattr(report, "user_properties", ())
        if name == "conformance" and report.when == "call"
    ]
    if counts:
        matching = sum(not hard for hard, _ in counts)
        soft = sum(soft for _, soft in counts)
        terminalreporter.write_line(
            f"recorded answers: {matching} of {len(counts)} cases match; {soft} texts and extra members differ softly"
        )


class Replay:
    """One run of one case: variables, requests, verdict."""

    def __init__(self, ask: Ask, root_token: str, tag: str = "t1") -> None:
        self.ask, self.root_token = ask, root_token
        self.variables: dict[str, Any] = {"tag": tag}

    def run(self, case: dict[str, Any]) -> Verdict:
        for name, kind in case["mounts"].items():
            self.variables[name] = path = f"{name}-engine-{self.variables['tag']}"
            status, body = self.send("POST", f"/v1/sys/mounts/{path}", {"type": kind}, {}, None)
            assert status == 204, body
        verdict = Verdict([], [])
        for number, step in enumerate(case["steps"]):
            found = self.step(step, f"step {number}: {step['method']} {step['path']}")
            verdict.hard.extend(found.hard)
            verdict.soft.extend(found.soft)
        return verdict

    def step(self, step: dict[str, Any], where: str) -> Verdict:
        filled = {name: self.fill(step.get(name)) for name in ("path", "body", "headers", "token")}
        status, body = self.send(
            step["method"], filled["path"], filled["body"], filled["headers"] or {}, filled["token"]
        )
        for name, place in step.get("save", {}).items():
            found = pick(body, place)
            if found is not None or name not in self.variables:  # a refusal has nothing to bind
                self.variables[name] = found
        judge = Judge(where)
        if not step.get("soft"):
            want = step["want"]
            if status != want["status"]:
                judge.hard(f"status {status}, not {want['status']}: {str(body)[:200]}")
            else:
                judge.compare_bodies(self.fill(want["body"]), body)
        return judge.verdict

    def send(self, method: str, path: str, body: Any, headers: dict[str, str], token: str | None) -> tuple[int, Any]:
        text = self.root_token if token is None else token
        return self.ask(method, path, body, {**headers, "X-Vault-Token": text} if text else headers)

    def fill(self, value: Any) -> Any:
        if isinstance(value, str):
            whole = re.fullmatch(r"\$\{(\w+)\}", value)
            if whole:
                return self.variables[whole[1]]
            return re.sub(r"\$\{(\w+)\}", lambda found: str(self.variables[found[1]]), value)
        if isinstance(value, dict):
            return {self.fill(name): self.fill(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        return value


def pick(body: Any, place: str) -> Any:
    for part in place.split("."):
        if isinstance(body, list):
            body = body[int(part)] if int(part) < len(body) else None
        else:
            body = body.get(part) if isinstance(body, dict) else None
    return body


class Judge:
    """Compares an answer with the recorded one, member by member."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.verdict = Verdict([], [])

    def hard(self, text: str) -> None:
        self.verdict.hard.append(f"{self.where}: {text}")

    def soft(self, text: str) -> None:
        self.verdict.soft.append(f"{self.where}: {text}")

    def compare_bodies(self, want: Any, body: Any) -> None:
        if not isinstance(want, dict) or not isinstance(body, dict):
            if (want or None) != (body or None):
                self.hard(f"body {body!r}, not {want!r}")
            return
        self.members({name: value for name, value in want.items() if name not in IGNORED}, body, "", IGNORED)

    def members(self, want: dict[str, Any], found: dict[str, Any], place: str, ignored: tuple[str, ...] = ()) -> None:
        for name, value in want.items():
            if name not in found:
                self.hard(f"{place}{name} is missing")
            elif name in SOFT_TEXTS:
                self.texts(name, value, found[name], place)
            else:
                self.value(value, found[name], f"{place}{name}")
        for name in found:
            if name not in want and name not in ignored:
                self.soft(f"{place}{name} is beyond what was recorded")

    def texts(self, name: str, want: Any, found: Any, place: str) -> None:
        if name == "errors" and bool(want) != bool(found):
            self.hard(f"{place}errors are {found!r}, not {want!r}")
        elif name == "error" and type(want) is not type(found):
            self.hard(f"{place}error is {found!r}, not {want!r}")
        elif want != found:
            self.soft(f"{place}{name} is {found!r}, not {want!r}")

    def value(self, want: Any, found: Any, place: str) -> None:
        if isinstance(want, dict) and "~type" in want:
            self.kind(want, found, place)
        elif isinstance(want, dict):
            if isinstance(found, dict):
                self.members(want, found, place + ".")
            else:
                self.hard(f"{place} is {found!r}, not an object")
        elif isinstance(want, list):
            if not isinstance(found, list) or len(found) != len(want):
                self.hard(f"{place} is {found!r}, not a list of {len(want)}")
                return
            for number, (one, other) in enumerate(zip(want, found, strict=True)):
                self.value(one, other, f"{place}.{number}")
        elif want != found or isinstance(want, bool) != isinstance(found, bool):
            self.hard(f"{place} is {found!r}, not {want!r}")

    def kind(self, want: dict[str, Any], found: Any, place: str) -> None:
        fits = isinstance(found, TYPES[want["~type"]]) and (want["~type"] == "bool" or not isinstance(found, bool))
        if not fits:
            self.hard(f"{place} is {found!r}, not of type {want['~type']}")
        elif "prefix" in want and not found.startswith(want["prefix"]):
            self.hard(f"{place} begins otherwise than {want['prefix']!r}")
