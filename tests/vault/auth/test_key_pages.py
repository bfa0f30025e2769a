"""Pages of a list: together they are the whole of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.errors import NotFound
from labkit.vault.auth.key_pages import listed

names = st.lists(st.text("abc", min_size=1, max_size=3), unique=True).map(sorted)


@pytest.mark.parametrize(
    ("after", "limit", "page"),
    [("", 0, "abd"), ("", 2, "ab"), ("a", 1, "b"), ("c", 0, "d"), ("", -1, "abd"), ("b", 9, "d")],
)
def test_a_page(after: str, limit: int, page: str) -> None:
    assert listed(["a", "b", "d"], after, limit) == {"keys": [*page]}


@pytest.mark.parametrize(("kept", "after"), [([], ""), (["a"], "a"), (["a"], "b")])
def test_an_empty_page_is_not_found(kept: list[str], after: str) -> None:
    with pytest.raises(NotFound):
        listed(kept, after, 0)


@given(names, st.integers(1, 4))
def test_the_pages_are_the_list(kept: list[str], limit: int) -> None:
    found: list[str] = []
    while len(found) < len(kept):
        found += listed(kept, found[-1] if found else "", limit)["keys"]
    assert found == kept
