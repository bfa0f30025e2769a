"""Messages of a run: where a lost one was lost, what made its sender send it, and what is left when there are many."""

from __future__ import annotations

from collections import Counter

from labkit import Lab
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.lab.wire.messages import ApiAnswer, ApiRequest
from labkit.views.player.recorded.carried_messages import Carried, messages_of, thinned, with_causes


def recorded(lab: Lab) -> RecordedRun:
    return RecordedRun(lab.trace, lab.ledger, lab.queries)


def test_what_a_crash_takes_is_lost_at_the_crash_and_where_it_was(drilled_lab: Lab) -> None:
    run = recorded(drilled_lab)
    crash = drilled_lab.trace.select("fault", verb="crash")[0]
    found = with_causes(run, messages_of(run))
    taken = [one for one in found if one.lost and one.sent_ns < crash.at_ns < one.at_ns and "paris-1" in one[2:4]]

    assert taken
    assert {one.gone_ns for one in taken} == {crash.at_ns}
    assert all(one.sent_ns <= one.gone_ns <= one.at_ns for one in found)
    assert all(one.gone_ns == one.at_ns for one in found if not one.lost)


def test_an_answer_belongs_to_its_request_also_where_several_came_at_once() -> None:
    work = tuple(WorkloadPlan(operation=verb, every_ns=5_000_000) for verb in ("put-secret", "get-secret"))
    shop = ClientPlan(name="shop", site="lisbon", use=("paris",), workload=work)
    lab = Lab(pair().with_clients(shop), seed=7)
    carried: dict[int, ApiRequest | ApiAnswer] = {}

    def note(payload: object) -> None:
        if isinstance(payload, ApiRequest | ApiAnswer):
            carried[len(lab.trace) - 1] = payload

    lab.parts.network.watcher = note
    run = recorded(lab.run("2s"))
    answers = {row: said for row, said in carried.items() if isinstance(said, ApiAnswer)}
    together = Counter(run.rows[row][1] for row in answers)

    assert max(together.values()) > 1
    for row, answer in answers.items():
        request = run.sent_for(row)
        assert request is not None
        assert carried[request].correlation == answer.correlation


def test_a_cut_takes_what_is_on_its_way() -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    lab.partition("paris", "tokyo")
    cut_ns = lab.now
    lab.run("1s")
    run = recorded(lab)
    pushed = [one for one in with_causes(run, messages_of(run)) if one.lost and one.what == "stream"]

    assert pushed
    assert pushed[0].sent_ns < cut_ns == pushed[0].gone_ns < pushed[0].at_ns
    assert run.rows[pushed[0].cause][5] == "request"


def test_what_is_lost_at_once_is_lost_where_it_was_sent() -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.partition("paris", "tokyo")
    lab.run("3s")
    lost = [
        one for one in with_causes(recorded(lab), messages_of(recorded(lab))) if one.lost and one.sent_ns == one.at_ns
    ]

    assert lost
    assert all(one.gone_ns == one.sent_ns for one in lost)


def some(count: int) -> list[Carried]:
    """So many messages, in turn of three kinds."""
    kinds = (("a", "b", "request"), ("b", "a", "response"), ("b", "c", "stream"))
    return [Carried(row, row + 5, *kinds[row % 3], False, row, row + 5) for row in range(count)]


def test_a_run_with_many_messages_is_thinned_kind_by_kind() -> None:
    kept = [301, 302, 303, 999]
    found = thinned(some(1_000), kept, limit=100)

    assert len(found) <= 100
    assert {one.row for one in found} >= set(kept)
    for kind in ("request", "response", "stream"):
        assert 25 <= sum(one.what == kind for one in found) <= 36
    assert found == sorted(found, key=lambda one: one.row)
    assert thinned(some(100), [], limit=100) == some(100)
    assert [one.row for one in thinned(some(100), range(90), limit=50)] == list(range(90))
