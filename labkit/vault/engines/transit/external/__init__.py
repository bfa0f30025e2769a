"""External: keys that stay in a key store outside, and what that store does with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.vault.engines.transit.algorithms import KEY_TYPES

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext


def fetches_to_create(ctx: EngineContext, arguments: dict[str, Any]) -> bool:
    """Whether a request makes such a key."""
    key_type = KEY_TYPES.get(arguments["type"])
    return key_type is not None and key_type.external
