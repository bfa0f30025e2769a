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


def test_what_is_alike_goes_together():
    lab = {**lab_data(triangle()), "clients": {**CLIENTS, "bank": {**CLIENTS["shop"], "count": 1}}}
    lab["links"] = [{**link, "jitter": "2ms"} for link in lab["links"]]
    bare, unnamed, plain, single, shop, bank, *_ = [one["lab"] for one in results(parts.parts, data(lab=lab))]

    assert list(unnamed["clusters"]) == list(bare["clusters"]) == ["paris", "tokyo"]
    assert unnamed["links"][0]["jitter"] == "2ms"
    assert not any("jitter" in link for link in plain["links"])
    assert list(plain["clusters"]) == list(single["clusters"]) == ["paris", "tokyo", "lima"]
    assert all(plan["nodes"] == 1 for plan in single["clusters"].values())
    assert (list(shop["clients"]), list(bank["clients"])) == (["shop"], ["bank"])
