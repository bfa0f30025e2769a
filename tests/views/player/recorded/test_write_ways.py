"""Write ways: the request, the answer and the push of a write are those of the trace."""

from __future__ import annotations

from labkit import Lab
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.views.player.recorded.write_ways import links_of, push_of, way_of


def test_the_way_of_every_write_begins_and_ends_at_its_writer(drilled_lab: Lab) -> None:
    run = RecordedRun(drilled_lab.parts.trace, drilled_lab.parts.ledger, drilled_lab.queries)
    pushed = 0
    for write in list(run.ledger.writes)[::7]:
        request, answer = (run.rows[row] for row in way_of(run, write))
        assert (request[3], request[5]) == (write.client, "request")
        assert (answer[2], answer[4], answer[5]) == (write.at_ns, write.client, "response")
        assert run.nodes[answer[3]] == write.committed.cluster
        push = push_of(run, write, "tokyo" if write.committed.cluster == "paris" else "paris")
        if push is not None:
            pushed += 1
            _, sent_ns, _, source, target, what, *_ = run.rows[push]
            assert what == "stream"
            assert (source, sent_ns) in {(run.rows[row][3], run.rows[row][1]) for row in links_of(run, write)}
            assert run.nodes[target] != write.committed.cluster
    assert pushed > 10


def test_a_write_by_hand_has_its_way_too() -> None:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("1s")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    lab.run("1s")
    run = RecordedRun(lab.parts.trace, lab.parts.ledger, lab.queries)
    (write,) = run.ledger.writes
    links = links_of(run, write)

    assert run.rows[links[0]][4] == run.rows[links[-1]][3] == write.client
    assert way_of(run, write) == (links[-1], links[0])
    assert push_of(run, write, "tokyo") is not None
    assert push_of(run, write, "lima") is None
