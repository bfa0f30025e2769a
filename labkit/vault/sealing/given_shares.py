"""Given shares: key shares given one by one to an attempt, until as many as the threshold prove the root key.

1. A share counts once.  What is wrong with one changes nothing.
2. Shares at the threshold that do not combine to the root key set the attempt's progress to 0, and the attempt goes on:
   the only effect of a refused share (R4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service.errors import BadRequest
from labkit.vault.sealing.seal import SealConfig, check_root_key, combine_shares, parse_share, read_config

if TYPE_CHECKING:
    from labkit.vault.context import Context

GIVEN_BEFORE = "given key has already been provided during this generation operation"


def seal_config(ctx: Context) -> SealConfig:
    """Return how the root key is shared out."""
    config = read_config(ctx.core)
    assert config is not None, "an unsealed node has a seal configuration"
    return config


def with_share(given: tuple[str, ...], key: Any) -> tuple[str, ...]:
    """Return the shares (hex) with one more; raise BadRequest for a text that is not a share, or one given before."""
    share = parse_share(key).hex()
    if share in given:
        raise BadRequest(GIVEN_BEFORE)
    return (*given, share)


def check_nonce(sent: str | None, nonce: str, operation: str) -> None:
    """Raise BadRequest unless the nonce that was sent is the attempt's."""
    if sent != nonce:
        raise BadRequest(f'incorrect nonce supplied; nonce for this {operation} operation is "{nonce}"')


def prove(ctx: Context, shares: tuple[str, ...], operation: str, record: tuple[str, bytes]) -> bytes:
    """Return the root key that shares at the threshold combine to.

    If they do not, raise BadRequest and put ``record``, (storage key, value): the attempt without shares.
    """
    prefix = f"{operation} aborted: unable to authenticate: "
    try:
        root_key = combine_shares(tuple(map(bytes.fromhex, shares)), lambda why: f"{prefix}{why}")
        check_root_key(ctx.core, root_key, f"{prefix}invalid key: ")
    except BadRequest:
        key, emptied = record
        ctx.write_even_if_refused(key, ctx.keys.encrypt(key, emptied, ctx.entropy))
        raise
    return root_key
