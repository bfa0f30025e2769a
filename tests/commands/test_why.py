"""run --why: a paragraph for each broken rule and for each expectation that was not met."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labkit import Lab
from labkit.cli import main
from labkit.commands.playing import judged
from labkit.commands.why import causes

Written = Callable[[str, str], str]

SPLIT = """\
scenario: Two primaries
lab:
  sites: [paris, tokyo, lisbon]
  links:
    - {between: [paris, tokyo], latency: 80ms}
    - {between: [lisbon, paris], latency: 15ms}
    - {between: [lisbon, tokyo], latency: 90ms}
  clusters:
    paris: {site: paris}
    tokyo: {site: tokyo}
  clients:
    shop: {site: lisbon, use: [paris], work: [{do: put-secret, every: 200ms, from: 3s, until: 6s}]}
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}
  - {do: partition, between: [paris, tokyo], at: 4s}
  - {do: promote, cluster: tokyo, after: 1s}
end: 7s
expect:
  lost: 0
  refused: {at least: 1}
  invariants: {one primary: broken}
"""


def test_a_run_says_what_led_to_what(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-q", "--why", written("x.lab.yaml", SPLIT)]) == 1

    said = capsys.readouterr().out
    assert "\nwhy one primary:\n1. " in said
    assert "\nwhy lost:\n1. " in said
    assert "root: an operator asked, at 5." in said
    assert "[row " not in said  # nobody has the rows of a trace at hand there
    assert "\nwhy: no operation is refused in this lab\n" in said


def test_without_it_a_run_says_nothing_of_that(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "-q", written("x.lab.yaml", SPLIT)])

    assert "why" not in capsys.readouterr().out


@pytest.mark.slow
def test_of_what_was_as_expected_only_broken_rules_are_explained(written: Written) -> None:
    good = SPLIT.replace("lost: 0", "lost: {at least: 1}").replace("  refused: {at least: 1}\n", "")
    lab = Lab.load(written("x.lab.yaml", good)).run()

    assert [text.splitlines()[0] for text in causes(lab, judged(lab))] == ["why one primary:"]
