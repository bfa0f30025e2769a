"""A text that is not YAML is explained on the line of the mistake, with what to do, by either of PyYAML's parsers."""

from __future__ import annotations

import pytest
import yaml

from labkit.scenario.documents import yaml_positions
from labkit.scenario.documents.yaml_mistakes import Mistake, explain
from labkit.scenario.documents.yaml_positions import parse
from labkit.scenario.problems import FileProblem, ScenarioError

# The text, where the problem is, and words that the reader gets.
MISTAKES = {
    "a tab": ("lab:\n\tsites: [a]\n", (2, 1), "expected spaces, got a tab"),
    "a tab after spaces": ("lab:\n  sites: [a]\n  \tlinks: []\n", (3, 3), "expected spaces, got a tab"),
    "a tab after a dash": ("t:\n  -\tdo: crash\n  \tat: 5s\n", (2, 4), "expected spaces, got a tab"),
    "a tab below a title": ("scenario: A title\n\tabout: x\n", (2, 1), "expected spaces, got a tab"),
    "a colon in a title": ("scenario: A lab: first\nlab: 1\n", (1, 16), 'put a text into quotes: "A lab: first"'),
    "a colon in a step": ("t:\n  - {do: note, text: at 5: x}\n", (2, 26), "or quotes around a text with a colon"),
    "two keys on a line": ("lab: sites: [a]\n", (1, 11), "or a second key on a line of its own"),
    "a key below a title": ("scenario: x y\n  about: z\n", (2, 3), "after no space, got 2 spaces"),
    "a key below a quoted title": ("scenario: 'x'\n  about: z\n", (2, 3), "no space as on line 1 before 'about'"),
    "deeper than above": ("lab:\n  sites: [a]\n    links: []\n", (3, 5), "2 spaces as on line 2 before 'links', got 4"),
    "between two levels": ("a:\n  b:\n    c: 1\n   d: 1\n", (4, 4), "2 spaces as on line 2 or 4 spaces as on line 3"),
    "a key among items": ("t:\n  - {do: a}\n  end: 5s\n", (3, 3), "expected '- ' and an item as on line 2, got 'end'"),
    "a list among keys": ("l:\n  a: 1\n  b: 2\n  - {c: 3}\n", (4, 3), "expected a key as on line 3, got '-'"),
    "keys after an item": ("l:\n    - p: {a: 1}\n    t: {a: 1}\n", (3, 5), "items and keys do not mix"),
    "an item without its dash": ("t:\n  - {do: a}\n    {do: b}\n", (3, 5), "expected '- ' before '{' as on line 2"),
    "an item at its dash": (
        "t:\n  - {do: a}\n\n  {do: b}\n",
        (4, 3),
        "expected '- ' before '{' as on line 2, got none",
    ),
    "a first key at its dash": (
        "t:\n  - do: a\n  do:b  # b\nend: 5s\n",
        (3, 5),
        "expected a space after 'do:', got none",
    ),
    "an item too deep": ("t:\n  - {do: a}\n    - {do: b}\n", (3, 5), "2 spaces as on line 2 before '-', got 4 spaces"),
    "no space after a colon": (
        "scenario:A lab\nlab:\n  x: 1\n",
        (1, 9),
        "expected a space after 'scenario:', got none",
    ),
    "no space among keys": ("a: 1\nseed:7   # x\nlab: 1\n", (2, 5), "expected a space after 'seed:', got none"),
    "a text and a comment": ("a: 1\nseed  # x\nlab: 1\n", (2, 1), "got 'seed'; indent a text"),
    "no space in a step": ("t:\n  - do:crash\n    at: 5s\n", (2, 7), "expected a space after 'do:', got none"),
    "no space after a dash": ("t:\n  -{do: crash}\n  - {do: x}\n", (2, 3), "expected a space after '-', got none"),
    "an equals sign": ("scenario = x\nlab: 1\n", (1, 1), "expected a key and a value such as 'seed: 7'"),
    "no comma": ("t:\n  - {do: crash target: paris}\n", (2, 22), "put a comma between two keys"),
    "no comma between items": ("t: [{a: 1} {b: 2}]\n", (1, 12), "or put a comma between two values"),
    "a bracket left open": ("sites: [paris, tokyo\nlinks:\n - x\n", (1, 8), "close the bracket that opens here"),
    "a letter left open": ("sites: [a\nlinks: 1\n", (1, 8), "close the bracket that opens here"),
    "a step left open": ("t:\n  - {do: a, target: b\n  - {do: c}\n", (2, 5), "expected '}' on this line, got none"),
    "open over lines": ("sites: [\n  a,\n  b c: d\n  e: 1\n", (4, 4), "close the bracket of line 1"),
    "open at the end": ("sites: [\n  a,\n  b\n", (1, 8), "got the end of the file; close the bracket"),
    "a brace too many": ("t:\n  - {do: crash}}\n", (2, 16), "got one more than were opened"),
    "a bracket too many": ("sites: [a]]\nlinks: 1\n", (1, 11), "got one more than were opened"),
    "a bracket too many after quotes": ("sites: ['a']]\nb: 1\n", (1, 13), "got one more than were opened"),
    "a quote left open": ("scenario: 'A lab\nlab: 1\n", (1, 11), "got the end of the file"),
    "a quote closed below": (
        "scenario: 'A lab\nlab: 'x'\n",
        (1, 11),
        "expected a second ' on this line, got it on line 2",
    ),
    "a quote in quotes": ("- {text: 'it's broken'}\n", (1, 14), 'put all of it into " quotes'),
    "a quoted beginning": ('scenario: "Losing" a region\n', (1, 20), "put all of it into ' quotes"),
    "a wrong escape": ('a: "\\d"\n', (1, None), "put the text into single quotes"),
    "half a character": ('a: "x\\ud800"\n', (1, None), "expected "),
    "a sign of YAML's": ("scenario: @home\n", (1, 11), "got '@' as its first character; put the text into quotes"),
    "a text at the margin": ("about: >\ntext here\nlab: 1\n", (2, 1), "indent a text that belongs to the line above"),
    "a list after its key": ("timeline: - {do: a}\n", (1, 11), "begin a list on the line below its key"),
    "a text after its sign": ("about: > one\n", (1, None), "a text after > or | begins on the next line"),
    "two commas": ("sites: [a,,b]\n", (1, 11), "expected a value, got none"),
    "a starred title": ("scenario: **Big**\n", (1, None), "put a text that begins with it into quotes"),
    "more after the end": ("{a: 1}\n{b: 2}\n", (2, 1), "expected the end of the file, got '{' after its mapping"),
    "a wide space": (
        "lab:\n\u00a0\u00a0sites: [a]\n",
        (2, 1),
        "expected a space before the key, got the character U+00A0",
    ),
}


# How many characters the carets stand under, where it is more than one; None where the two parsers differ.
LENGTHS: dict[str, int | None] = {
    "a key below a title": len("about"),
    "a key below a quoted title": len("about"),
    "deeper than above": len("links"),
    "a key among items": len("end"),
    "a text at the margin": len("text here"),
    "a text and a comment": len("seed"),
    "a wide space": len("..sites"),
    "half a character": None,
}


@pytest.fixture(params=[name for name in ("CSafeLoader", "SafeLoader") if hasattr(yaml, name)])
def either_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read with the parser in C, then with the one in Python."""
    monkeypatch.setattr(yaml_positions, "_LOADER", getattr(yaml, request.param))


@pytest.mark.usefixtures("either_parser")
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_where_it_was_made(name: str) -> None:
    text, (line, column), words = MISTAKES[name]
    (problem,) = problems_of(text)

    assert (problem.position.line, problem.position.column if column else None) == (line, column)
    assert words in problem.text
    assert problem.text.startswith("expected ")
    assert LENGTHS.get(name, 1) in (problem.position.length, None)


def test_what_is_not_recognised_keeps_the_parsers_words() -> None:
    mistake = Mistake("while dreaming, found a sheep", ["a: b"], 0, 3)

    assert explain(mistake).text == "expected YAML, but while dreaming, found a sheep"


def test_a_tab_behind_the_mistake_is_none() -> None:
    before, at = (explain(Mistake("while dreaming", [" \tb"], 0, column)) for column in (0, 1))

    assert before.text == "expected YAML, but while dreaming"
    assert (at.position.column, at.text[:29]) == (2, "expected spaces, got a tab; Y")


@pytest.mark.parametrize(("length", "example"), [(60, True), (61, False), (80, False)])
def test_a_long_title_is_not_repeated(length: int, example: bool) -> None:
    title = f"{'x' * (length - 3)}: y"
    (problem,) = problems_of(f"scenario: {title}\n")

    assert (f'into quotes: "{title}", or' if example else "put a text into quotes, or") in problem.text


def problems_of(text: str) -> tuple[FileProblem, ...]:
    with pytest.raises(ScenarioError) as caught:
        parse(text.encode(), "x")
    return caught.value.problems
