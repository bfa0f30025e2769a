"""Damage and repair of each layer: as the facts of the tree say, in labs of their own; and what happened here."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.lab.checkpoints import mark_of
from labkit.views.contents.repair_contents import LAYERS, STEPS, RepairContents, describe, rows_of
from labkit.views.repair import RepairLog, RepairView


@pytest.fixture(scope="module")
def pair() -> Lab:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    for number in range(40):
        lab["paris"].post(f"secret/data/o-{number}", {"data": {"n": number}})
    return lab.run("3s")


@pytest.fixture(scope="module")
def contents(pair: Lab) -> RepairContents:
    before = (pair.trace.digest(), mark_of(pair.parts), pair.queries.root_as_is("tokyo"))
    view = pair["tokyo"].merkle().repair()
    assert isinstance(view, RepairView)
    assert (pair.trace.digest(), mark_of(pair.parts), pair.queries.root_as_is("tokyo")) == before, "it stays as it is"
    assert len(view.svg.encode()) <= 60 * 1_024
    found: RepairContents = view.contents
    return found


# {layer of a cluster: whether the roots differ at once, what a check names, how it ends after the reindex}
FACTS = {
    ("tokyo", "root"): (True, "the composite root", "Roots are equal."),
    ("tokyo", "subtree"): (False, "the replicated root", "Roots are equal."),
    ("tokyo", "page"): (False, "page 77", "Roots are equal."),
    ("tokyo", "subpage"): (False, "page 77, subpage 55", "Roots are equal."),
    ("tokyo", "storage"): (False, "nothing", "Roots are equal; the value opens on both."),
    ("paris", "storage"): (False, "nothing", "Roots are equal; the value opens on neither."),
}


def test_every_layer_goes_through_every_step(contents: RepairContents) -> None:
    assert [(row.cluster, row.layer) for row in contents.rows] == list(FACTS)
    assert [row.layer for row in contents.rows[:5]] == list(LAYERS)
    assert {tuple(frame.step for frame in row.frames) for row in contents.rows} == {STEPS}


@pytest.mark.parametrize("place", range(len(FACTS)))
def test_damage_shows_where_it_does_and_is_repaired(contents: RepairContents, place: int) -> None:
    row = contents.rows[place]
    at_once, named, ended = FACTS[row.cluster, row.layer]
    sound, damaged, checked, reindexed, compared, repaired = row.frames
    stored = row.layer == "storage"

    assert not any((*sound.differs, *sound.damaged, sound.values, sound.pages_damaged))
    assert damaged.differs[0] == at_once
    assert damaged.values == checked.values == reindexed.values == stored
    assert checked.said == f"A check names {named}."
    assert reindexed.differs[0] == stored
    assert (compared.said == "Nothing had to be sent.") == (row.layer in ("page", "subpage"))
    assert repaired.said == ended
    assert not any((*repaired.differs, *repaired.damaged, repaired.values, repaired.pages_damaged))


def test_what_storage_costs_is_what_was_measured(contents: RepairContents) -> None:
    said = {row.cluster: row.frames[4].said for row in contents.rows if row.layer == "storage"}
    assert said == {
        "tokyo": "1 page compared, 1 key fetched: 10,308 bytes.",
        "paris": "1 page compared, 1 key fetched: 11,489 bytes.",
    }


def test_its_words_and_its_table_say_the_same(contents: RepairContents) -> None:
    rows, words = rows_of(contents), describe(contents)

    assert len(rows) == 36
    for row in rows:
        assert row["said"] in words or row["step"] in ("sound", "reindexed", "compared")
    assert [row["roots"] for row in rows if row["step"] == "damaged"] == ["differ", *["equal"] * 5]


def test_only_a_sound_secondary_that_streams_is_taken(pair: Lab) -> None:
    with pytest.raises(ValueError, match=r"repair: expected a secondary that streams .* got paris, which is running"):
        pair["paris"].merkle().repair()
    lab = pair.branch("damaged")
    lab.corrupt("tokyo", "page")
    with pytest.raises(ValueError, match="repair: expected sound trees, got damage in tokyo already"):
        lab["tokyo"].merkle().repair()


def test_a_layer_tells_what_happened_here(pair: Lab) -> None:
    lab = pair.branch("here")
    with pytest.raises(ValueError, match="expected one of tokyo that was damaged here, got 'storage'; damage it with"):
        lab["tokyo"].merkle().repair("storage")
    lab.corrupt("tokyo", "storage")
    lab["tokyo"].operation_token()
    lab["tokyo"].reindex()
    lab.run("3s")
    log = lab["tokyo"].merkle().repair("storage")

    assert isinstance(log, RepairLog)
    assert [one.said for one in log] == [
        "damaged: a stored value",
        "reindex began",
        "reindexed: 1 key had another leaf than storage makes",
        "compared: 1 page differs",
        "fetched: 1 key, deleted 0",
    ]
    assert [*log.to_frame().what] == [one.said for one in log]
    assert all(one.said in log._repr_html_() for one in log)
    assert "reindex began; " in repr(log)
    with pytest.raises(ValueError, match="layer: expected a layer"):
        lab["tokyo"].merkle().repair("leaf")
