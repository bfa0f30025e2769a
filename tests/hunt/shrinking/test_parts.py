"""Parts: a lab with less in it, at once and part by part; each is a file again."""

from __future__ import annotations

from labkit.hunt.labs import lab_data
from labkit.hunt.shrinking import parts
from labkit.lab.plan.blueprint import pair, triangle
from tests.hunt.shrinking.edits import CLIENTS, data, results


def test_the_lab_is_bared_at_once_then_part_by_part():
    three = {**lab_data(triangle()), "clients": CLIENTS, "cloud": {"site": "lima"}}
    first, *others = results(parts.parts, data(lab=three))

    assert first["lab"]["clusters"] == {"paris": {"site": "paris", "nodes": 1}, "tokyo": {"site": "tokyo", "nodes": 1}}
    assert first["lab"]["sites"] == ["paris", "tokyo"]
    assert first["lab"]["links"] == [{"between": ["paris", "tokyo"], "latency": "80ms"}]
    assert first["lab"]["clients"]["shop"]["use"] == ["paris"]
    assert any("cloud" not in one["lab"] for one in others)
    assert any(len(one["lab"]["clients"].get("shop", {"work": []})["work"]) == 1 for one in others)
    assert any(list(one["lab"]["clusters"]) == ["paris", "lima"] and one["timeline"] == [] for one in others)


def test_all_clients_go_at_once():
    assert [
        "clients" in one["lab"] for one in results(parts.clients, data(lab={**lab_data(pair()), "clients": CLIENTS}))
    ] == [False]
    assert results(parts.clients, data()) == []
