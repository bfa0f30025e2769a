"""The store's interface: both stores offer it whole."""

from __future__ import annotations

import pytest

from labkit.vault.storage import Storage
from labkit.vault.storage.fencing import StaleTerm
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.storage.sqlite import SqliteStorage


@pytest.mark.parametrize("kind", [MemoryStorage, SqliteStorage])
def test_a_store_offers_the_whole_interface(kind):
    wanted = {name for name in vars(Storage) if not name.startswith("_")}

    assert wanted == {"get", "list", "keys", "apply", "claim"}
    assert wanted <= set(dir(kind))


def test_a_stale_term_is_no_value_error_that_a_handler_would_swallow():
    assert issubclass(StaleTerm, RuntimeError)
    assert not issubclass(StaleTerm, ValueError)
