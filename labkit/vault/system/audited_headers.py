"""Audited headers: ``sys/config/auditing/request-headers``, which headers of requests the audit records show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault.audit.headers import read_headers, write_headers

if TYPE_CHECKING:
    from labkit.vault.context import Context

MAX_HEADERS = 100

NEVER_SHOWN = ("x-vault-token", "authorization")
"""They hold the caller's token, which the records show by its digest already."""


def list_headers(ctx: Context) -> dict[str, Any]:
    """List the audited headers."""
    return {"headers": {name: {"hmac": is_hidden} for name, is_hidden in read_headers(ctx).items()}}


def read_header(ctx: Context, header: str) -> dict[str, Any]:
    """Read whether a header is audited, and whether hidden."""
    name = header.lower()
    known = read_headers(ctx)
    if name not in known:
        raise BadRequest("could not find header in config")
    return {name: {"hmac": known[name]}}


def add_header(ctx: Context, header: str, hmac: bool | None) -> None:
    """Let the records show a header, hidden if that is asked for."""
    name = header.lower()
    if name in NEVER_SHOWN:
        raise BadRequest(f"{name} cannot be audited: the records show the token by its digest")
    known = read_headers(ctx)
    if name not in known and len(known) == MAX_HEADERS:
        raise BadRequest(f"at most {MAX_HEADERS} headers are audited; remove one first")
    write_headers(ctx, {**known, name: bool(hmac)})


def remove_header(ctx: Context, header: str) -> None:
    """Let the records show a header no longer; one that is not audited is not an error."""
    known = read_headers(ctx)
    if known.pop(header.lower(), None) is not None:
        write_headers(ctx, known)


HEADER = fields.segment("header", "name of the header")

ROUTES = (
    Route("read", "config/auditing/request-headers", list_headers, (), "top_level_data", "sudo"),
    Route("read", "config/auditing/request-headers/<header>", read_header, (HEADER,), "top_level_data", "sudo"),
    Route(
        "write",
        "config/auditing/request-headers/<header>",
        add_header,
        (HEADER, fields.flag("hmac", "whether its value is shown as a digest")),
        "sudo",
    ),
    Route("delete", "config/auditing/request-headers/<header>", remove_header, (HEADER,), "sudo"),
)
