"""Event choice: rows, records and texts that name an event; sentences that say what there is."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.causes.event_choice import effect_of
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.invariants import Violation
from labkit.lab.records.ledger import EndedOperation


@pytest.fixture(scope="module")
def split(replicating_snapshot):
    """Two primaries of one set, and a client whose writes to the old one are lost."""
    lab = Lab.restore(replicating_snapshot)
    lab.partition("paris", "tokyo")
    lab.run("1s")
    lab["tokyo"].promote()
    lab.crash("paris")
    lab.run("4s")
    lab["tokyo"].get("secret/data/none")
    return lab


def chosen(lab: Lab, event: object) -> tuple[str, object]:
    return effect_of(RecordedRun(lab.trace, lab.ledger, lab.queries), lab.invariants, event)


def test_a_row_is_named_by_its_number_or_by_the_event(split):
    for number, event in enumerate(split.trace):
        if event.kind in ("leader", "fault", "mode"):
            assert chosen(split, number) == chosen(split, event) == chosen(split, tuple(event)) == (event.kind, number)


def test_a_message_is_explained_by_its_loss_or_by_who_asked(split):
    fates = {event.fate: number for number, event in enumerate(split.trace) if event.kind == "message"}

    assert chosen(split, fates["lost"]) == ("lost", fates["lost"])
    assert chosen(split, fates["delivered"]) == ("request", fates["delivered"])


def test_records_of_ledger_and_invariants(split):
    promotion, lost = split.ledger.promotions[-1], split.ledger.lost()
    broken = split.invariants.broken["one primary"]

    assert chosen(split, promotion) == chosen(split, "promotion") == ("promotion", promotion)
    assert chosen(split, split.ledger.rto()) == chosen(split, "recovery") == ("recovery", promotion)
    assert chosen(split, split.ledger.rpo()) == chosen(split, "lost") == ("losses", promotion)
    assert chosen(split, lost[0]) == ("lost write", lost[0])
    assert chosen(split, broken) == chosen(split, "one primary")
    assert chosen(split, split.ledger.failed_asks[-1]) == chosen(split, "refused")
    ended = [ask for ask in split.ledger.operations if ask.outcome == "refused"][-1]
    assert chosen(split, ended) == chosen(split, "refused")


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("tokyo: primary", "mode", "running"),
        ("tokyo: stream wals", "mode", "stream-wals"),  # the state, rather than what a node observed of it
        ("tokyo-1: guard missing", None, "missing guard"),
        ("tokyo: missing_guard", "observed", "missing_guard"),
        ("paris: leads", "leader", "paris-1"),
        ("paris-1: leads", "leader", "paris-1"),
        ("paris-2: Crash", "fault", "paris-2"),
        ("paris: crash", "fault", "paris-3"),
        ("tokyo: connected", "observed", "replication_connected"),
        ("writers-1: answered", "outcome", "answered"),
    ],
)
def test_a_name_with_what_became_of_it_picks_the_last_such_event(split, text, kind, says):
    if kind is None:
        with pytest.raises(ValueError, match=says):
            chosen(split, text)
        return
    found, number = chosen(split, text)
    assert isinstance(number, int)
    assert found == kind
    assert says in list(split.trace)[number]


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (-1, "why: expected a row of the trace, from 0 to"),
        (10**9, "why: expected a row of the trace, from 0 to"),
        (
            Violation("one primary", 1, "x"),
            "why: the trace of this lab does not show that 'one primary' was broken then",
        ),
        (EndedOperation(1, "answered"), "why: an operator's request that was answered has no cause but the operator"),
        ("loss within lag", "why: the rule 'loss within lag' was not broken; broken rules: one primary"),
        ("osaka: primary", "why: expected a row number or event of lab.trace"),
        ("tokyo", "why: expected a row number or event of lab.trace"),
        ("tokyo: ", "why: expected a row number or event of lab.trace"),
        ("tokyo: melted", "why: expected what became of tokyo, got 'melted'; there are: "),
        (("fault", 1), "why: expected a row number or event of lab.trace"),
    ],
)
def test_what_is_no_event_is_refused_with_what_there_is(split, event, says):
    with pytest.raises(ValueError, match="^" + says):
        chosen(split, event)


@pytest.mark.parametrize("text", ["promotion", "recovery", "lost", "in doubt", "unknown", "refused", "one primary"])
def test_what_did_not_happen_is_refused_by_name(calm, text):
    with pytest.raises(ValueError, match=r"^why: (no|the rule) "):
        chosen(calm, text)


def test_a_write_that_is_not_lost_is_refused(split):
    kept = next(write for write in split.ledger.writes if write not in split.ledger.lost())

    with pytest.raises(ValueError, match=r"is not lost; lab\.ledger\.lost\(\) names"):
        chosen(split, kept)
