"""Exercise write_only: eight requests are tried in a branch, with whatever is handed in as a token."""

from __future__ import annotations

import pytest

from labkit.lessons.kept_keys.write_only import exact_path, look, start
from labkit.lessons.worlds import branched


def test_the_root_token_may_do_all_of_it():
    vault = start()
    seen = look(branched(vault), vault.root_token)

    assert (len(seen.needed), len(seen.read), len(seen.made)) == (0, 3, 3)
    assert vault.get("transit/keys/other").status == 404, "the key was made in the branch only"


@pytest.mark.parametrize("token", ["", "hvs.nothing", None, 3, ...])
def test_what_is_not_a_token_may_do_nothing(token):
    seen = look(start(), token)

    assert seen == (("encrypt", "encrypt a batch"), (), ())


def test_a_writer_may_write_only():
    vault, token = exact_path(start())

    assert look(vault, token) == ((), (), ())
