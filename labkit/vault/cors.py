"""Cross-origin requests: which web pages of other origins may read answers, as ``sys/config/cors`` says.

1. Only a request with ``Origin`` is judged; without a configuration, or while sealed, it is answered as any other.
2. An origin that is not allowed is refused with 403 before anything else of the request is looked at; that of the
   page's own server (it is the request's ``Host``) never is.
3. A preflight of an allowed origin is answered here, without token or route.
4. A configuration that does not open counts as none (C12).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from labkit.service.errors import Forbidden, Unsupported
from labkit.service.message import Response, respond
from labkit.service.record import NamedTuple
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.core import Core

CONFIG = "core/cors"
"""Where the configuration is stored; there is nothing while cross-origin requests are not enabled."""

ANY = "*"
ALLOWED_METHODS = ("DELETE", "GET", "LIST", "OPTIONS", "PATCH", "POST", "PUT")
MAX_AGE_S = 300

ALWAYS_ALLOWED = (
    "Authorization",
    "Content-Type",
    "X-Requested-With",
    "X-Vault-Index",
    "X-Vault-Namespace",
    "X-Vault-No-Request-Forwarding",
    "X-Vault-Request",
    "X-Vault-Token",
    "X-Vault-Wrap-Format",
    "X-Vault-Wrap-TTL",
)
"""Headers that a page may send whatever is configured."""


class CorsConfig(NamedTuple):
    """The origins that are allowed, in lower case or ``*``, and the headers that their pages may send."""

    origins: tuple[str, ...]
    headers: tuple[str, ...]


def _decode(stored: bytes) -> CorsConfig:
    origins, headers = decode_record(stored)
    return CorsConfig(tuple(origins), tuple(headers))


def read_config(ctx: Context) -> CorsConfig | None:
    """Return what is configured; None while cross-origin requests are not enabled."""
    return ctx.full_storage.decoded(CONFIG, _decode)


def write_config(ctx: Context, config: CorsConfig | None) -> None:
    """Store a configuration, or none, when the step commits."""
    if config is None:
        ctx.full_storage.delete(CONFIG)
    else:
        ctx.full_storage.put(CONFIG, encode_record(config))


def is_configured(core: Core) -> bool:
    """Whether a node judges origins now."""
    return core.keys.barrier is not None and core.storage.get(CONFIG) is not None


def check(ctx: Context) -> Response | None:
    """Judge a request that has an origin: return the answer to a preflight, raise Forbidden for a foreign origin."""
    config = _config_in_force(ctx)
    if config is None:
        return None
    if not _is_allowed(config, ctx.headers["origin"]):
        raise Forbidden("origin not allowed")
    name_origin(ctx)
    return _preflight(ctx, config) if ctx.request.method == "OPTIONS" else None


def name_origin(ctx: Context) -> None:
    """Let the answer say that a page of the request's origin may read it."""
    config = _config_in_force(ctx)
    if config is not None and _is_allowed(config, ctx.headers["origin"]):
        said = {"Access-Control-Allow-Origin": ctx.headers["origin"], "Vary": "Origin"}
        ctx.answer_headers = {**(ctx.answer_headers or {}), **said}


def _config_in_force(ctx: Context) -> CorsConfig | None:
    if ctx.keys.barrier is None or _is_own(ctx):
        return None
    with suppress(BarrierError):
        return read_config(ctx)
    return None


def _is_own(ctx: Context) -> bool:
    """Whether a page came from the very server that it asks: browsers send its origin too, with each POST."""
    scheme, _, host = ctx.headers["origin"].partition("://")
    return scheme in ("http", "https") and host != "" and host.lower() == ctx.headers.get("host", "").lower()


def _is_allowed(config: CorsConfig, origin: str) -> bool:
    return config.origins == (ANY,) or origin.lower() in config.origins


def _preflight(ctx: Context, config: CorsConfig) -> Response:
    if ctx.headers.get("access-control-request-method", "") not in ALLOWED_METHODS:
        raise Unsupported
    answer = respond(204)
    answer.headers.update(ctx.answer_headers or {})
    answer.headers["Access-Control-Allow-Methods"] = ", ".join(ALLOWED_METHODS)
    answer.headers["Access-Control-Allow-Headers"] = ", ".join(config.headers)
    answer.headers["Access-Control-Max-Age"] = str(MAX_AGE_S)
    return answer
