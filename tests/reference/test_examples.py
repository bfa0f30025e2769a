"""Every verb has an example; each is a valid file, uses its verb and runs as expected."""

from __future__ import annotations

import pytest

from labkit.commands.playing import run_lab
from labkit.front.lab import Lab
from labkit.reference import entry, page
from labkit.reference.examples import EXAMPLES
from labkit.scenario.loading import loads
from labkit.scenario.running import Run
from labkit.scenario.verbs import VERBS
from labkit.scenario.verdict import judge


def test_every_verb_has_an_example() -> None:
    assert list(EXAMPLES) == list(VERBS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_as_expected(name: str) -> None:
    scenario = loads(EXAMPLES[name].text.encode())
    lab = Lab(scenario.blueprint, seed=scenario.seed)
    lab.scenario = Run(lab.parts, lab.faults, lab.invariants, scenario)
    run_lab(lab, quiet=True)
    verdict = judge(lab.scenario, lab.queries, lab.ledger, lab.invariants)

    assert name in {step.verb for step in scenario.timeline}
    assert verdict.exit_code == 0, str(verdict)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_stands_in_the_verbs_entry_as_a_file(name: str) -> None:
    text = entry("verbs", name)

    assert text.endswith(f"\n\n{EXAMPLES[name].text.rstrip()}")
    assert EXAMPLES[name].text not in page("verbs")


def test_titles_differ() -> None:
    assert len({example.title for example in EXAMPLES.values()}) == len(EXAMPLES)
