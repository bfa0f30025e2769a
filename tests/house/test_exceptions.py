"""Every exception from a rule of a tool names the rule and says on its line why."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

# The directives of ruff, mypy and coverage that switch something off.
DIRECTIVE = re.compile(r"#\s*(?P<kind>noqa|type:\s*ignore|ruff:|mypy:|flake8:|fmt:|pragma:|pyright:)(?P<rest>.*)")

# The rules, then the reason.
RULES = {
    "noqa": re.compile(r":\s*(?:[A-Z]+[0-9]+)(?:[,\s]+[A-Z]+[0-9]+)*(?P<reason>.*)"),
    "type:ignore": re.compile(r"\[[a-z, -]+\](?P<reason>.*)"),
}


@pytest.mark.slow
def test_every_exception_has_its_reason(python_files: list[Path], checkout: Path) -> None:
    bare = [f"{path.relative_to(checkout)}:{line}" for path in python_files for line in unreasoned(path.read_text())]

    assert bare == [], "\n".join(bare)


@pytest.mark.parametrize(
    "comment",
    [
        "noqa",
        "noqa: E501",
        "noqa: E501, A002",
        "noqa: E501 -",
        "type: ignore",
        "type: ignore[attr-defined]",
        "type: ignore  # because of the stubs",
        "fmt: off",
        "ruff: noqa: E501 because it is so",
        "mypy: disallow-any-expr",
    ],
)
def test_a_bare_exception_is_found(comment: str) -> None:
    assert unreasoned(f"x = 1\ny = 2  # {comment}\n") == [2]


@pytest.mark.parametrize(
    "comment",
    [
        "noqa: N818 - named for its meaning, as a refusal",
        "noqa: N818, A001  the API's own word for it",
        "type: ignore[attr-defined]  # the stubs lack it",
        "an ordinary comment",
        "the type: it is ignored",
    ],
)
def test_a_reasoned_exception_passes(comment: str) -> None:
    assert unreasoned(f"y = 2  # {comment}\n") == []


def test_a_text_that_looks_like_a_comment_is_none() -> None:
    assert unreasoned("y = '# noqa'\n") == []


def unreasoned(source: str) -> list[int]:
    """The lines whose exception lacks its rule or a reason of at least two words."""
    found: list[int] = []
    if not DIRECTIVE.search(source):
        return found
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        directive = token.type == tokenize.COMMENT and DIRECTIVE.match(token.string)
        if not directive:
            continue
        # What switches off a whole file or a region has no rule here: there is always a narrower way.
        rule = RULES.get(directive["kind"].replace(" ", ""))
        said = rule.match(directive["rest"]) if rule else None
        if not said or len(re.findall(r"[A-Za-z]{2,}", said["reason"])) < 2:
            found.append(token.start[0])
    return found
