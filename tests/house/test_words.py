"""What no file of the project says: where it was written, whose index serves it, what is left for later.

What readers see is in plain words too: four that the house avoids are looked for in the package and its texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

# The patterns are put together from pieces, so that this file does not say what it forbids.  They are looked for in
# text in lower case, which takes a third of the time that it takes to look past the case.
FORBIDDEN = {
    "a path of some machine": (
        r"/(?:wo" r"rk|far" r"m)/|/tmp/(?:stud" r"io|bash_" r"jobs)|/ro" r"ot/|/opt/whe" r"els|/ho" r"me/\w"
    ),
    "notes that are no part of the project": (
        r"\bsha"
        r"red/(?:spec|reference|conformance|hooks)|recorded-"
        r"facts|the reference "
        r"file"
        r"|\b(?:design|rules|decisions|http-core|kv-v2|dr-replication|cloud-auth|libraries)\.m"
        r"d\b"
    ),
    "how it came about": (
        r"language mo"
        r"del|chat"
        r"gpt|clau"
        r"de|anthro"
        r"pic"
        r"|open"
        r"ai\b|copi"
        r"lot|sub-?age"
        r"nt"
    ),
    "the bare name, which belongs to a stranger": r"pip3? inst" r"all (?:-\S+ )*[\"']?labkit(?![\w.-])",
    "the address of a package index": r"pypi\.o"
    r"rg|pythonho"
    r"sted|--(?:extra-)?index-u"
    r"rl|pip_index_u"
    r"rl",
}
CAPITALS = (
    r"(?<![\w+/=])(?:A"
    r"I|LL"
    r"M)(?![\w+/=])"
)

# A test may be left out for want of a browser, or of a Python for it, which no package index has; nothing else is.
MAY_BE_LEFT_OUT = (
    r"tests/browser\.py:\d+ in_a_browser = |tests/axe\.py:\d+ with_axe = |"
    r"tests/lessons/test_site_in_a_browser\.py:\d+ (?:with_wheels = |\s*pytest\.)"
)

UNFINISHED = (
    r"\bTO"
    r"DO\b|\bFIX"
    r"ME\b|\bXX"
    r"X\b|NotImplemented"
    r"Error|mark\.(?:sk"
    r"ip|xf"
    r"ail)|pytest\.sk"
    r"ip"
)


# Plain words: reported, again, ignored, is not.  A name of code counts like a word of prose.
AVOIDED = re.compile(
    r"(?<![a-z])to"
    r"ld(?![a-z])|(?<![a-z])ane"
    r"w(?![a-z])|(?<![a-z])nobody['’]s(?![a-z])|\bis\s+(?:#\s*)?no\b(?!\s+longer)",
    re.IGNORECASE,
)
READ_BY_PEOPLE = ("labkit", "notebooks", "scenarios", "README.md", ".github", "Makefile", "pyproject.toml")
TEXTS = {".py", ".md", ".ipynb", ".yaml", ".yml", ".js", ".svg", ".toml", ""}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names(what: str, project_files: list[Path], checkout: Path) -> None:
    pattern = re.compile(FORBIDDEN[what])

    found = [said for path in project_files for said in matches(pattern, path, checkout, lowered_text_of)]

    assert found == [], "\n".join(found)


def test_no_file_names_how_it_came_about_in_capitals(project_files: list[Path], checkout: Path) -> None:
    pattern = re.compile(CAPITALS)

    found = [said for path in project_files for said in matches(pattern, path, checkout)]

    assert found == [], "\n".join(found)


def test_what_is_forbidden_is_found_in_any_case(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("pip\nPIP Inst" + "all LabKit\nby an A" + "I\n")

    pattern = re.compile(FORBIDDEN["the bare name, which belongs to a stranger"])
    assert matches(pattern, path, tmp_path, lowered_text_of) == ["a.md:2 pip inst" + "all labkit"]
    assert matches(re.compile(CAPITALS), path, tmp_path) == ["a.md:3 by an A" + "I"]


def test_words_are_plain(project_files: list[Path], checkout: Path) -> None:
    texts = [path for path in project_files if path.relative_to(checkout).parts[0] in READ_BY_PEOPLE]
    found = [
        f"{path.relative_to(checkout)}:{said}"
        for path in texts
        if path.suffix in TEXTS
        for said in avoided(prose(path))
    ]

    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "as it was to" + "ld",
        "to" + "ld = 1",
        "self.to" + "ld_at",
        "begins ane" + "w",
        "nobody" + "'s",
        "there is" + " no key",
        "it is" + "\nno key",
        "# it is" + "\n# no key",
    ],
)
def test_a_word_that_is_avoided_is_found(text: str) -> None:
    assert len(avoided(text)) == 1


def test_words_that_only_contain_one_are_accepted() -> None:
    assert avoided("it is not a threshold; the oldest, renewed for of nobody; this no; is known") == []


@pytest.mark.slow
def test_nothing_is_left_unfinished(python_files: list[Path], checkout: Path) -> None:
    pattern = re.compile(UNFINISHED)

    left_out = re.compile(MAY_BE_LEFT_OUT)
    found = [said for path in python_files for said in matches(pattern, path, checkout) if not left_out.match(said)]

    assert found == [], "\n".join(found)


def test_the_bare_name_is_distinguished_from_the_distribution() -> None:
    pattern = re.compile(FORBIDDEN["the bare name, which belongs to a stranger"])
    verb = "pip inst" + "all "

    assert pattern.search(verb + "labkit\n")
    assert pattern.search(verb + '--upgrade "labkit[serve]"')
    assert not pattern.search(verb + "labkit-secrets")
    assert not pattern.search(verb + "labkit_secrets-0.1.0-py3-none-any.whl")
    assert not pattern.search(verb + "'.[serve]'")


def prose(path: Path) -> str:
    """The text of a file; of a notebook only what its Markdown cells say."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def avoided(text: str) -> list[str]:
    """Each word of a text that the house avoids, as `line word`."""
    return [f"{text.count(chr(10), 0, match.start()) + 1} {match.group()}" for match in AVOIDED.finditer(text)]


@cache
def text_of(path: Path) -> str:
    """The text of a file, read once for all that is looked for; empty for one that is none."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


@cache
def lowered_text_of(path: Path) -> str:
    """The same in lower case."""
    return text_of(path).lower()


def matches(
    pattern: re.Pattern[str], path: Path, checkout: Path, reading: Callable[[Path], str] = text_of
) -> list[str]:
    """Each line of a text file that a pattern is found in, as `path:line text`."""
    name = str(path.relative_to(checkout))
    text = reading(path)
    if not pattern.search(text):
        return []
    lines = enumerate(text.splitlines(), 1)
    return [f"{name}:{number} {line.strip()}" for number, line in lines if pattern.search(line)]
