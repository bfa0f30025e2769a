"""The page of coverage says what is so: every endpoint stands on it, and tests show each outcome."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.coverage import page
from tests.coverage.endpoints import DOCUMENTED, SPECIFIED
from tests.coverage.harvest import general

# Endpoints that refuse whatever is asked: the seal has no recovery keys, and what has a lease here is a token, which is
# renewed elsewhere.
REFUSING = re.compile(r"\w+ sys/rekey-recovery-key/\w+|write sys/(leases/)?renew(/<\w+>)?")
MAKE_AGAIN = "run python -m tests.coverage.page"


def test_the_page_is_that_of_the_outcomes_that_are_kept() -> None:
    assert page.PAGE.read_text() == page.text(page.kept(), page.built()), MAKE_AGAIN


def test_every_endpoint_that_is_built_has_an_outcome() -> None:
    assert page.built() - page.kept().keys() == set(), MAKE_AGAIN
    assert page.kept().keys() - page.built() == set(), MAKE_AGAIN
    without = [name for name, rows in page.kept().items() if not any(row.status < 300 for row in rows)]
    assert [name for name in without if not REFUSING.fullmatch(name)] == []


def test_every_endpoint_of_the_api_is_on_the_page() -> None:
    shown = page.PAGE.read_text()
    for endpoint in (SPECIFIED + DOCUMENTED).split():
        assert endpoint in page.METHODS or endpoint in shown


def test_every_test_that_shows_an_outcome_is_there(checkout: Path) -> None:
    for test in page.evidence(page.kept()):
        path, _, name = test.partition("::")
        function = name.partition("[")[0].rpartition("::")[2]
        assert f"def {function}(" in (checkout / path).read_text(), f"{test}: {MAKE_AGAIN}"


@pytest.mark.slow
def test_those_tests_show_what_the_page_says() -> None:
    rows = page.kept()
    shown = page.harvested(page.evidence(rows))
    missing = {
        f"{name}: {said}"
        for name, outcomes in rows.items()
        for said in (f"{row.status} {row.words}".rstrip() for row in outcomes)
        if said not in shown.get(name, {})
    }

    assert missing == set(), MAKE_AGAIN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no mount at \"secret/\" or 'kv/'", "no mount at … or …"),
        ("at most 4,096 bytes, 64 segments", "at most n bytes, n segments"),
        ("1 error occurred:\n\t* permission denied\n\n", "n error occurred: * permission denied "),
        ("no migration with the id 6f66b6a8-fcf7-49f1-87a5-acf832f31ed2", "no migration with the id …"),
        ("a\0b ü", "a…b …"),
        ("x" * 200, "x" * 95 + "…"),
    ],
)
def test_what_was_sent_is_left_out_of_words(text: str, said: str) -> None:
    assert general(text) == said


def test_a_recorded_answer_counts_before_any_other_source() -> None:
    recorded = "tests/conformance/test_replay.py::test_the_answers_are_those_recorded[alone-kv2.cas-create]"
    otherwise = "tests/conformance/test_replay.py::test_the_answers_are_those_recorded[lab-core.seal-status]"

    assert page.source(400, "check-and-set", recorded, True) == "recorded"
    assert page.source(400, "check-and-set parameter did not match", "tests/a.py::b", True) == "spec"
    assert page.source(200, "", otherwise, True) == "spec"
    assert page.source(200, "", "tests/a.py::b", False) == "documentation"
