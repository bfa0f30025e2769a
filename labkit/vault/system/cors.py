"""Cross-origin requests: ``sys/config/cors``, which web pages of other origins may use this service."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.routing import Route
from labkit.vault.cors import ALWAYS_ALLOWED, ANY, CorsConfig, read_config, write_config

if TYPE_CHECKING:
    from labkit.vault.context import Context

_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)  # a token: RFC 9110, 5.6.2
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@]+", re.ASCII)  # scheme, host and port: RFC 6454, 6.2


def read_cors(ctx: Context) -> dict[str, Any]:
    """Read which origins are allowed, and which headers their pages may send."""
    config = read_config(ctx)
    if config is None:
        return {"enabled": False}
    return {"enabled": True, "allowed_origins": list(config.origins), "allowed_headers": list(config.headers)}


def allow_origins(ctx: Context, allowed_origins: list[str] | None, allowed_headers: list[str] | None) -> None:
    """Allow pages of these origins, in place of those before; headers come to those that are always allowed."""
    origins = tuple(dict.fromkeys(origin.lower().rstrip("/") for origin in allowed_origins or () if origin))
    if not origins:
        raise BadRequest("at least one origin or the wildcard must be provided")
    if ANY in origins and len(origins) > 1:
        raise BadRequest("to allow all origins the '*' must be the only value for allowed_origins")
    for origin in origins:
        if origin != ANY and _ORIGIN.fullmatch(origin) is None:
            raise BadRequest(f"an origin is scheme, host and port, such as https://app.example.org; got {origin!r}")
    headers = {name.lower(): name for name in (*ALWAYS_ALLOWED, *(allowed_headers or ())) if name}
    for name in headers.values():
        if _HEADER_NAME.fullmatch(name) is None:
            raise BadRequest(f"the name of a header has letters, digits and hyphens only; got {name!r}")
    write_config(ctx, CorsConfig(origins, tuple(headers.values())))


def forbid_origins(ctx: Context) -> None:
    """Allow no page of another origin any more."""
    write_config(ctx, None)


ROUTES = (
    Route("read", "config/cors", read_cors, (), "top_level_data", "sudo"),
    Route(
        "write",
        "config/cors",
        allow_origins,
        (
            fields.comma_list("allowed_origins", "origins such as https://app.example.org; * for all"),
            fields.comma_list("allowed_headers", "headers that their pages may send beside the usual ones"),
        ),
        "sudo",
    ),
    Route("delete", "config/cors", forbid_origins, (), "sudo"),
)
