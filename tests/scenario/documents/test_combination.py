"""A combination is called alike everywhere, and no two are called the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.scenario.documents.combination import NO_COMBINATION, Combination
from tests.examples import examples


def test_readers_meet_it_as_it_is_written() -> None:
    found = Combination((("latency", "80ms"), ("nodes", 3), ("fencing", False)))

    assert (found.text, found.id) == ("latency: 80ms, nodes: 3, fencing: false", "latency=80ms-nodes=3-fencing=false")
    assert (NO_COMBINATION.text, NO_COMBINATION.id) == ("", "")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(("80ms", "80ms"), (1.5, "1.5"), (3, "3"), (True, "true"), ("-90s", "%2D90s"), ("a b", "a%20b")),
        *(("a_b", "a%5Fb"), ("50%", "50%25"), ("é", "%C3%A9"), ("[x]", "%5Bx%5D"), ("a=b", "a%3Db"), ("", "")),
    ],
)
def test_an_id_escapes_what_is_no_letter_digit_or_dot(value: object, text: str) -> None:
    assert Combination((("v", value), ("w", 1))).id == f"v={text}-w=1"


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4)), min_size=2, max_size=2, unique=True))
def test_no_two_combinations_have_one_id(rows: list[tuple[str, str]]) -> None:
    one, other = (Combination(tuple(zip(("a", "b-c"), row, strict=True))) for row in rows)

    assert one.id != other.id
