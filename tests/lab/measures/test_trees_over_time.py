"""What a tree record says clusters held is what their indexes held, in random labs too; and it disturbs nothing."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from labkit import Lab
from labkit.lab.measures import trees_over_time as trees
from labkit.lab.measures.tree_record import TreeRecord, leaves_of
from labkit.lab.operations.runbook_effects import RunbookError
from labkit.vault.replication.tree.merkle import FAN_OUT, bucket, classify
from tests.lab import test_losses_recounted as random_labs

SECRETS = 6


@pytest.fixture(scope="module")
def pair() -> Lab:
    """A pair whose trees are recorded from the beginning, with a few secrets written."""
    lab = Lab.pair(seed=7)
    lab.keep_pictures()
    lab.replicate("paris", "tokyo")
    for number in range(SECRETS):
        lab["paris"].post(f"secret/data/app-{number}", {"data": {"n": number}})
    return lab


def said(lab: Lab) -> trees.TreesOverTime:
    assert lab._pictures is not None
    found = trees.trees_over_time(lab._pictures, lab.ledger.histories.commits, lab.now)
    assert found is not None
    return found


def apart_now(lab: Lab) -> tuple[trees.Page, ...]:
    """The pages in which the indexes of tokyo and paris differ, compared leaf by leaf."""
    here, there = leaves_of(lab.queries, "tokyo"), leaves_of(lab.queries, "paris")
    keys = [key for key in {*here, *there} if here.get(key) != there.get(key)]
    return tuple(sorted({(classify(key), bucket(key) // FAN_OUT) for key in keys}))


def test_pages_are_apart_while_a_write_is_on_its_way(pair: Lab) -> None:
    lab = pair.branch("on its way")
    lab.run("1s")
    written_ns = lab.now
    lab["paris"].post("secret/data/one-more", {"data": {"n": 1}})
    between = apart_now(lab)
    lab.run("1s")
    spans = [one for one in said(lab).apart if one.from_ns >= written_ns]

    assert between
    assert sorted(page for one in spans for page in one.pages) == list(between)
    assert all(80_000_000 <= one.to_ns - one.from_ns < 90_000_000 for one in spans)
    assert apart_now(lab) == ()
    assert trees.pages_at(said(lab), spans[0].from_ns) == {("tokyo", "paris"): between}
    assert trees.pages_at(said(lab), lab.now - 1) == {}


def test_a_cut_keeps_pages_apart_and_a_promotion_ends_the_comparison(pair: Lab) -> None:
    lab = pair.branch("cut")
    lab.run("1s")
    lab.partition("paris", "tokyo")
    lab["paris"].post("secret/data/only-here", {"data": {"n": 1}})
    lab.run("2s")
    before = apart_now(lab)
    assert trees.pages_at(said(lab), lab.now - 1) == {("tokyo", "paris"): before}
    lab["tokyo"].promote(force=True)
    lab.run("1s")
    assert said(lab).apart[-1].to_ns < lab.now
    assert trees.pages_at(said(lab), lab.now - 1) == {}
    (compared,) = said(lab).compared
    assert compared[:2] == ("tokyo", "paris")
    assert compared.to_ns == said(lab).apart[-1].to_ns
    assert compared.left == before
    assert before


@pytest.mark.parametrize("layer", ["root", "subtree", "page", "subpage", "storage"])
def test_damage_is_known_until_a_reindex(pair: Lab, layer: str) -> None:
    lab = pair.branch(layer)
    lab.run("1s")
    lab.corrupt("tokyo", layer=layer)
    struck = lab.trace.select("observed", what="corrupted")[-1]
    fields = dict(struck.fields)
    lab.run("1s")
    (open_span,) = said(lab).damaged
    lab["tokyo"].operation_token()
    lab["tokyo"].reindex()
    lab.run("5s")
    (span,) = said(lab).damaged

    assert (open_span.cluster, open_span.layer, open_span.to_ns) == ("tokyo", layer, open_span.from_ns + 1_000_000_000)
    place = {name: fields[name] for name in ("tree", "page", "subpage") if name in fields}
    assert {name: getattr(span, name) for name in place} == place
    assert (span.page >= 0) == (layer in ("page", "subpage", "storage"))
    assert span.from_ns == struck.at_ns < span.to_ns < lab.now
    assert apart_now(lab) == ()


def test_without_rows_nothing_is_known() -> None:
    assert trees.trees_over_time(TreeRecord(Lab.pair(seed=7).queries), [], 5) is None


def judge(lab: Lab, seed: int) -> int:
    """Compare what the record says clusters hold with their indexes; a cluster that compares has no complete state."""
    walk, judged = trees._Walk(list(lab.ledger.histories.commits)), 0
    assert lab._pictures is not None
    for row in lab._pictures.rows:
        walk.take(row)
    for cluster in lab.queries.cluster_names:
        mode = (lab.queries.mode_of(cluster), lab.queries.state_of(cluster))
        if mode in (("primary", "running"), ("secondary", "stream-wals")):
            assert walk.holders[cluster].leaves == leaves_of(lab.queries, cluster), f"seed {seed}, {cluster}"
            judged += 1
    return judged


@pytest.mark.parametrize("seeds", [(4,), pytest.param(range(5, 9), marks=pytest.mark.slow)])
def test_random_labs_hold_what_their_record_says(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lab, "work_through", random_labs.work_for_a_while)
    judged = 0
    for seed in seeds:
        rng = random.Random(seed)
        lab = Lab(random_labs.varied(rng), seed=seed, trace=False)
        lab.run(f"{rng.randrange(1, 4000)}ms")
        with suppress(RunbookError):
            random_labs.join(lab, "tokyo", "paris", rng)
        lab.keep_pictures()
        for _ in range(rng.randrange(6, 14)):
            random_labs.act(lab, rng, random_labs.MORE_VERBS)
            if rng.random() < 0.2:
                lab = Lab.restore(lab.snapshot()) if rng.random() < 0.5 else lab.branch("what-if")
            judged += judge(lab, seed)
    assert judged >= 5 * len(seeds)
