"""External: keys that stay in a key store outside, and what that store does with them."""

from __future__ import annotations

from typing import Any

from labkit.vault.engine_context import EngineContext
from labkit.vault.engines.transit.algorithms import KEY_TYPES
from labkit.vault.engines.transit.keyring import read_keyring


def fetches(ctx: EngineContext, arguments: dict[str, Any]) -> bool:
    """Whether a request is for a key whose versions are managed keys."""
    keyring = read_keyring(ctx.storage, arguments["name"])
    return keyring is not None and keyring.key_type.external


def fetches_to_create(ctx: EngineContext, arguments: dict[str, Any]) -> bool:
    """Whether a request makes such a key."""
    key_type = KEY_TYPES.get(arguments["type"])
    return key_type is not None and key_type.external
