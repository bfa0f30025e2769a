"""Exercise three_pages: which names fall into how many pages, and from how many writes on pages are compared."""

from __future__ import annotations

import pytest

from labkit.lessons.damaged_tree.three_pages import ENTRIES, look, start, three_policies, write_policies


def missed(names: str, times: int, secret: bool = False) -> tuple[int, ...]:
    """Return how many pages comparisons found when the line was cut during some writes."""
    lab = start()
    lab.partition("paris", "tokyo")
    if secret:
        lab["paris"].post("secret/data/orders/7", {"data": {"item": "rope 7"}})
    write_policies(lab, names, times)
    lab.run("2s")
    lab.heal()
    return look(lab).compared


def test_who_missed_more_than_is_remembered_compares():
    assert missed("a", ENTRIES) == ()
    assert missed("a", ENTRIES + 1) == (1,)


@pytest.mark.parametrize(("names", "secret", "pages"), [("ab", False, 2), ("abc", False, 3), ("a", True, 3)])
def test_a_policy_is_one_value_and_a_secret_is_two(names, secret, pages):
    assert missed(names, 10, secret) == (pages,)


def test_what_differs_can_be_seen_before_the_line_is_healed():
    lab = start()
    lab.partition("paris", "tokyo")
    write_policies(lab, "abc", 4)

    assert "3 pages differ from tokyo's" in repr(lab["paris"].merkle("tokyo"))


def test_an_equal_pair_streams_and_has_equal_roots():
    lab = start()
    three_policies(lab)
    assert look(lab).equal
    lab["tokyo"].disable()
    assert not look(lab).equal
    assert look(lab).others == ("disabled", "replication_stopped")
