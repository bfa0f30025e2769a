"""What the engine's tests share: the store of ``secret/`` as one step sees it."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.service.message import Request
from labkit.vault.context import Context
from labkit.vault.mounts import read_table
from labkit.vault.storage.storage_view import StorageView


@pytest.fixture
def context(service: Any) -> Context:
    """A step of the service, outside any request; its writes are lost unless they are committed."""
    return Context(service.core, Request("", ""), service.now())


@pytest.fixture
def storage(context: Context) -> StorageView:
    """The part of the store that belongs to ``secret/``, as the step ``context`` sees it."""
    mount = read_table(context.full_storage).at("secret/")
    assert mount is not None
    return StorageView(context, mount.prefix)
