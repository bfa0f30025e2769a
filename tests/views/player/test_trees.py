"""The trees of a player: what its script says of pages at an instant is what the record says, and what indexes held."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.measures.tree_record import leaves_of
from labkit.lab.measures.trees_over_time import pages_at
from labkit.vault.replication.tree.merkle import FAN_OUT, bucket, classify
from labkit.views.player.data import data_of
from labkit.views.player.page import NO_TREES
from labkit.views.player.recorded.recording import Recording, recording_of
from labkit.views.player.script import script
from labkit.views.player.stage import stage_of
from tests.views.player.scripts import NODE, asked

READ = """(() => {
  const trees = readTrees(data);
  return INSTANTS.map((at) => treesAt(trees, at).map((pair) => [pair, pairWords(pair)]));
})()"""


@pytest.fixture(scope="module")
def lab() -> Lab:
    """A pair that was damaged, and then cut while paris went on."""
    lab = Lab.pair(seed=7)
    lab.run("10ms")
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    lab.run("1s")
    lab.corrupt("tokyo", "subpage")
    lab.partition("paris", "tokyo")
    for number in range(8):
        lab["paris"].post(f"secret/data/app-{number}", {"data": {"n": number}})
    return lab.run("1s")


@pytest.fixture(scope="module")
def recording(lab: Lab) -> Recording:
    return recording_of(lab.queries, lab.invariants, None, lab._pictures)


def said_at(folder: Any, recording: Recording, instants: list[int]) -> Any:
    data = data_of(recording, stage_of(recording))
    return asked(folder, data, READ.replace("INSTANTS", str(instants)))


def test_the_script_reads_what_was_recorded_at_every_change(recording: Recording, tmp_path: Any) -> None:
    if NODE is None:
        return
    trees = recording.trees
    assert trees is not None
    changes = sorted({at_ns for one in trees.apart for at_ns in (one.from_ns, one.to_ns)} - {recording.end_ns})
    instants = [change // 1_000 + 1 for change in changes]
    said = said_at(tmp_path, recording, instants)

    assert len(said) > 10
    for at, [[pair, _]] in zip(instants, said, strict=True):
        pages = pages_at(trees, at * 1_000).get(("tokyo", "paris"), ())
        assert pair["pages"] == [(tree - 1) * FAN_OUT + page for tree, page in pages]


def test_what_it_says_at_the_end_is_what_the_indexes_hold(lab: Lab, recording: Recording, tmp_path: Any) -> None:
    if NODE is None:
        return
    here, there = leaves_of(lab.queries, "tokyo"), leaves_of(lab.queries, "paris")
    keys = [key for key in {*here, *there} if here.get(key) != there.get(key)]
    apart = sorted({(classify(key) - 1) * FAN_OUT + bucket(key) // FAN_OUT for key in keys})
    [[[pair, words]]] = said_at(tmp_path, recording, [recording.end_ns // 1_000])

    assert pair["pages"] == apart
    assert pair["compared"]
    shown = ", ".join(f"{page:02x}" for page in apart[:5])
    where = dict(lab.trace.select("observed", what="corrupted")[-1].fields)
    damage = f"replicated page {where['page']:02x}, subpage {where['subpage']:02x}"
    assert words == (
        f"tokyo's tree: {len(apart)} pages differ from paris's: replicated {shown} and {len(apart) - 5} more"
        f"; damaged on purpose, no reindex since: {damage}"
    )


@pytest.fixture(scope="module")
def failed_over() -> Lab:
    """A primary that goes down with writes on their way; its secondary is promoted, and after a while followed."""
    lab = Lab.pair(seed=7)
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab["paris"].post("secret/data/app", {"data": {"n": 1}})
    lab.run("1s")
    for number in range(3):
        lab["paris"].post(f"secret/data/app-{number}", {"data": {"n": number}})
    lab.crash("paris")
    lab.run("1s")
    lab["tokyo"].promote()
    lab.run("1s")
    lab.isolate("paris")
    lab.restart("paris")
    lab.unseal("paris")
    lab["paris"].demote()
    lab.heal("paris")
    lab["paris"].repoint("tokyo")
    return lab.run("5s")


def test_a_promoted_cluster_is_said_to_have_differed_and_never_to_be_equal(failed_over: Lab, tmp_path: Any) -> None:
    if NODE is None:
        return
    lab = failed_over
    recording = recording_of(lab.queries, lab.invariants, None, lab._pictures)
    (taken,) = lab.ledger.promotions
    keys = {key for number in taken.missing for key, _ in lab.ledger.histories.commits[number].changes}
    apart = sorted({(classify(key) - 1) * FAN_OUT + bucket(key) // FAN_OUT for key in keys})
    promoted, last = taken.at_ns // 1_000, recording.end_ns // 1_000
    assert recording.trees is not None
    follows = next(one.from_ns for one in recording.trees.compared if one.cluster == "paris") // 1_000
    instants = [promoted - 1, promoted, promoted + 1, follows - 1, follows, last]
    before, *parted, again, end = said_at(tmp_path, recording, instants)

    assert len(apart) >= 3
    (pair, words), _ = before
    assert (pair["pages"], pair["compared"], pair["parted"]) == (apart, True, None)
    assert words.startswith(f"tokyo's tree: {len(apart)} pages differ from paris's: replicated ")
    for (pair, words), (other, _) in parted:
        assert (pair["pages"], pair["compared"], pair["parted"]) == (apart, False, promoted)
        when = f"when it ceased to follow paris, at {promoted / 1e6:.3f} s"
        assert words.startswith(f"tokyo's tree: {when}, {len(apart)} pages differed: replicated ")
        assert (other["pages"], other["compared"], other["parted"]) == ([], False, None)
    for (pair, _), (other, _) in (again, end):
        assert (pair["pages"], pair["compared"], pair["parted"]) == ([], False, None)
        assert other["compared"]
    assert end[1][1] == "paris's tree: every page as in tokyo's"


def test_who_is_compared_with_a_cluster_that_is_down_is_compared_with_what_that_held(
    failed_over: Lab, tmp_path: Any
) -> None:
    recording = recording_of(failed_over.queries, failed_over.invariants, None, failed_over._pictures)
    crashed = next(one.at_ns for one in failed_over.trace.select("fault", verb="crash")) // 1_000
    words = "pairWords(treesAt(readTrees(data), AT)[0], ['paris'])".replace("AT", str(crashed))
    said = asked(tmp_path, data_of(recording, stage_of(recording)), words)

    assert said is None or " pages differ from what paris held when it went down: replicated " in said


def test_before_anybody_follows_nothing_is_compared(recording: Recording, tmp_path: Any) -> None:
    if NODE is None:
        return
    [[[pair, words]]] = said_at(tmp_path, recording, [20_000])

    assert pair["pages"] == []
    assert words == "tokyo's tree is not compared with paris's"


def test_without_a_record_the_page_says_so_and_has_no_part_for_trees(lab: Lab) -> None:
    plain = recording_of(lab.queries, lab.invariants)
    assert data_of(plain, stage_of(plain))["trees"] is None
    other = Lab.pair(seed=7).run("1s").play().html
    assert NO_TREES in other
    assert script(frozenset({"trees", "beside"})) in other
    assert NO_TREES not in lab.play().html
    assert script(frozenset({"beside"})) in lab.play().html


def test_trees_make_a_minute_of_writes_a_little_larger() -> None:
    from labkit.lab.plan.blueprint import ClientPlan, WorkloadPlan, pair

    work = WorkloadPlan(operation="put-secret", every_ns=200_000_000, keys=40, from_ns=1_000_000_000)
    shop = ClientPlan(name="shop", site="lisbon", use=("paris", "tokyo"), count=1, workload=(work,))
    lab = Lab(pair().with_clients(shop))
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    player = lab.run(until="20s").play()
    bare = recording_of(lab.queries, lab.invariants)
    grown = len(player.html) - len(type(player)(bare, player.timeline, player.axis, player.title, player.facts).html)

    assert 0 < grown <= 8_000


def test_a_page_that_is_damaged_is_not_said_to_be_as_the_primarys(tmp_path: Any) -> None:
    if NODE is None:
        return
    lab = Lab.pair(seed=7)
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    lab.run("5s")
    lab.corrupt("tokyo", layer="page")
    lab.run("1s")
    recording = recording_of(lab.queries, lab.invariants, None, lab._pictures)
    [[[_, words]]] = said_at(tmp_path, recording, [recording.end_ns // 1_000])

    assert words.startswith("tokyo's tree: every page as in paris's but where damaged; damaged on purpose, no reindex")
