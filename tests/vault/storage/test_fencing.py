"""Fencing: the newest term and later ones may commit, an older one may not."""

from __future__ import annotations

import pytest

from labkit.vault.storage.fencing import StaleTerm, check_term


@pytest.mark.parametrize("term", [7, 8])
def test_the_newest_term_and_later_ones_pass(term):
    check_term(term, 7)


def test_an_older_term_is_stopped():
    with pytest.raises(StaleTerm, match="term 6 is over: a newer leader claimed term 7"):
        check_term(6, 7)
