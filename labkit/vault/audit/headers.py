"""Audited headers: which headers of a request its audit records show, and which of them hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

HEADERS = "core/audited-headers"
"""Where they are stored; there is nothing while there are none."""


def _decode(stored: bytes) -> tuple[tuple[str, bool], ...]:
    return tuple([(name, is_hidden) for name, is_hidden in decode_record(stored)])


def read_headers(ctx: Context) -> dict[str, bool]:
    """Return the audited headers, names in lower case, and whether each is hidden."""
    return dict(ctx.full_storage.decoded(HEADERS, _decode) or ())


def write_headers(ctx: Context, headers: dict[str, bool]) -> None:
    """Store the audited headers when the step commits."""
    if headers:
        ctx.full_storage.put(HEADERS, encode_record(sorted(headers.items())))
    else:
        ctx.full_storage.delete(HEADERS)
