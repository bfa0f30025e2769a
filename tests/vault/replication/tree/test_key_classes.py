"""Key classes: a key's first folder says in which tree it is."""

from __future__ import annotations

import pytest

from labkit.vault.replication import OUTSIDE
from labkit.vault.replication.tree.key_classes import LOCAL, NO_TREE, REPLICATED, classify


@pytest.mark.parametrize(
    ("key", "tree"),
    [
        ("core/mounts", REPLICATED),
        ("policy/default", REPLICATED),
        ("logical/6f1c/versions/a/1", REPLICATED),
        ("logical/6f1c/token/a", REPLICATED),
        ("nodes/a", REPLICATED),
        ("token", REPLICATED),
        ("token/id/ab", LOCAL),
        ("cubbyhole/ab/x", LOCAL),
        ("lease/auth/x", LOCAL),
        ("local/mounts", LOCAL),
        ("node/mode", NO_TREE),
        ("node/index/page", NO_TREE),
    ],
)
def test_the_first_folder_tells_the_class(key: str, tree: int) -> None:
    assert classify(key) == tree
    assert key.startswith(OUTSIDE) == (tree == NO_TREE)
