"""What code and texts cite exists: a rule or decision by number, a section or field of the API by name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from labkit.reference import entries, page

SUFFIXES = {".py", ".md", ".ipynb", ".yaml", ".yml", ".toml"}

RULE = re.compile(r"(?<![\w/+-])R\d{1,2}(?![\w/+-])")
DECISION = re.compile(r"\bdecisions?\s+((?:[CKTAD]\d{1,2}(?:,\s+|\s+and\s+)?)+)|\(([CKTAD]\d{1,2})\)")
NUMBER = re.compile(r"[CKTAD]\d{1,2}")

# A section of the API, by its heading, with the number of an item where the section is a list; then fields.  A comment
# at the end of a line of code ends with the line.
SECTION = re.compile(r"\b[Ss]pec,\s+(?P<cited>(?:``\w+``|[^.:;)`])+)")
ITEM = re.compile(r"(?P<section>.+?) (?P<item>\d+)$")


def test_every_citation_resolves(project_files: list[Path], checkout: Path) -> None:
    texts = [path for path in project_files if path.suffix in SUFFIXES and path.name != Path(__file__).name]
    lost = [
        f"{path.relative_to(checkout)}: {name}"
        for path in texts
        for name in unresolved(path.read_text(errors="replace"))
    ]

    assert lost == [], "\n".join(lost)


def test_citations_are_found_at_all(project_files: list[Path]) -> None:
    text = "\n".join(path.read_text() for path in project_files if path.suffix == ".py" and "labkit" in path.parts)

    assert len(RULE.findall(text)) > 20
    assert len(DECISION.findall(text)) > 10
    assert len(SECTION.findall(text)) > 10


@pytest.mark.parametrize(
    "text",
    [
        "valid while it is the same object (R21): no notice",
        "how they are judged (decisions D4, D5 and D8).",
        "names the mode\n(D11).",
        "(spec, Errors 1; decision T1)",
        "(spec, KV v2 engine, ``delete_version_after``)",
        "(spec, ``auto_rotate_period``)",
        "Spec, DR\n    replication; the answers",
    ],
)
def test_what_exists_is_accepted(text: str) -> None:
    assert unresolved(text) == []


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("so be it (R26)", "R26"),
        ("(decisions D4, D24)", "D24"),
        ("(K7)", "K7"),
        ("(spec, Errors 12)", "Errors 12"),
        ("(spec, Key versions)", "Key versions"),
        ("(spec, KV v2 engine, ``no_such_field``)", "no_such_field"),
    ],
)
def test_what_does_not_exist_is_found(text: str, lost: str) -> None:
    assert unresolved(text) == [lost]


def unresolved(text: str) -> list[str]:
    """The citations in a text that lead nowhere."""
    cited = RULE.findall(text)
    cited += [number for listed, single in DECISION.findall(text) for number in NUMBER.findall(listed or single)]
    lost = [name for name in cited if name not in entries_of("rules")]
    for match in SECTION.finditer(text):
        in_comment = "#" in text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        cited_text = match["cited"].splitlines()[0] if in_comment else match["cited"]
        lost += lost_in_api(" ".join(cited_text.split()))
    return lost


@cache
def entries_of(topic: str) -> dict[str, str]:
    """The entries of a page, read once for all texts."""
    return entries(topic)


def lost_in_api(cited: str) -> list[str]:
    fields = re.findall(r"``(\w+)``", cited)
    lost = [field for field in fields if f"`{field}`" not in page("api")]
    section = cited.split(",")[0]
    if section.startswith("``"):
        return lost
    item = ITEM.match(section)
    body = entries_of("api").get(item["section"] if item else section)
    if body is None or (item and f"\n{item['item']}. " not in body):
        return [section, *lost]
    return lost
