"""A full drill cut at any event and resumed is the uncut one.

Replicate, fall behind and compare, corrupt, check, reindex, lose an active node on each side, demote, promote,
re-point, fail over as planned.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from labkit import Lab
from labkit.lab.operations.runbook_effects import Ask
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from tests.examples import examples

DR = "sys/replication/dr/"
EVERYTHING = 'path "*" { capabilities = ["create", "read", "update", "delete", "list", "sudo"] }'
MAX_EVENTS = 8_000
AFTERWARDS = 400  # events after the last step

Act = Callable[[Lab, str], "int | None"]
"""Begin a step of the drill, given a batch token; return the console's number to wait for, None for no wait."""


def begin(runbook: str, **arguments: Any) -> Act:
    return lambda lab, token: lab.parts.console.start(runbook, **arguments)


def ask(cluster: str, path: str, **body: Any) -> Act:
    def act(lab: Lab, token: str) -> int:
        sent = {name: token if value is ... else value for name, value in body.items()}
        return lab.parts.console.ask(Ask(cluster, "POST", path, sent))

    return act


def fault(name: str, *arguments: str) -> Act:
    return lambda lab, token: getattr(lab.faults, name)(*arguments)


STEPS: tuple[Act, ...] = (
    begin("replicate", primary="paris", secondary="tokyo"),
    fault("partition", "paris", "tokyo"),
    *[ask("paris", f"secret/data/behind-{number}", data={"n": number}) for number in range(12)],
    fault("heal"),
    ask("tokyo", DR + "secondary/merkle-check", dr_operation_token=...),
    fault("crash", "paris-1"),
    ask("paris", "secret/data/second", data={"n": 2}),
    fault("corrupt", "tokyo", "page"),
    fault("corrupt", "paris", "root"),
    ask("tokyo", DR + "secondary/merkle-check", dr_operation_token=...),
    ask("paris", "sys/replication/merkle-check"),
    begin("reindex", cluster="tokyo", diff=True),
    ask("paris", "sys/replication/reindex", skip_flush=True),
    fault("crash", "tokyo-1"),
    ask("tokyo", DR + "secondary/generate-public-key"),
    begin("demote", cluster="paris"),
    begin("promote", cluster="tokyo", force=True),
    ask("tokyo", "secret/data/third", data={"n": 3}),
    begin("repoint", cluster="paris", to="tokyo"),
    ask("paris", DR + "secondary/merkle-check", dr_operation_token=...),
    ask("tokyo", "secret/data/fourth", data={"n": 4}),
    begin("failover", old="tokyo", new="paris"),
    ask("paris", "secret/data/fifth", data={"n": 5}),
)


@pytest.fixture(scope="module")
def drill() -> tuple[Any, str]:
    """A pair with a writer and short journals, not replicating yet; a batch token stands in for operation tokens."""
    every_ns = 250_000_000
    work = WorkloadPlan(operation="put-secret", every_ns=every_ns, from_ns=every_ns, until_ns=60 * every_ns, keys=5)
    writer = ClientPlan(name="writer", site="lisbon", use=("paris", "tokyo"), workload=(work,))
    blueprint = pair().with_clients(writer)
    short = tuple(replace(plan, backlog_entries=8) for plan in blueprint.clusters)
    lab = Lab(replace(blueprint, clusters=short), seed=5)
    lab["paris"].put("sys/policies/acl/all", {"policy": EVERYTHING}).raise_for_status()
    wanted = {"type": "batch", "policies": ["all"], "ttl": "10h", "no_parent": True}
    token = str(lab["paris"].post("auth/token/create", wanted).raise_for_status().auth["client_token"])
    return lab.snapshot(), token


def play(drill: tuple[Any, str], cuts: Container[int] = ()) -> tuple[Lab, int]:
    """Go through the drill, saved and restored at the events that are cuts; return the lab and the number of events."""
    snapshot, token = drill
    lab, steps, waited, rest = Lab.restore(snapshot), iter(STEPS), None, AFTERWARDS
    for event in range(MAX_EVENTS):
        if event in cuts:
            lab = Lab.restore(pickle.loads(pickle.dumps(lab.snapshot())))
        console = lab.parts.console
        if waited is None or waited in console.answers or waited in console.finished:
            act = next(steps, None)
            waited = None if act is None else act(lab, token)
            rest -= act is None
        if not rest or not lab.step():
            return lab, event
    raise AssertionError("the drill did not end")


def evidence(lab: Lab) -> dict[str, Any]:
    """All that a lab is: the trace's digest, and the state of everything else.

    Where a chunk of the ledger ends is no part of it, nor when a node sees that what was due has been deleted.
    """
    for node in lab.parts.nodes.values():
        node.core.next_due_ns = None
        node.vault.next_due()
    state = lab.snapshot().state
    ledger, histories = state["ledger"], state["ledger"]["histories"]
    rows = {"operations": sum(ledger["operations"], ()), "writes": tuple(lab.ledger.writes)}
    read_log = {name: sum(chunks, ()) for name, chunks in ledger["read_log"].items()}
    books = {
        **ledger,
        **rows,
        "read_log": read_log,
        "histories": {**histories, "commits": tuple(lab.ledger.histories.commits)},
    }
    return {**state, "ledger": books, "trace": lab.trace.digest()}


@pytest.fixture(scope="module")
def uncut(drill: Any) -> tuple[dict[str, Any], int]:
    """What the drill ends with when it is not cut, and after how many events."""
    lab, events = play(drill)
    return evidence(lab), events


def test_the_drill_comes_to_its_end(drill):
    lab, _ = play(drill)
    answers, finished = lab.parts.console.answers, lab.parts.console.finished

    assert [answer.status for answer in answers.values() if not answer.ok] == []
    assert [end.text for end in finished.values() if not end.ok] == []
    assert (lab["paris"].mode, lab["tokyo"].mode) == ("primary", "secondary")
    assert lab["tokyo"].status()["state"] == "stream-wals"
    assert "merkle-sync" in {event.state for event in lab.trace.select("mode")}
    assert lab.queries.contents("paris") == lab.queries.contents("tokyo")


@settings(max_examples=examples(10), deadline=None, phases=(Phase.generate,))
@given(data=st.data())
@pytest.mark.slow
def test_a_drill_that_is_cut_anywhere_is_the_uncut_one(drill, uncut, data):
    expected, events = uncut
    cuts = data.draw(st.sets(st.integers(0, events), min_size=1, max_size=5))

    assert evidence(play(drill, cuts)[0]) == expected


@pytest.mark.slow
def test_a_drill_that_is_cut_at_every_event_is_the_uncut_one(drill, uncut):
    expected, events = uncut
    lab, played = play(drill, range(events + 1))

    assert played == events
    assert evidence(lab) == expected
