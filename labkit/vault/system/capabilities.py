"""What a token may do on paths: ``sys/capabilities``, ``-self`` and ``-accessor``.

Paths are those of the request's namespace; a token that cannot be used there may do nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest, one_error
from labkit.service.limits import check_path
from labkit.service.routing import Route
from labkit.vault import tokens
from labkit.vault.policies.store import acl_for

if TYPE_CHECKING:
    from labkit.vault.context import Context
    from labkit.vault.token_record import Token

MAX_PATHS = 1_000


def of_token(ctx: Context, token: str | None, paths: list[str] | None, path: list[str] | None) -> dict[str, Any]:
    """Return what a token may do."""
    wanted = _wanted(paths, path)
    return _capabilities(ctx, _found(tokens.find(ctx, token) if token else None, "invalid token"), wanted)


def of_self(ctx: Context, paths: list[str] | None, path: list[str] | None) -> dict[str, Any]:
    """Return what the caller's token may do."""
    assert ctx.caller is not None
    return _capabilities(ctx, ctx.caller.token, _wanted(paths, path))


def of_accessor(ctx: Context, accessor: str | None, paths: list[str] | None, path: list[str] | None) -> dict[str, Any]:
    """Return what the token of an accessor may do."""
    wanted = _wanted(paths, path)
    return _capabilities(ctx, _found(tokens.find_accessor(ctx, accessor or ""), "invalid accessor"), wanted)


def _wanted(paths: list[str] | None, path: list[str] | None) -> list[str]:
    wanted = paths or path
    if not wanted or not any(wanted):
        raise BadRequest("paths must be supplied")
    if len(wanted) > MAX_PATHS:
        raise BadRequest(f"{len(wanted)} paths; at most {MAX_PATHS} are judged at once")
    for each in wanted:
        check_path(each)
    return wanted


def _found(found: tuple[Token, str] | None, refusal: str) -> Token:
    if found is None:
        raise BadRequest(one_error(refusal))
    return found[0]


def _capabilities(ctx: Context, token: Token, paths: list[str]) -> dict[str, Any]:
    namespace, prefix = tokens.namespace_of(ctx, token), tokens.prefix_of(ctx, token)
    if namespace is None or prefix is None:
        capabilities: dict[str, Any] = {path: ["deny"] for path in paths}
    else:
        acl = acl_for(ctx, token.policies, namespace)
        capabilities = {path: acl.capabilities(prefix + path.removeprefix("/")) for path in paths}
    if len(paths) == 1:
        capabilities["capabilities"] = capabilities[paths[0]]
    return capabilities


PATHS = (
    fields.comma_list("paths", "paths to judge, without /v1/"),
    fields.comma_list("path", "old name of paths"),
)

ROUTES = (
    Route("write", "capabilities", of_token, (fields.text("token", "the token"), *PATHS), "top_level_data"),
    Route("write", "capabilities-self", of_self, PATHS, "top_level_data"),
    Route(
        "write",
        "capabilities-accessor",
        of_accessor,
        (fields.text("accessor", "accessor of the token"), *PATHS),
        "top_level_data",
    ),
)
