"""Control of a served lab: clock, verbs, calls, failures, reset; by its key, without the API's tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from labkit import Lab
from labkit.doors.control import ControlRequest
from labkit.doors.lab_control import LabControl, judged_speed
from labkit.doors.served_lab import ServedLab
from tests.doors.conftest import done

Send = Callable[..., tuple[int, Any]]
SECOND_NS = 1_000_000_000


@pytest.fixture(scope="module")
def pair() -> Lab:
    return Lab.pair(seed=7)


@pytest.fixture(scope="module")
def served(pair: Lab) -> Iterator[ServedLab]:
    """One door for all tests, which put a lab of their own behind it."""
    door = pair.serve(control=True)
    with door:
        yield door


@pytest.fixture
def lab(pair: Lab, served: ServedLab) -> Lab:
    found = Lab.pair(seed=7)
    served.lead_to(found.serve())
    served.driver.speed = 0
    return found


@pytest.fixture
def send(lab: Lab, served: ServedLab) -> Send:
    headers = {"X-Labkit-Key": served.control.guard.key}

    def sent(method: str, path: str, body: Any = None, cluster: str = "paris", **more: str) -> tuple[int, Any]:
        how = {"json": body, "headers": {**headers, **more}, "timeout": 60.0}
        answer = requests.request(method, served.urls[cluster] + path, **how)
        return answer.status_code, answer.json()

    return sent


def test_the_clock_stands_is_moved_and_goes(lab: Lab, served: ServedLab, send: Send) -> None:
    before = send("GET", "/control/clock")[1]
    assert before == {"now_ns": lab.now, "now": "0s", "speed": 0}
    assert send("POST", "/control/clock/advance", {"duration": "90s"})[1]["now"] == "1m30s"
    assert send("POST", "/control/clock/step")[1]["happened"] is True
    for each in ({}, {"duration": "31d"}, {"duration": "-1s"}, {"duration": "x"}, {"by": "1s"}, {"duration": None}):
        assert send("POST", "/control/clock/advance", each)[0] == 400, each
    refused: tuple[dict[str, Any], ...]
    assert send("POST", "/control/clock/speed", {})[1]["errors"][0].endswith("1000000, got none")
    refused = ({}, {"speed": -1}, {"speed": "1"}, {"speed": 1e9}, {"speed": None}, {"speed": True}, {"x": 1})
    for wrong in refused:
        assert send("POST", "/control/clock/speed", wrong)[0] == 400, wrong
    instant = lab.now

    assert send("POST", "/control/clock/speed", {"speed": 1_000_000})[1]["speed"] == 1_000_000
    while lab.now < instant + 60 * SECOND_NS:
        send("GET", "/control/clock")
    assert send("POST", "/control/clock/speed", {"speed": 0})[1]["speed"] == 0


def test_verbs_are_done_and_say_how_they_ended(lab: Lab, send: Send) -> None:
    done = send("POST", "/control/verbs/replicate", {"primary": "paris", "secondary": "tokyo"})[1]
    assert (done["ok"], done["did"]) == (True, "replicate paris to tokyo")
    assert lab["tokyo"].mode == "secondary"
    assert send("POST", "/control/verbs/crash", {"target": "paris"}, "tokyo")[1]["did"] == "crash paris"
    assert lab["paris"].active == ""
    refused = send("POST", "/control/verbs/demote", {"cluster": "paris"})
    assert refused[0] == 200
    assert refused[1]["ok"] is False
    assert "no node of paris is running and unsealed" in refused[1]["text"]
    refused = send("POST", "/control/verbs/pause", {"target": "paris-1"})
    assert (refused[1]["ok"], "paris-1" in refused[1]["text"]) == (False, True)
    asked = {"cluster": "tokyo", "method": "GET", "path": "sys/health", "answer": {"status": 472}}
    assert send("POST", "/control/verbs/ask", asked)[1]["ok"] is True


WRONG = {
    "dance": ({}, "verb: expected a verb, got 'dance'"),
    "wait": ({"for": "1s"}, "verb: expected a verb, got 'wait'"),
    "crash": ({}, "target: expected a cluster or one of its nodes, got none"),
    "restart": ({"target": "osaka"}, "target: expected a cluster or a node, got 'osaka'"),
    "seal": ({"cluster": ["paris"]}, "cluster: expected the cluster that is to be sealed, got a list"),
    "isolate": ({"target": "paris", "at": "5s"}, "at: expected only what the verb itself takes"),
    "promote": ({"cluster": "tokyo", "force": "yes"}, "force: expected true to promote"),
    "partition": ({"between": ["paris", "paris"]}, "between: expected two different sites"),
    "failover": ({"old": "paris", "new": "paris"}, "failover: expected two different clusters"),
    "%2e%2e": ({}, "verb: expected a verb"),
}


def test_wrong_arguments_are_said_and_change_nothing(lab: Lab, send: Send) -> None:
    before = lab.trace.digest()
    for verb, (arguments, said) in WRONG.items():
        status, body = send("POST", f"/control/verbs/{verb}", arguments)
        assert (status, said in body["errors"][0]) == (400, True), body
    assert lab.trace.digest() == before


def test_verbs_are_described_so_that_a_form_can_be_drawn(send: Send) -> None:
    verbs = {verb["name"]: verb for verb in send("GET", "/control/verbs")[1]["verbs"]}
    names = {name: {row["name"]: row for row in verb["parameters"]} for name, verb in verbs.items()}

    assert not {"wait", "check", "note"} & set(verbs)
    assert (verbs["crash"]["kind"], verbs["crash"]["undo"]) == ("fault", "restart")
    assert names["crash"]["target"]["choices"][:3] == ["paris", "tokyo", "paris-1"]
    assert names["promote"]["force"] == {
        "name": "force",
        "expected": "true to promote without the safety check",
        "shape": "flag",
        "required": False,
        "default": False,
        "choices": [],
    }


def test_calls_and_failures_are_each_cluster_s_own(lab: Lab, served: ServedLab, send: Send) -> None:
    assert send("POST", "/control/fail-next", {"cluster": "paris", "status": 429}) == (200, {})
    token = {"X-Vault-Token": lab["paris"].root_token}
    for cluster, status in (("tokyo", 200), ("paris", 429), ("paris", 200)):
        url = f"{served.urls[cluster]}/v1/sys/internal/ui/mounts?x=1"
        headers = {"X-Vault-Token": lab[cluster].root_token} if cluster == "tokyo" else token
        assert requests.get(url, headers=headers, timeout=10).status_code == status

    calls = send("GET", "/control/calls?cluster=paris&last=5")[1]["calls"]
    assert [(call["path"], call["status"]) for call in calls] == [
        ("sys/internal/ui/mounts", 429),
        ("sys/internal/ui/mounts", 200),
    ]
    assert len(send("GET", "/control/calls?cluster=tokyo")[1]["calls"]) == 1
    assert send("DELETE", "/control/calls") == (200, {})
    assert send("GET", "/control/calls?cluster=paris")[1]["calls"] == []
    for path in ("/control/calls", "/control/calls?cluster=osaka", "/control/calls?cluster=paris&x=1"):
        assert send("GET", path)[0] == 400
    unnamed = send("GET", "/control/calls")[1]["errors"][0]
    assert unnamed == "cluster: expected a cluster, got none; there are: paris, tokyo"
    for wrong in ({"status": 503}, {"cluster": "osaka", "status": 503}, {"cluster": "paris", "status": 99}):
        assert send("POST", "/control/fail-next", wrong)[0] == 400


def test_only_whoever_built_a_lab_begins_it_again(lab: Lab, served: ServedLab, send: Send) -> None:
    status, body = send("POST", "/control/reset")
    assert (status, body["errors"][0]) == (400, "this lab is another program's, which alone can begin it again")

    lab["paris"].post("secret/data/app", {"data": {}})
    served.again = lambda: Lab.pair(seed=7).serve()
    assert send("POST", "/control/reset")[1]["now"] == "0s"
    url, headers = f"{served.urls['paris']}/v1/secret/data/app", {"X-Vault-Token": lab["paris"].root_token}
    assert requests.get(url, headers=headers, timeout=10).status_code == 404
    served.again = None


def test_the_same_calls_leave_the_same_trace(served: ServedLab, send: Send) -> None:
    digests = set()
    for _ in range(2):
        lab = Lab.pair(seed=7)
        served.lead_to(lab.serve())
        send("POST", "/control/verbs/replicate", {"primary": "paris", "secondary": "tokyo"})
        headers = {"X-Vault-Token": lab["paris"].root_token}
        url = f"{served.urls['paris']}/v1/secret/data/app"
        requests.post(url, json={"data": {"user": "ada"}}, headers=headers, timeout=10)
        send("POST", "/control/verbs/crash", {"target": "paris"})
        send("POST", "/control/clock/advance", {"duration": "20s"})
        send("POST", "/control/verbs/promote", {"cluster": "tokyo"})
        digests.add(lab.trace.digest())

    assert len(digests) == 1


def test_without_being_asked_for_there_is_none(lab: Lab) -> None:
    door = Lab.pair(seed=7).serve()
    with door as urls:
        headers = {"X-Labkit-Key": door.control.guard.key}
        assert requests.get(f"{urls['paris']}/control/clock", headers=headers, timeout=10).status_code == 404
        assert requests.get(f"{urls['paris']}/page/", headers=headers, timeout=10).json()["control"] is False
    assert repr(LabControl(door.app, lambda: None, print)) == f"LabControl({door.lab!r})"


def test_what_an_act_does_not_take_is_refused_and_nothing_is_done(lab: Lab, served: ServedLab, send: Send) -> None:
    before = lab.trace.digest()
    acts = [act for act in LabControl(served.app, lambda: None, print).acts if "<" not in act[1]]
    assert len(acts) == 10
    for method, path in acts:
        status, said = send(method, f"{path}?strange=1&cluster=paris")
        assert (status, "'strange'" in said["errors"][0]) == (400, True), path
        assert "expected" in said["errors"][0], path
    assert lab.trace.digest() == before


def test_a_fault_that_is_done_says_so(lab: Lab, send: Send) -> None:
    done = send("POST", "/control/verbs/crash", {"target": "paris-1"})[1]

    assert (done["ok"], done["did"], done["text"]) == (True, "crash paris-1", "")
    assert done["now_ns"] == lab.now


class Driven:
    """Stands for a served lab: what its clock is moved by is kept."""

    def __init__(self) -> None:
        self.driver = self.lab = self
        self.now, self.speed, self.woken = 0, 0.0, 0

    async def advance(self, duration_ns: int) -> None:
        """Move the clock."""
        self.now += duration_ns

    def set_speed(self, speed: float) -> None:
        """Remember the speed, and that something is to be looked at."""
        self.speed, self.woken = speed, self.woken + 1


def test_a_clock_is_moved_by_thirty_days_at_most() -> None:
    app: Any = Driven()
    advance = LabControl(app, lambda: None, print).acts[("POST", "/control/clock/advance")]
    day_ns = 86_400 * SECOND_NS

    assert done(advance(ControlRequest("", {"duration": "30d"}, {})))["now_ns"] == 30 * day_ns
    with pytest.raises(ValueError, match="duration: expected a duration of at most 30d, got "):
        done(advance(ControlRequest("", {"duration": 30 * 86_400 + 1}, {})))
    assert app.now == 30 * day_ns


def test_a_speed_goes_from_none_to_a_million() -> None:
    app: Any = Driven()
    speed = LabControl(app, lambda: None, print).acts[("POST", "/control/clock/speed")]
    for each in (1_000_000, 0.5, 0):
        assert done(speed(ControlRequest("", {"speed": each}, {})))["speed"] == each == app.speed
    assert app.woken == 3
    wrong: tuple[Any, ...] = (1_000_001, -0.1, True, "1", float("nan"), float("inf"), None)
    for each in wrong:
        with pytest.raises(ValueError, match="speed: expected simulated seconds in a second"):
            judged_speed(each)


def test_a_lab_begins_again_and_its_calls_are_forgotten() -> None:
    begun: list[str] = []
    app: Any = Driven()
    app.calls = {"paris": [1], "tokyo": [2, 3]}
    acts = LabControl(app, lambda: begun.append("again"), print).acts

    assert done(acts[("DELETE", "/control/calls")](ControlRequest("", {}, {}))) == {}
    assert app.calls == {"paris": [], "tokyo": []}
    assert done(acts[("POST", "/control/reset")](ControlRequest("", {}, {})))["now_ns"] == 0
    assert begun == ["again"]
