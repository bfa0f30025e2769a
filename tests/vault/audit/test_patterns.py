"""Patterns: what they match, as Python's own expressions do; what is no pattern; the work they take."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.vault.audit.patterns import MAX_KEPT, MAX_STATES, Pattern, _Reader, compiled
from tests.counting import calls_made


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("", ["", "a"], []),
        ("b", ["b", "abc"], ["", "ac"]),
        ("^b", ["b", "bc"], ["ab"]),
        ("b$", ["b", "ab"], ["ba"]),
        ("^$", [""], ["a"]),
        ("^a.c$", ["abc", "a/c"], ["ac", "a\nc", "abbc"]),
        ("^ab*c$", ["ac", "abbbc"], ["abb"]),
        ("^ab+c$", ["abc", "abbc"], ["ac"]),
        ("^ab?c$", ["ac", "abc"], ["abbc"]),
        ("^a{3}$", ["aaa"], ["aa", "aaaa"]),
        ("^a{2,}$", ["aa", "aaaaa"], ["a"]),
        ("^a{2,3}$", ["aa", "aaa"], ["a", "aaaa"]),
        ("^a{0}b{0,1}$", ["", "b"], ["a", "bb"]),
        ("^(ab|c|)$", ["ab", "c", ""], ["a", "abc"]),
        ("^(?:ab)+?$", ["ab", "abab"], ["", "aba"]),
        ("^secret/(data|metadata)/[^/]+$", ["secret/data/a"], ["secret/data/a/b", "secret/data/"]),
        (r"^[a-c\d_-]+$", ["ab_9-"], ["d", ""]),
        ("^[]a]+$", ["]a"], ["b"]),
        ("^[^]a]$", ["b"], ["]", "a"]),
        (r"^[\W]$", ["/"], ["a", "_"]),
        (r"^[^\D]$", ["5"], ["a"]),
        (r"^\w\s\d\.\\$", ["a 1.\\"], ["a 1x\\"]),
        (r"^\D\S\W$", ["ab/"], ["1b/", "a b", "abc"]),
        (r"^\t\n$", ["\t\n"], ["tn"]),
        ("^(a*)*$", ["", "aaa"], ["b"]),
        ("^(){999}(a?){3}$", ["", "aaa"], ["aaaa"]),
        ("^((((){999}){999}){999}){999}$", [""], ["a"]),
        ("é|ß", ["café"], ["cafe"]),
    ],
)
def test_what_a_pattern_matches(pattern: str, matching: list[str], others: list[str]) -> None:
    assert [text for text in matching if not compiled(pattern).found_in(text)] == []
    assert [text for text in others if compiled(pattern).found_in(text)] == []


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "a group that is not closed"),
        (")", "a closing parenthesis without an opening one"),
        ("a)", "a closing parenthesis"),
        ("[a", "a set that is not closed"),
        ("[", "a set that is not closed"),
        ("[z-a]", "a range in a set"),
        (r"[a-\d]", "a range in a set"),
        (r"[\d-z]", "a range in a set"),
        (r"[\s-z]", "a range in a set"),
        ("[[:alpha:]]", "a class with a name"),
        ("*a", r"nothing before \*"),
        ("a**", "a repetition of a repetition"),
        ("a{2}{3}", "a repetition of a repetition"),
        ("a{", "a repetition is"),
        ("a{x}", "a repetition is"),
        ("a{,3}", "a repetition is"),
        ("a{1000}", "a repetition is"),
        ("a{3,2}", "a repetition from 3 to 2"),
        ("a{999}", f"more than {MAX_STATES} states"),
        ("(((a{9}){9}){9}){9}", "more than"),
        ("(" * 60 + ")" * 60, "nested deeper than 50"),
        ("(?i)a", "a group begins with"),
        ("(?=a)", "a group begins with"),
        (r"(a)\1", "an escape that is not known"),
        (r"\ba", "an escape that is not known"),
        ("a\\", "an escape that is not known"),
    ],
)
def test_what_is_no_pattern(pattern: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        compiled(pattern)


PARTS = st.recursive(
    st.sampled_from(["a", "b", "/", ".", "[ab]", "[^a]", r"\w", r"\W", "^", "$", "(?:)"]),
    lambda part: st.one_of(
        st.lists(part, min_size=1, max_size=3).map("".join),
        st.lists(part, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(part, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,2}?", "{2,}"])).map(
            lambda both: f"(?:{both[0]}){both[1]}"
        ),
    ),
    max_leaves=6,
)


@given(PARTS, st.lists(st.text("ab/", max_size=6), min_size=1, max_size=4))
def test_it_agrees_with_pythons_expressions(pattern: str, texts: list[str]) -> None:
    expected = re.compile(pattern, re.ASCII)

    for text in texts:
        assert compiled(pattern).found_in(text) is (expected.search(text) is not None), (pattern, text)


@pytest.mark.parametrize("pattern", ["^(a*)*b$", "(a|aa)+$", "(a|a?)+c", "^(a?){30}a{30}x"])
def test_the_work_grows_with_the_text_and_no_faster(pattern: str) -> None:
    def work(size: int) -> int:
        made = Pattern(compiled_tree(pattern))
        return calls_made(lambda: made.found_in("a" * size + "!"))

    assert work(2_000) < 5 * work(500) + 2_000


def compiled_tree(pattern: str) -> tuple:
    return _Reader(pattern).either(0)


def test_what_is_kept_is_bounded() -> None:
    pattern = Pattern(compiled_tree("a.{12}c"))
    for number in range(100):
        assert not pattern.found_in(
            "".join("ab"[number * 7_919 + place * place >> place % 7 & 1] for place in range(60))
        )

    assert len(pattern._kept) <= MAX_KEPT
    assert repr(pattern) == "Pattern(15 states)"
