"""Values: usual ones, whole seconds, small seeds, names in order; each is a file again."""

from __future__ import annotations

from copy import deepcopy

from labkit.hunt.labs import lab_data
from labkit.hunt.shrinking import values
from labkit.lab.plan.blueprint import triangle
from tests.hunt.shrinking.edits import CLIENTS, data, results


def test_values_become_usual():
    lab = {**lab_data(triangle()), "clients": deepcopy(CLIENTS)}
    lab["clients"]["shop"]["work"][0] |= {"from": "4s", "until": "9s"}
    first, latencies, work, always, *others = results(values.values, data(lab=lab))

    assert {link["latency"] for link in first["lab"]["links"]} == {"80ms"}
    assert first["lab"]["clients"]["shop"]["work"][0] == {"do": "put-secret", "every": "1s"}
    assert latencies["lab"] == {**first["lab"], "clients": lab["clients"]}
    assert work["lab"] == {**first["lab"], "links": lab["links"]}
    assert always["lab"] == {**lab, "clients": CLIENTS}
    assert any("keys" not in one["lab"]["clients"]["shop"]["work"][0] for one in others)


def test_instants_become_a_pace_or_whole_seconds():
    start = data(
        {"do": "pause", "target": "tokyo-1", "at": "5.4s"}, {"do": "resume", "target": "tokyo-1", "at": "9.5s"}
    )
    found = results(values.instants, start)
    times = [[step.get("at") or step["after"] for step in one["timeline"]] for one in found]

    assert times[:3] == [["1s", "1s", "1s"], ["1s", "2s", "2s"], ["1s", "5s", "5s"]]
    assert ["1s", "5s", "9.1s"] in times
    assert ["1s", "5.4s", "10s"] in times


def test_an_even_pace_becomes_quicker_or_stays():
    def paces(after: str) -> list[str]:
        found = results(values.instants, data({"do": "pause", "target": "tokyo-1", "after": after}))
        return [one["timeline"][1]["after"] for one in found]

    assert paces("5s") == ["1s", "2s"]
    assert paces("1s") == []


def test_small_seeds_and_names_in_order():
    assert [one["seed"] for one in results(values.usual_seed, data())] == [0]
    assert results(values.usual_seed, {**data(), "seed": 0}) == []
    assert [one["seed"] for one in results(values.seeds, data())] == list(range(10))
    two = lab_data(triangle())
    two["sites"], two["clusters"] = ["tokyo", "lima"], {name: {"site": name} for name in ("tokyo", "lima")}
    two["links"] = [link for link in two["links"] if set(link["between"]) == {"tokyo", "lima"}]
    start = {**data(lab=two), "timeline": [{"do": "crash", "target": "lima-2", "at": "1s"}]}
    (renamed,) = results(values.names, start)

    assert list(renamed["lab"]["clusters"]) == ["paris", "tokyo"]
    assert renamed["timeline"][0]["target"] == "tokyo-2"
    two["sites"].append("paris")
    assert list(values.names(start)) == []
