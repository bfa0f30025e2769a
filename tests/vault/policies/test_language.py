"""The language of policies: what texts mean, what is refused and in which words, and that nothing else ever happens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labkit.vault.policies.blocks import Block, Item, Listing, Literal, PolicyError, Source
from labkit.vault.policies.language import parse
from tests.examples import examples
from tests.vault.policies.plain_blocks import read, refusal

NAMES = st.from_regex(r"[a-z_][a-z0-9_.-]{0,8}", fullmatch=True).filter(lambda name: name not in ("true", "false"))
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\0b", "At 1:2: unexpected null character (0x00)"),
        ("a = '\ud800'", "illegal UTF-8 encoding"),
    ],
)
def test_what_no_text_may_hold_is_refused(text, message) -> None:
    assert message in refusal(text)


def test_places_are_where_keys_begin() -> None:
    hcl = Source('# é\npath "x" {\n  a = 1\n  "b" = [2]\n}\nname = "a"')
    same = Source('{\n"path": {"x": {\n  "a": "a \\" a",\n  "b": ["a"]\n}},\n"name": "a"}')

    for source, lines in ((hcl, (2, 3, 4, 6)), (same, (2, 3, 4, 6))):
        path, name = parse(source).items
        assert isinstance(path.value, Block)
        a, b = path.value.items
        assert tuple(source.line(item.at) for item in (path, a, b, name)) == lines
    assert [hcl.place(item.at) for item in parse(hcl).items] == ["2:1", "6:1"]


def shown(value: Any) -> str:
    """Write a plain value as HCL."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "[" + ", ".join(shown(part) for part in value) + "]"
    return "{ " + "\n".join(f"{quoted(key)} = {shown(part)}" for key, part in value.items()) + " }"


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("${", "\\x24{")
    return f'"{escaped}"'


def expected(value: Any) -> Any:
    if isinstance(value, dict):
        return [((key,), expected(part)) for key, part in value.items()]
    if isinstance(value, list):
        return [expected(part) for part in value]
    return ("number", str(value)) if isinstance(value, int) and not isinstance(value, bool) else value


# Lists of objects alone are left out: in JSON they are their key once for each (``json_form``).
SCALARS = st.booleans() | st.integers(-(10**20), 10**20) | TEXTS
LISTS = st.lists(SCALARS | st.lists(SCALARS, max_size=2), max_size=3)
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    NAMES, st.deferred(lambda: SCALARS | LISTS | OBJECTS), max_size=3
)


@settings(max_examples=examples(150))
@given(OBJECTS.filter(lambda value: "path" not in value))
@example({"a": "\r\n", "b": "\r"})
def test_what_is_written_is_read_as_the_same_in_both_forms(value) -> None:
    hcl = "\n".join(f"{quoted(key)} = {shown(part)}" for key, part in value.items())

    assert read(hcl.replace("\r\n", "\\r\n")) == expected(value)
    assert read(json.dumps(value)) == expected(value)
    assert read(json.dumps(value, indent=2, ensure_ascii=False)) == expected(value)


PIECES = st.sampled_from(
    [
        *("path", '"x"', "{", "}", "[", "]", "=", ",", ":", "\n", " ", "# c\n", "// c\n", "/* c */", "/*", "*/"),
        *(
            '"',
            "\\",
            "${",
            "$",
            "<<E\n",
            "<<-E\n",
            "E\n",
            "  E\n",
            "-",
            "+",
            ".",
            "1",
            "0x",
            "1.5",
            "1e",
            "true",
            "null",
        ),
        *('a "b" {\n', "c = 1\n", 'd = ["e"]\n', "}\n"),
        *("capabilities", '"read"', '"\\u00"', "\r\n", "\0", "é", "\ud800", "\u2028"),
    ]
)


@settings(max_examples=examples(400))
@given(
    st.text()
    | st.lists(PIECES, max_size=25).map("".join)
    | st.lists(PIECES, max_size=25).map(lambda p: "{" + "".join(p))
)
@example('path "a" { capabilities = ["read"] }\nb = 1\nc = [d, {}]\n')
@example("/*" * 5_000)
@example("/***" * 5_000)
@example('"${' * 5_000)
@example("<<E\n" * 2_000)
def test_any_text_gives_a_block_or_a_policy_error(text) -> None:
    try:
        block = parse(Source(text))
    except PolicyError as error:
        said = str(error)
        assert said
    else:
        assert all(isinstance(item, Item) and item.keys for item in block.items)
        assert all(isinstance(item.value, (Block, Listing, Literal)) for item in block.items)
