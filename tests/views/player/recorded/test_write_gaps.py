"""Write gaps: no write is acknowledged within one, its parts are its whole, and each part is what the trace shows."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair
from labkit.lab.records.loss_and_outage import Promotion
from labkit.service.durations import SECOND_NS
from labkit.views.player.recorded.write_gaps import WriteGap, write_gaps
from tests.views.player.scripts import random_labs


def gaps_of(lab: Lab) -> list[tuple[Promotion, WriteGap]]:
    return write_gaps(RecordedRun(lab.parts.trace, lab.parts.ledger, lab.queries))


def check(lab: Lab, where: str) -> int:
    """Recompute what is said of each gap from ledger and trace; return how many there are."""
    found = gaps_of(lab)
    assert len(found) == sum(lab.ledger.first_after(taken) is not None for taken in lab.ledger.promotions), where
    for taken, gap in found:
        times = [write.at_ns for write in lab.ledger.writes]
        assert gap.to_ns in times, where
        assert not any(gap.from_ns < at_ns < gap.to_ns for at_ns in times), where
        assert gap.before is None or (gap.from_ns in times and gap.before.at_ns < gap.to_ns), where
        ends = [gap.from_ns, *(part.to_ns for part in gap.parts)]
        assert ends == sorted(set(ends)), where
        assert ends[-1] == gap.to_ns, where
        assert f"no write succeeded for {(gap.to_ns - gap.from_ns) / 1e9:.3f} s: " in gap.words, where
        said = {part.words.partition(" of ")[0]: part.to_ns for part in gap.parts}
        assert said.get("until the fault", taken.fault_ns) == taken.fault_ns, where
        assert said.get(f"until {taken.survivor} was primary", taken.at_ns) == taken.at_ns, where
        if gap.way:
            rows = [row for chunk in lab.trace.state()[1] for row in chunk]
            request, answer = (rows[row] for row in gap.way)
            assert (request[3], answer[4], answer[2]) == (gap.after.client, gap.after.client, gap.to_ns), where
            assert request[2] <= answer[1], where
    return len(found)


def test_the_parts_of_a_failover() -> None:
    work = WorkloadPlan(operation="put-secret", every_ns=SECOND_NS // 10, keys=5, from_ns=SECOND_NS)
    shop = ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), count=2, workload=(work,))
    lab = Lab(pair().with_clients(shop))
    lab.replicate("paris", "tokyo")
    lab.run(until="3s")
    lab.crash("paris")
    lab.run("2s")
    lab["tokyo"].promote()
    lab.run("3s")
    ((taken, gap),) = gaps_of(lab)
    asked = [one.sent_ns for one in lab.trace.select("message", source="tokyo-operator") if one.sent_ns > 4 * SECOND_NS]

    assert check(lab, "failover") == 1
    assert gap.fault_ns == taken.fault_ns == 3 * SECOND_NS
    assert (gap.to_ns - gap.fault_ns) / SECOND_NS == lab.ledger.rto().seconds
    assert [(part.to_ns, part.words) for part in gap.parts[:3]] == [
        (gap.fault_ns, "until the fault"),
        (min(asked), "until the promotion of tokyo was asked for"),
        (taken.at_ns, "until tokyo was primary"),
    ]
    assert gap.parts[3].words.startswith(f"until {gap.after.client} asked ")
    assert gap.parts[4].words.startswith("on the way there and back (")


def test_what_came_before_the_last_write_is_not_part_of_it(drilled_lab: Lab) -> None:
    assert check(drilled_lab, "drill") == 1
    ((_, gap),) = gaps_of(drilled_lab)
    (cut,) = drilled_lab.trace.select("fault", verb="partition")
    (crash,) = {event.at_ns for event in drilled_lab.trace.select("fault", verb="crash")}

    assert gap.fault_ns == cut.at_ns < gap.from_ns < crash
    assert gap.parts[0].words == "until the promotion of tokyo was asked for"


def test_without_a_write_afterwards_there_is_none() -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    lab.crash("paris")
    lab["tokyo"].promote()

    assert gaps_of(lab) == []


def test_a_write_by_hand_is_asked_for_by_its_operator() -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    lab.crash("paris")
    lab.run("2s")
    lab["tokyo"].promote()
    lab["tokyo"].post("secret/data/app", {"data": {"n": 1}})
    ((_, gap),) = gaps_of(lab)

    assert gap.before is None
    assert gap.from_ns == gap.fault_ns
    assert [part.words for part in gap.parts[:1]] == ["until the promotion of tokyo was asked for"]
    assert check(lab, "by hand") == 1


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 50), marks=pytest.mark.slow)])
def test_in_random_labs_too(seeds: range) -> None:
    assert sum(check(lab, f"seed {seed}") for seed, lab in random_labs(seeds)) >= len(seeds) // 6
