"""Version order: a version that is given twice is found, and a reading of an old one, but nothing that may be."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.invariants.rules import VERSION_ORDER
from labkit.lab.invariants.version_order import MAX_ANSWERS, VersionOrder
from labkit.lab.measures.stale_reads import stale_reads
from labkit.lab.plan.blueprint import BalancerPlan, ClientPlan, WorkloadPlan, pair
from labkit.lab.records.ledger import CommittedWrite
from labkit.lab.records.loss_and_outage import Promotion
from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.reports import ANSWERED, REFUSED, UNKNOWN, Committed, OperationEnded, RequestAnswered
from labkit.lab.wire.seen_versions import SeenVersion
from labkit.service.message import Request, Response
from labkit.vault.engines.kv import store, versions
from labkit.vault.engines.kv.versions import Config, Key, Version

PATH = "secret/data/app"
WORK = tuple(
    [
        WorkloadPlan(operation=operation, every_ns=100_000_000, keys=3, until_ns=9_000_000_000)
        for operation in ("put-secret", "get-secret")
    ]
)


def found(lab: Lab) -> str:
    """What broke the rule; empty while it holds."""
    violation = lab.invariants.verdicts()[VERSION_ORDER]
    return "" if violation is None else violation.detail


def working() -> Lab:
    """The pair with a client that writes and reads three secrets, again and again."""
    plan = ClientPlan(name="app", site="lisbon", use=("paris", "tokyo"), workload=WORK)
    lab = Lab(pair().with_clients(plan), seed=3)
    lab.replicate("paris", "tokyo")
    return lab


def test_it_holds_in_a_failover_with_losses_and_after_a_deletion():
    lab = working().run("2s")
    lab["paris"].delete("secret/metadata/app-1/0")
    lab.run("1s")
    lab.crash("paris")
    lab["tokyo"].promote()
    lab.run("4s")

    assert lab.invariants.applies(VERSION_ORDER)
    assert not found(lab)


def test_a_reading_through_a_balancer_is_of_no_known_history_and_not_judged():
    front = BalancerPlan(name="front", site="lisbon", use=("paris", "tokyo"))
    plan = ClientPlan(name="app", site="lisbon", use=("paris", "tokyo"), through="front", workload=WORK)
    lab = Lab(replace(pair().with_clients(plan), balancers=(front,)), seed=3)
    lab.replicate("paris", "tokyo")
    lab.run("2s")
    lab.partition("paris", "tokyo")
    lab.run("2s")
    lab.crash("paris")
    lab["tokyo"].promote()
    lab.run("3s")

    seen = [read.version for read in lab.ledger.read_log.reads if read.path == "secret/data/app-1/0"]
    assert any(later < earlier for earlier, later in pairwise(seen)), "what tokyo did not get was lost"
    assert not found(lab)


@pytest.mark.parametrize(
    "body", [None, {}, {"options": None}, {"options": {"cas": "1"}}, ["options"], b"options", "options"]
)
def test_an_answer_to_any_body_is_judged_without_an_error(rule: VersionOrder, lab: Lab, body: Any):
    request, answer = Request("POST", f"/v1/{PATH}", {}, body), Response(200, {}, {"data": {"version": 1}})
    rule.on_answered(RequestAnswered("paris", "paris-1", request, answer, Correlation("writer", 1, 1)))

    assert not found(lab)


def test_a_lab_without_secrets_gives_no_occasion():
    assert not Lab.pair().run("5s").invariants.applies(VERSION_ORDER)


def test_a_version_that_is_given_twice_is_found(monkeypatch: pytest.MonkeyPatch):
    def add_version(key: Key, config: Config, now_ns: int) -> tuple[Key, Version, range]:
        grown, version, pruned = versions.add_version(key, config, now_ns)
        return (
            (grown._replace(current=key.current), version, range(0)) if key.current == 4 else (grown, version, pruned)
        )

    monkeypatch.setattr(store, "add_version", add_version)

    assert "of secret/data/app-1/" in found(working().run("4s"))


@pytest.fixture
def rule(lab: Lab) -> VersionOrder:
    """The rule of a lab, for reports of one's own, to all of which somebody waits for an answer."""
    lab.parts.ledger.histories.current.setdefault("paris", 0)
    rule = lab.invariants._rules[VERSION_ORDER]
    assert isinstance(rule, VersionOrder)
    return rule


def read(rule: VersionOrder, started: int, ended: int, version: int, number: int = 0) -> None:
    """A client's reading between two seconds, and what it showed."""
    times, seen = (ended * 10**9, started * 10**9), SeenVersion(PATH, version, "t")
    correlation = Correlation("reader", number, 1)
    rule.on_operation_ended(
        OperationEnded(*times, "reader", "get-secret", PATH, "paris", ANSWERED, 200, 1, correlation, seen)
    )


def write(rule: VersionOrder, started: int, ended: int, version: int, outcome: str = ANSWERED) -> None:
    """A client's write between two seconds, and the version that it made."""
    correlation = Correlation("writer", started * 100 + ended, 1)
    rule._scene.queries.parts.ledger.commit(correlation, CommittedWrite("paris", 0, 0, "POST", version))
    rule.on_committed(Committed("paris", (), correlation, "POST", version, (), SeenVersion(PATH, version, "t")))
    times = (ended * 10**9, started * 10**9)
    rule.on_operation_ended(OperationEnded(*times, "writer", "put-secret", PATH, "paris", outcome, 200, 1, correlation))


W, R = write, read
RIGHT = [
    [(W, 1, 2, 1), (W, 3, 4, 2), (R, 5, 6, 2)],
    [(W, 1, 4, 2), (W, 1, 5, 1), (R, 6, 7, 2)],  # two at once, in either order
    [(W, 1, 2, 1), (W, 3, 9, 2), (R, 4, 10, 1), (R, 4, 11, 2)],  # beside a write either may be seen
    [(R, 1, 2, 3), (R, 3, 4, 3), (W, 5, 6, 4)],  # what was there before
    [(W, 1, 2, 1), (W, 3, 4, 7)],  # those between had no answer
]
WRONG = [
    [(W, 1, 2, 1), (W, 3, 4, 2), (R, 5, 6, 1)],
    [(W, 1, 2, 2), (W, 3, 4, 1)],
    [(R, 1, 2, 2), (W, 3, 4, 2)],
    [(R, 1, 2, 2), (R, 3, 4, 1)],
    [(W, 1, 4, 2), (W, 3, 5, 2)],
]


@pytest.mark.parametrize("operations", RIGHT)
def test_what_may_be_is_not_accused(lab: Lab, rule: VersionOrder, operations: list[tuple[Any, ...]]):
    for kind, *row in operations:
        kind(rule, *row)

    assert not found(lab)
    assert lab.invariants.applies(VERSION_ORDER)


@pytest.mark.parametrize("operations", WRONG)
def test_what_may_not_be_names_two_operations(lab: Lab, rule: VersionOrder, operations: list[tuple[Any, ...]]):
    for kind, *row in operations:
        assert not found(lab)
        kind(rule, *row)

    assert found(lab).count("answered at") == 2
    assert "secret/data/app" in found(lab)


@pytest.mark.parametrize("outcome", [REFUSED, UNKNOWN])
def test_what_was_not_answered_says_nothing(lab: Lab, rule: VersionOrder, outcome: str):
    write(rule, 1, 2, 2)
    write(rule, 3, 4, 2, outcome=outcome)

    assert not found(lab)


def test_a_deletion_begins_another_life_and_spares_what_was_under_way(lab: Lab, rule: VersionOrder):
    write(rule, 1, 2, 5)
    lab.run("10s")
    at_s = lab.now // 10**9
    rule.on_committed(Committed("paris", (), None, "DELETE", 0, (), SeenVersion(PATH, 0, "")))
    read(rule, at_s - 1, at_s + 1, 5)
    write(rule, at_s + 2, at_s + 3, 1)

    assert not found(lab)


def test_so_many_answers_are_kept_and_no_more(rule: VersionOrder):
    for number in range(3 * MAX_ANSWERS):
        write(rule, 2 * number, 2 * number + 1, number + 1)

    (answers,) = [answers for secret, answers in rule.state()["answers"].items() if secret[0] == PATH]
    assert len(answers) == MAX_ANSWERS
    assert answers[-1][1] == 3 * MAX_ANSWERS


def test_a_saved_lab_goes_on_judging(rule: VersionOrder, lab: Lab):
    write(rule, 1, 2, 5)
    again = VersionOrder(rule._scene, rule.state())
    read(again, 3, 4, 4)

    assert found(lab)
    assert again.state() == rule.state() | {"occurred": True}


def test_what_nobody_waits_for_any_more_leaves_nothing_behind():
    lab = working().run("3s")
    lab.run("20s")

    assert lab.invariants._rules[VERSION_ORDER].state()["made"] == {}


KV = {"type": "kv", "options": {"version": "2"}}


def made_again(lab: Lab, path: str) -> None:
    """A mount is ended and made again."""
    lab["paris"].delete(f"{path}sys/mounts/kv").raise_for_status()
    lab["paris"].post(f"{path}sys/mounts/kv", KV).raise_for_status()


def moved(lab: Lab, path: str) -> None:
    """A mount makes room for another one."""
    lab["paris"].post(f"{path}sys/mounts/other", KV).raise_for_status()
    lab["paris"].post(f"{path}other/data/a", {"data": {}}).raise_for_status()
    for source, target in (("kv", "old"), ("other", "kv")):
        lab["paris"].post(f"{path}sys/remount", {"from": source, "to": target}).raise_for_status()
        lab.run("1s")


def namespace_made_again(lab: Lab, path: str) -> None:
    """A namespace is ended and made again, with its mount."""
    lab["paris"].delete("sys/namespaces/team").raise_for_status()
    lab.run("1s")
    lab["paris"].post("sys/namespaces/team").raise_for_status()
    lab["paris"].post("team/sys/mounts/kv", KV).raise_for_status()


@pytest.mark.parametrize(
    ("change", "path"), [(made_again, ""), (made_again, "team/"), (moved, ""), (namespace_made_again, "team/")]
)
def test_what_ends_secrets_without_naming_them_begins_another_life_of_all(calm: Lab, change: Any, path: str):
    paris = calm["paris"]
    paris.post("sys/namespaces/team").raise_for_status()
    paris.post(f"{path}sys/mounts/kv", KV).raise_for_status()
    for _ in range(3):
        paris.post(f"{path}kv/data/a", {"data": {}}).raise_for_status()
    change(calm, path)
    paris.get(f"{path}kv/data/a")
    assert stale_reads(calm.ledger).stale == ()
    paris.post(f"{path}kv/data/a", {"data": {}}).raise_for_status()

    assert paris.get(f"{path}kv/data/a").data["metadata"]["version"] < 3
    assert not found(calm)


def test_what_was_under_way_then_is_spared_and_what_comes_later_is_not(lab: Lab, rule: VersionOrder):
    write(rule, 1, 2, 5)
    lab.parts.ledger.read_log.make(0, SeenVersion(PATH, 5, "t"))
    lab.run("10s")
    at_s = lab.now // 10**9
    rule.on_committed(Committed("paris", (), ends_lives=True))
    read(rule, at_s - 1, at_s + 1, 5)
    write(rule, at_s + 2, at_s + 3, 1)
    assert not found(lab)
    read(rule, at_s + 4, at_s + 5, 3)
    read(rule, at_s + 6, at_s + 7, 2)

    assert found(lab)


@pytest.mark.parametrize(("promoted_s", "accused"), [(5, False), (1, True)])
def test_a_reading_during_which_its_cluster_was_promoted_is_of_no_known_history(
    lab: Lab, rule: VersionOrder, promoted_s: int, accused: bool
):
    taken = Promotion(promoted_s * 10**9, "paris", "tokyo", 0, 0, frozenset(), promoted_s * 10**9, False)
    other = taken._replace(at_ns=7 * 10**9, survivor="tokyo")
    lab.parts.ledger.promotions += [taken, other]
    write(rule, 8, 9, 5)
    read(rule, 4, 10, 7)
    write(rule, 11, 12, 6)

    assert bool(found(lab)) == accused


@pytest.mark.parametrize("path", ["one/x", "one/data/x", "cubbyhole/x", "cubbyhole/data/x"])
def test_a_value_in_the_form_of_a_version_is_none(calm: Lab, path: str):
    calm["paris"].post("sys/mounts/one", {"type": "kv", "options": {"version": "1"}}).raise_for_status()
    for version in (5, 2):
        body = {"data": {"x": 1}, "metadata": {"version": version, "created_time": "2030"}}
        calm["paris"].post(path, body).raise_for_status()
        assert calm["paris"].get(path).ok

    assert not found(calm)
