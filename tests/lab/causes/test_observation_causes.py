"""Observation causes: what a node observed of a value that does not open is explained by the damage of that value."""

from __future__ import annotations

from labkit import Lab
from labkit.lab.causes.explanation import OPERATOR


def test_a_reindex_that_finds_damaged_values_names_the_damage(calm):
    calm["paris"].post("secret/data/app", {"data": {"user": "ada"}})
    calm.corrupt("paris", layer="storage")
    calm["paris"].post("sys/replication/reindex", {"force": True})
    calm.run("3s")

    found = calm.why("paris: reindex damage")

    assert found.root.sentence == "paris is damaged on purpose (storage), by hand"
    assert [step.sentence.split()[0] for step in found.steps] == ["paris-1:", "the", "paris"]


def test_of_several_damages_it_names_the_one_of_the_value_that_was_found(calm):
    names = []
    for path in ("a", "b"):
        calm["paris"].post(f"secret/data/{path}", {"data": {"user": "ada"}})
        calm.corrupt("paris", layer="storage")
        names.append(
            dict(next(event for event in reversed(list(calm.trace)) if event.kind == "observed").fields)["key"]
        )
    node = calm.parts.nodes["paris-1"]
    for name in names:
        node.core.note_damage(name)
    rows = [number for number, event in enumerate(calm.trace) if getattr(event, "what", "") == "stored value damaged"]

    assert [calm.why(row).steps[1].sentence.split()[3] for row in rows] == names


def test_what_a_node_observes_of_a_request_names_who_asked():
    lab = Lab.pair()
    lab["paris"].post("sys/mounts/more", {"type": "kv"})

    found = lab.why("paris: mounted")

    assert found.origin == OPERATOR
    assert found.steps[0].sentence == "paris-1: mounted (path more/, type kv)"
