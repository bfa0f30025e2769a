"""Blocks: where in a text something is, and half a surrogate pair."""

from __future__ import annotations

import pytest

from labkit.vault.policies.blocks import PolicyError, Source, check_surrogates


def test_a_source_names_lines_and_columns() -> None:
    source = Source("a\r\nbc\n")

    assert source.text == "a\nbc\n"
    assert [source.place(at) for at in range(7)] == ["1:1", "1:2", "2:1", "2:2", "2:3", "3:1", "3:2"]
    assert [source.line(at) for at in (0, 2, 5)] == [1, 2, 3]
    assert str(source.error(3, "no")) == "At 2:2: no"


def test_half_a_surrogate_pair_is_refused_at_its_place() -> None:
    source = Source("ab")
    for whole in ("", "plain", "\U0001f600"):
        check_surrogates(source, whole, 1)

    with pytest.raises(PolicyError, match=r"^At 1:2: illegal UTF-8 encoding$"):
        check_surrogates(source, "\udc00", 1)
