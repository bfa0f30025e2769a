"""The routes of version 1: every path is a secret's."""

from __future__ import annotations

import pytest

from labkit.service.errors import Unsupported
from labkit.vault.engines.kv.table_v1 import TABLE


@pytest.mark.parametrize(
    ("operation", "path"), [("read", "a/b"), ("write", "a"), ("delete", "a"), ("list", "a/"), ("list", "")]
)
def test_a_path_is_found(operation: str, path: str) -> None:
    assert TABLE.match(operation, path).arguments == {"path": path}


def test_a_patch_is_not_supported() -> None:
    with pytest.raises(Unsupported):
        TABLE.match("patch", "a")
