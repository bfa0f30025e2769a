"""Differences of two clusters: every name whose stored value is not the same, with the mount that it belongs to."""

from __future__ import annotations

import pandas
import pytest

from labkit.lab.differences import Difference, Differences


def names(lab, first="paris", second="tokyo"):
    return {row.name for row in lab.diff(first, second)}


def test_level_clusters_have_none(calm):
    calm.run("1s")
    assert calm.diff("paris", "tokyo") == ()
    assert repr(calm.diff("paris", "tokyo")) == "Differences(0)"


def test_what_did_not_arrive_is_named_with_its_mount(calm):
    calm.run("1s")
    calm.partition("paris", "tokyo")
    calm["paris"].post("secret/data/app", {"data": {"n": 1}})
    found = calm.diff("paris", "tokyo")

    assert {row.mount for row in found} == {"secret/"}
    assert {row.name for row in found} >= {"keys/app", "versions/app/1.data"}
    assert all(len(row.first) == 40 and row.second == "" for row in found)
    assert repr(found).startswith(f"Differences({len(found)}: secret/ keys/app, ")
    turned = calm.diff("tokyo", "paris")
    assert [(row.name, row.second, row.first) for row in turned] == [(row.name, row.first, row.second) for row in found]


def test_they_are_what_a_count_of_the_stores_finds(calm):
    calm.run("1s")
    calm.partition("paris", "tokyo")
    calm["paris"].post("secret/data/app", {"data": {"n": 1}})
    calm["paris"].delete("secret/metadata/mine")
    calm.corrupt("tokyo", layer="storage")
    mine, theirs = calm.queries.contents("paris"), calm.queries.contents("tokyo")
    apart = [key for key in {**mine, **theirs} if mine.get(key) != theirs.get(key)]

    found = calm.diff("paris", "tokyo")
    assert len(found) == len(apart)
    assert all(any(key.endswith(row.name) for key in apart) for row in found)


def test_what_is_not_replicated_is_none(calm):
    calm.run("1s")
    assert calm.parts.stores["paris"].get("node/wal") != calm.parts.stores["tokyo"].get("node/wal")
    assert not any(name.startswith("node/") for name in names(calm))


@pytest.mark.parametrize("how", ["crash", "sealed", "damaged"])
def test_clusters_that_do_not_answer_are_compared_as_well(calm, how):
    calm.run("1s")
    calm["paris"].post("secret/data/app", {"data": {"n": 1}})
    before = names(calm)
    assert before
    if how == "crash":
        calm.crash("paris")
        calm.crash("tokyo")
    elif how == "sealed":
        calm.seal("paris")
    else:
        calm.corrupt("tokyo", layer="storage", key="core/mounts")
    assert {name.rpartition("/")[2] for name in before} <= {name.rpartition("/")[2] for name in names(calm)}


def test_a_data_frame_of_them_has_a_row_each():
    rows = Differences([Difference(f"n{n}", "secret/", "ab" * 20, "") for n in range(7)])
    frame = pandas.DataFrame(rows)

    assert list(frame.columns) == ["name", "mount", "first", "second"]
    assert len(frame) == 7
    assert repr(rows) == f"Differences(7: {', '.join(f'secret/ n{n}' for n in range(5))} and 2 more)"


def test_a_cluster_is_compared_with_another(calm):
    with pytest.raises(ValueError, match="diff: expected two different clusters, got paris twice"):
        calm.diff("paris", "paris")


def test_a_mount_is_named_with_its_namespace(calm):
    calm["paris"].post("sys/namespaces/team")
    calm["paris"].post("sys/mounts/kv", {"type": "kv"}, namespace="team")
    calm.run("1s")
    calm.partition("paris", "tokyo")
    calm["paris"].post("kv/a", {"x": 1}, namespace="team")

    assert {row.mount for row in calm.diff("paris", "tokyo")} == {"team/kv/"}
