"""Exercise search: marks of two tenants, and of a service with other keys."""

from __future__ import annotations

import pytest

from labkit.lessons.kept_keys.search import beside_it, convergent, look, untouched


@pytest.mark.parametrize("function", [convergent, beside_it])
def test_a_good_mark_is_equal_only_where_it_should_be(function):
    seen = look(function)

    assert seen.again == seen.marks[0][0] != seen.elsewhere
    assert len({mark for row in seen.marks for mark in row}) == 4


def test_a_function_that_returns_nothing_is_untouched():
    assert untouched(lambda vault, tenant, email: None)
    assert not untouched(convergent)
    assert look(lambda vault, tenant, email: [].pop()).error == "IndexError: pop from empty list"
