"""Findings: two schedules that break the same rule by the same cause have one signature, others have another."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.hunt.findings import EXCEPTION, SeedFinding, Signature, exception_of, findings_of, signature_of
from labkit.hunt.labs import lab_data
from labkit.hunt.world import World, read, world_of
from labkit.lab.plan.blueprint import pair, triangle
from tests.zoo.mistakes import ZOO
from tests.zoo.planting import planted

REPLICATE = {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s"}


def built(*steps: dict[str, Any], blueprint: Any = None) -> World:
    data = {"scenario": "x", "seed": 0, "lab": lab_data(blueprint or pair()), "timeline": [REPLICATE, *steps]}
    return world_of(read(data))


def played(*steps: dict[str, Any], blueprint: Any = None) -> World:
    return built(*steps, blueprint=blueprint).run()


def signatures(world: World) -> list[Signature]:
    return [finding.signature for finding in findings_of(world, 0)]


PROMOTE = {"do": "promote", "cluster": "tokyo", "after": "1s"}
SPLIT = Signature("one primary", "operator", "request", ("survivor",))


def test_a_lab_in_which_nothing_breaks_has_no_findings():
    assert findings_of(played(), 0) == []


@pytest.mark.parametrize(
    "steps",
    [
        (PROMOTE,),
        ({**PROMOTE, "force": True},),
        ({"do": "partition", "between": ["paris", "tokyo"], "after": "2s"}, {**PROMOTE, "after": "3s"}),
    ],
)
def test_names_options_and_instants_are_not_in_a_signature(steps: tuple[dict[str, Any], ...]):
    assert SPLIT in signatures(played(*steps))


def test_the_names_of_clusters_are_not_either():
    lima = {"do": "replicate", "primary": "paris", "secondary": "lima", "after": "1s"}

    assert signatures(played(lima, {**PROMOTE, "cluster": "lima"}, blueprint=triangle())) == [SPLIT]


def test_what_a_file_says_of_the_whole_run_is_found_too():
    behind = {"name": "close behind", "lag": {"at most": 5}}
    data = {"scenario": "x", "seed": 0, "lab": lab_data(pair()), "timeline": [REPLICATE], "always": [behind]}

    assert [signature.rule for signature in signatures(world_of(read(data)).run())] == ["close behind"]


@pytest.mark.parametrize("name", ["tokens-observed", "streams-shared"])
def test_what_breaks_before_any_is_a_primary_has_one_signature_however_far_the_run_goes(name: str):
    rule = ZOO[name].rule
    with planted(ZOO[name]):
        ended = played()
        stopped = built().run(until=lambda world: rule in world.invariants.broken)

    found = [signature_of(world, world.invariants.broken[rule]) for world in (ended, stopped)]
    assert found[0] == found[1]
    assert found[0].roles == ("other",)


def test_the_earliest_is_first_and_says_what_was_seen():
    found = findings_of(played(PROMOTE), 5)

    assert [(finding.seed, finding.signature) for finding in found] == [(5, SPLIT)]
    assert "paris and tokyo accept writes" in found[0].detail
    assert found[0].at_ns > 2_000_000_000
    assert not found[0].is_exception


def test_what_labkit_raises_is_a_finding_with_the_function_that_raised():
    try:
        World.pair().crash("nowhere")
    except ValueError as error:
        found = exception_of(error, 3, 7)

    assert found == SeedFinding(3, Signature(EXCEPTION, "ValueError", found.signature.what), 7, found.detail)
    assert found.is_exception
    assert found.signature.what.startswith("arguments.")
    assert "nowhere" in found.detail
    assert "nowhere" not in found.signature.text


@pytest.mark.parametrize(
    ("signature", "text"),
    [
        (SPLIT, "one primary, after request of survivor"),
        (Signature("loss within lag", "beginning"), "loss within lag, beginning"),
        (Signature("x", "fault", "flap", ("other", "primary")), "x, after flap of other and primary"),
        (Signature("x"), "x"),
        (Signature(EXCEPTION, "KeyError", "lab.run"), "exception of labkit, KeyError in lab.run"),
        (Signature(" lead\u2028\x7f", "beginning"), "lead ·, beginning"),
    ],
)
def test_a_signature_in_words(signature: Signature, text: str):
    assert signature.text == text
