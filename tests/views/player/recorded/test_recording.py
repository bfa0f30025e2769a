"""What a player says of a run was so: looked at in random labs while they run, and asked of its script after."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.lab.measures.tree_record import leaves_of
from labkit.lab.operations.runbook_effects import RunbookError
from labkit.service.silence import Silence
from labkit.vault.replication.tree.merkle import FAN_OUT, bucket, classify
from labkit.views.contents import map_contents
from labkit.views.player.data import data_of
from labkit.views.player.recorded.recording import MAX_EXPLAINED, recording_of
from labkit.views.player.stage import stage_of
from tests.lab.test_losses_recounted import MORE_VERBS, act, plain
from tests.views.player.scripts import NODE, asked

EVERYDAY, MORE = 4, 50
SAYS = """(() => {
  const run = readRun(data.data);
  const trees = readTrees(data.data);
  return data.instants.map((at) => ({
    trees: treesAt(trees, at).map((pair) => [pair, pairWords(pair)]),
    state: stateAt(run, at),
    flying: onTheWay(run, at).map((message) => [run.sent[message], ...data.data.kinds[run.kind[message]].slice(0, 3)]),
  }));
})()"""


class Seen:
    """What was so in a lab at an instant."""

    def __init__(self, lab: Any) -> None:
        parts, queries = lab.parts, lab.queries
        self.at = lab.now // 1_000
        self.nodes = {node: map_contents._state_of(queries, node) for node in parts.nodes}
        self.modes = {name: (queries.mode_of(name), queries.state_of(name)) for name in lab.clusters}
        self.cuts = {
            (link.between, way)
            for link in parts.network.topology.links
            for way in (link.between, link.between[::-1])
            if parts.network.impairment(*way).closed
        }
        self.flying = sorted(
            (message.sent_ns // 1_000, message.source, message.target, message.what)
            for _, (verb, _, message) in parts.clock.pending()
            if verb == "deliver" and not is_hit(parts.network, message)
        )
        ended, ways = lab.trace.select("outcome"), ("answered", "refused", "unknown")
        self.counts = [sum(one.outcome == how for one in ended) for how in ways]
        of_all = [sum(one.outcome == how for one in lab.ledger.operations) for how in ways]
        self.asks = [whole - mine for whole, mine in zip(of_all, self.counts, strict=True)]
        pending = [one for host in lab.parts.clients.values() for one in host.client.pending.values()]
        self.waiting = sorted(one.started_ns // 1_000 for one in pending)
        streaming = [name for name, mode in self.modes.items() if mode == ("secondary", "stream-wals")]
        upstreams = {name: queries.progress.upstream(name, lab.now) for name in streaming}
        self.apart = {
            name: (upstream, pages_apart(lab, name, upstream))
            for name, upstream in upstreams.items()
            if queries.active_node(name) and queries.active_node(upstream)  # else there is no index to look at
        }


def pages_apart(lab: Any, cluster: str, upstream: str) -> list[int]:
    """The pages in which the indexes of two clusters differ, compared leaf by leaf."""
    here, there = leaves_of(lab.queries, cluster), leaves_of(lab.queries, upstream)
    keys = [key for key in {*here, *there} if here.get(key) != there.get(key)]
    return sorted({(classify(key) - 1) * FAN_OUT + bucket(key) // FAN_OUT for key in keys})


def is_hit(network: Any, message: Any) -> bool:
    """Whether a fault took a message that is on its way."""
    return bool(message.epoch < network._stream(message.source, message.target).epoch)


def drilled(seed: int) -> tuple[Any, list[Seen]]:
    """A random lab, and what was so in it at some instants."""
    rng = random.Random(seed)
    lab: Any = Lab(plain(rng), seed=seed)
    seen = []
    lab.keep_pictures()
    with suppress(RunbookError):
        lab.replicate("paris", "tokyo")
    for _ in range(8):
        with suppress(RunbookError, Silence, ValueError):
            act(lab, rng, MORE_VERBS)
        lab.run(f"{rng.randrange(1, 700)}ms")
        seen.append(Seen(lab))
        lab.run(0.001)
    return lab.run("3s"), seen


@pytest.mark.parametrize(
    "seeds",
    [range(EVERYDAY), *(pytest.param(range(n, n + 8), marks=pytest.mark.slow) for n in range(EVERYDAY, MORE, 8))],
)
@pytest.mark.slow
def test_what_is_said_of_any_instant_was_so(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        lab, seen = drilled(seed)
        recording = recording_of(lab.queries, lab.invariants, None, lab._pictures)
        data = data_of(recording, stage_of(recording))
        answers = asked(tmp_path, {"data": data, "instants": [one.at for one in seen]}, SAYS)
        lost_at = [at_ns // 1_000 for at_ns in times_of_losses(lab.ledger)]
        for was, says in zip(seen, answers or (), strict=NODE is not None):
            compare(f"seed {seed}, {was.at / 1e6} s", was, says, data, recording)
            compare_trees(f"seed {seed}, {was.at / 1e6} s", was, says["trees"], recording)
            assert says["state"]["lost"] == sum(at <= was.at for at in lost_at), f"seed {seed}, {was.at / 1e6} s"


def compare(where: str, was: Seen, says: Any, data: Any, recording: Any) -> None:
    """What the script says of an instant is what was so."""
    state, hosts = says["state"], [host[0] for host in data["hosts"]]
    assert {node: is_ for cluster in state["clusters"] for node, is_ in cluster["nodes"]} == was.nodes, where
    for cluster in state["clusters"]:
        mode, _ = was.modes[cluster["name"]]
        served = "active" in dict(cluster["nodes"]).values()
        assert cluster["what"] == mode if served else cluster["what"] in ("down", "sealed", "disabled"), where
    cuts = set()
    for line in state["lines"]:
        ends = (line["a"], line["b"])
        if line["cut"]:
            cuts |= {(ends, way) for way in (ends, ends[::-1]) if line["cut"] in ("both ways", way[1])}
    assert cuts == was.cuts, where
    ended = {(one.sent_ns // 1_000, one.source, one.target, one.what) for one in recording.messages}
    flying = sorted((sent, hosts[a], hosts[b], data["whats"][what]) for sent, a, b, what in says["flying"])
    assert flying == [one for one in was.flying if one in ended], where
    assert (state["counts"], state["asks"]) == (was.counts, was.asks), where
    assert sorted(state["waiting"]) == was.waiting, where


def compare_trees(where: str, was: Seen, says: Any, recording: Any) -> None:
    """Who is said to have every page as another, or which pages differ, follows it, and its index says the same."""
    shown = {(pair["cluster"], pair["upstream"]): (pair, words) for pair, words in says}
    for cluster, (upstream, pages) in was.apart.items():
        pair, words = shown[cluster, upstream]
        assert pair["compared"], where
        assert pair["pages"] == pages, where
        assert (f"every page as in {upstream}'s" in words) == (not pages), where
    for (cluster, upstream), (pair, words) in shown.items():
        follows = was.modes[cluster][0] in ("secondary", "unknown")  # a cluster that is down holds what it held
        assert not pair["compared"] or follows, where
        assert pair["compared"] or f": every page as in {upstream}" not in words, where
        if pair["parted"] is not None:
            parted = next(
                one.left
                for one in recording.trees.compared
                if (one.cluster, one.upstream, one.to_ns // 1_000) == (cluster, upstream, pair["parted"])
            )
            assert pair["pages"] == sorted((tree - 1) * FAN_OUT + page for tree, page in parted), where


def times_of_losses(ledger: Any) -> list[int]:
    """When each of the writes that are lost in the end had been acknowledged and was lost by a promotion."""
    by_promotion = [(taken.at_ns, set(ledger.lost(taken))) for taken in ledger.promotions]
    return [
        min(max(write.at_ns, taken_ns) for taken_ns, lost in by_promotion if write in lost) for write in ledger.lost()
    ]


def test_everything_has_its_row_and_its_cause(drilled_lab: Lab) -> None:
    recording = recording_of(drilled_lab.queries, drilled_lab.invariants)
    rows = [row for chunk in drilled_lab.trace.state()[1] for row in chunk]

    assert len(recording.messages) == recording.total == sum(row[0] == "message" for row in rows)
    for message in recording.messages:
        times = (message.sent_ns, message.at_ns)
        assert rows[message.row][:6] == ("message", *times, message.source, message.target, message.what)
        if message.cause >= 0:
            cause = rows[message.cause]
            assert (cause[0], cause[4], cause[7]) == ("message", message.source, "delivered")
            assert cause[2] <= message.sent_ns
    assert len(recording.happenings) <= MAX_EXPLAINED
    assert {one.row for one in recording.happenings} - {-1} == set(recording.explanations)
    derived = {one.row for one in recording.happenings if one.row >= 0 and rows[one.row][0] in ("message", "outcome")}
    assert derived
    for row, explanation in recording.explanations.items():
        assert row in derived or explanation == drilled_lab.why(row)
    assert [loss.write for loss in recording.losses] == drilled_lab.ledger.lost()
    assert recording.losses
    for loss in recording.losses:
        assert loss.explanation == drilled_lab.why(loss.write)
        request, answer, *pushes = (rows[row] for row in loss.way)
        assert (request[3], request[5]) == (loss.write.client, "request")
        assert (answer[4], answer[2]) == (loss.write.client, loss.write.at_ns)
        assert all((push[1], push[3], push[5]) == (answer[1], answer[3], "stream") for push in pushes)


def test_recording_changes_nothing_and_is_the_same_twice(drilled_lab: Lab) -> None:
    before = drilled_lab.trace.digest()
    first = recording_of(drilled_lab.queries, drilled_lab.invariants)

    assert recording_of(drilled_lab.queries, drilled_lab.invariants) == first
    assert drilled_lab.trace.digest() == before


def test_a_lab_without_a_trace_cannot_be_played() -> None:
    lab = Lab(Lab.pair().blueprint, trace=False)

    with pytest.raises(ValueError, match="play: expected a lab that keeps a trace"):
        lab.play()


def test_a_run_of_no_length_shows_how_the_lab_began() -> None:
    lab = Lab.pair(seed=7)
    recording = recording_of(lab.queries, lab.invariants)

    assert recording.end_ns == 0
    assert {(span.row, span.what) for span in recording.spans} == {("paris", "disabled"), ("tokyo", "disabled")}
    assert [span.what for span in recording.nodes] == [*("active", "standby", "standby") * 2]
