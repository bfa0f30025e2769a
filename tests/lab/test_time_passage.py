"""Time passage: time passes for a run, an answer or a runbook; with checkpoints as without."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab import time_passage
from labkit.lab.operations.runbook_effects import Ask, RunbookError
from labkit.lab.time_passage import TimePassage
from labkit.service.silence import Silence

SECOND_NS = 1_000_000_000


@pytest.fixture(params=[False, True], ids=["plain", "with checkpoints"])
def passage(calm, request) -> TimePassage:
    if request.param:
        calm.keep_checkpoints("500ms")
    return calm._passage


def test_a_run_ends_at_its_end_or_when_it_is_stopped(calm, passage):
    began_ns = calm.now
    asked: list[int] = []

    def fifth() -> bool:
        asked.append(calm.now)
        return len(asked) == 5

    assert not passage.run(began_ns + SECOND_NS)
    assert calm.now == began_ns + SECOND_NS
    assert passage.run(began_ns + 9 * SECOND_NS, stop=fifth)
    assert len(asked) == 5
    assert calm.now == asked[-1]


def test_a_run_without_a_limit_ends_when_nothing_is_pending(calm, passage):
    for host in ("paris", "tokyo"):
        calm.crash(host)
    last_ns = calm.parts.clock.pending()[-1][0]

    assert not passage.run(stop=lambda: False)
    assert calm.now == last_ns
    assert not passage.step()


def test_an_answer_ends_a_wait_and_silence_lasts_to_the_deadline(calm, passage):
    began_ns = calm.now
    assert passage.ask(Ask("paris", "GET", "sys/health")).status == 200
    assert calm.now - began_ns < SECOND_NS

    calm.pause("paris-1")
    began_ns = calm.now
    with pytest.raises(Silence, match="GET secret/data/x on paris: no answer within 2s of simulated time"):
        passage.ask(Ask("paris", "GET", "secret/data/x"), "2s")
    assert calm.now == began_ns + 2 * SECOND_NS


def test_a_runbook_ends_with_its_sentence_or_with_why_not(calm, passage):
    assert passage.work_through("demote", cluster="paris") == "paris is a secondary without a primary"
    with pytest.raises(RunbookError):
        passage.work_through("demote", cluster="paris")
    assert not calm.parts.console.finished


def test_a_condition_that_holds_lets_no_time_pass(calm, passage):
    now_ns = calm.now

    passage.run_until(lambda: True)
    assert calm.now == now_ns
    passage.run_until(lambda: calm.now >= now_ns + SECOND_NS)
    assert calm.now >= now_ns + SECOND_NS


def test_after_a_bug_an_earlier_instant_can_still_be_gone_back_to(calm):
    calm.keep_checkpoints("500ms")
    calm.run("2s")
    ended_ns = calm.now
    calm.parts.clock.after(1, ("no such verb", "", None))
    calm.scenario = None
    with pytest.raises(AssertionError):
        calm.run("1s")

    found = calm.at(f"{ended_ns - SECOND_NS}ns")

    assert found.run("1s").now == ended_ns
    with pytest.raises(RuntimeError, match="the clock was closed by"):
        calm.run("1s")


def test_while_a_rule_is_checked_nothing_goes_back_in_time(calm):
    said = []

    def check(lab: Lab) -> bool:
        for act in (lambda: lab.at("1s"), lab.keep_checkpoints):
            with pytest.raises(RuntimeError, match="may look at the lab, not act on it"):
                act()
        said.append(lab.now)
        return True

    calm.watch("looking", check)
    calm.run("1s")

    assert said
    assert "looking" not in calm.invariants.broken


def test_a_shared_lab_runs_in_slices_to_the_same_end(calm_snapshot, monkeypatch):
    digests = set()
    for size in (None, 1, 7, 1_000):
        lab = Lab.restore(calm_snapshot)
        if size is not None:
            lab.parts.turns.shared = True
            monkeypatch.setattr(time_passage, "SLICE_ITEMS", size)
        lab["paris"].post("secret/data/app", {"data": {}})
        lab.run("5s")
        lab.run(until=lambda seen: seen.now > 12 * SECOND_NS)
        lab.replicate("paris", "tokyo") if lab["tokyo"].mode == "disabled" else lab["paris"].demote()
        lab.pause("paris-1")
        with pytest.raises(Silence):
            lab["paris"].get("secret/data/app", timeout="2s")
        digests.add((lab.trace.digest(), lab.now))

    assert len(digests) == 1


def test_what_others_let_pass_counts(calm, passage):
    calm.parts.turns.shared = True
    began_ns = calm.now
    assert not passage.run_slice(began_ns + SECOND_NS, stop=lambda: True)
    assert passage.run_slice(began_ns + SECOND_NS)
    assert passage.run_slice(began_ns)  # that instant has passed: nothing is left to do
    assert not passage.run(began_ns)
    assert passage.run(began_ns, stop=lambda: True)
    assert calm.now == began_ns + SECOND_NS
