"""Parts: a lab with less in it, at once and part by part; each is a file again."""

from __future__ import annotations

from labkit.hunt.labs import lab_data
from labkit.hunt.shrinking import parts
from labkit.lab.plan.blueprint import pair, triangle
from tests.hunt.shrinking.edits import CLIENTS, REPLICATE, WORK, Data, data, results


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
    found = [one["lab"] for one in results(parts.parts, data(lab=lab))]
    bare, unnamed, plain, single, one_work, shop, bank, without_options, *_ = found

    assert list(unnamed["clusters"]) == list(bare["clusters"]) == ["paris", "tokyo"]
    assert unnamed["links"][0]["jitter"] == "2ms"
    assert not any("jitter" in link for link in plain["links"])
    assert list(plain["clusters"]) == list(single["clusters"]) == ["paris", "tokyo", "lima"]
    assert all(plan["nodes"] == 1 for plan in single["clusters"].values())
    assert (list(shop["clients"]), list(bank["clients"])) == (["shop"], ["bank"])
    assert one_work["clients"] == {"shop": {"site": "lisbon", "use": ["lima", "paris"], "work": WORK[:1]}}
    assert without_options["clients"]["shop"] == {"site": "lisbon", "use": ["lima", "paris"], "work": WORK}
    assert list(without_options["clients"]) == ["shop", "bank"]


def test_clients_need_no_work():
    lab = {**lab_data(pair()), "clients": {"shop": {"site": "lisbon", "use": ["paris"], "count": 2}}}

    assert {"shop": {"site": "lisbon", "use": ["paris"]}} in [
        one["lab"]["clients"] for one in results(parts.parts, data(lab=lab))
    ]


def test_a_cluster_goes_unless_it_is_one_of_two_that_replicate():
    def left(*timeline: Data) -> list[list[str]]:
        return [list(one["lab"]["clusters"]) for one in results(parts.parts, {**data(), "timeline": [*timeline]})]

    assert ["tokyo"] in left({"do": "crash", "target": "tokyo-1", "at": "1s"})
    assert ["paris"] not in left(REPLICATE)
    assert ["tokyo"] not in left(REPLICATE)
