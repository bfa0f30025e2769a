"""The names of what users hold, as pages show them: how it is called, what it does, a line that shows it."""

from __future__ import annotations

import pytest

from labkit.front import names_page
from labkit.reference.python_examples import EXAMPLES, ON_PAGE


def test_a_row_says_how_a_name_is_called_what_it_does_and_shows_it() -> None:
    assert names_page.row("Vault", "drop_next").splitlines() == [
        "**Vault.drop_next**(times=1, *, when='before', path='*', method=None)",
        "    Let the next requests to a path get no answer, before or after they are carried out.",
        '    `vault.drop_next(when="after", path="secret/*")`',
    ]
    assert names_page.row("Lab", "now").splitlines()[0] == "**Lab.now**"


def test_a_class_method_is_called_without_its_class() -> None:
    assert names_page.row("Lab", "load").startswith(
        "**Lab.load**(path, seed=None)\n    Build the lab of a scenario file;"
    )


def test_a_name_of_two_classes_has_a_row_of_each() -> None:
    assert [line for line in names_page.rows("lab", "seal").splitlines() if line.startswith("**")] == [
        "**Lab.seal**(cluster)",
        "**Cluster.seal**()",
    ]
    assert names_page.rows("lab", "none") == names_page.rows("words", "seal") == names_page.section("words") == ""


@pytest.mark.parametrize("topic", ON_PAGE)
def test_a_section_has_every_name(topic: str) -> None:
    text = names_page.section(topic)

    for holder in ON_PAGE[topic]:
        assert f"## every name of {holder}\n" in text
        assert [name for name in EXAMPLES[holder] if f"\n**{holder}.{name}**" not in text] == []
