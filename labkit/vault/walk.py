"""The steps of a request's walk, in the order in which ``Vault.handle`` names them.

Order of judgement: what the door can see (method, path, body, headers), the route, seal, duty and mode, the token, its
policies, the parameters, and only then the handler.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from labkit.service.errors import (
    BadRequest,
    Forbidden,
    NotFound,
    Redirect,
    ServiceError,
    Unavailable,
    Unsupported,
    WrongMediaType,
    one_error,
)
from labkit.service.limits import measure
from labkit.service.message import Reply, Response, Suspended, respond
from labkit.service.routing import Match, parse_fields, refusal
from labkit.vault import audit, tokens
from labkit.vault.context import Caller, Context, Core, TapedContext
from labkit.vault.identifiers import uuid_text
from labkit.vault.mounts import MOUNTS, Mount, MountTable, Resolved, decode_table, table_of
from labkit.vault.policies import CREATE, DELETE, LIST, PATCH, READ, SUDO, UPDATE
from labkit.vault.policy_store import INDEX, acl_for
from labkit.vault.storage import StaleTerm

METHODS = {
    "GET": "read",
    "HEAD": "read",
    "LIST": "list",
    "POST": "write",
    "PUT": "write",
    "PATCH": "patch",
    "DELETE": "delete",
}
CAPABILITIES = {"read": READ, "list": LIST, "patch": PATCH, "delete": DELETE}

MERGE_PATCH = "application/merge-patch+json"
KEPT_LOOKUPS = 8_192

PLAIN = Reply()
"""What an answer that is data alone leaves unsaid."""

SEALED = "Vault is sealed"
DENIED = "permission denied"
PATH_DISABLED = "path disabled in replication DR secondary mode"


def receive(ctx: Context) -> None:
    """Judge what the door can see: method, headers and body."""
    request = ctx.request
    body = request.body
    if body:
        if type(body) is not dict:
            raise BadRequest("failed to decode JSON input: the body is not an object")
        measure(body, ctx.core.settings.max_body_bytes)
    ctx.request_id = uuid_text(ctx.core.entropy)
    for name, value in request.headers.items():
        if name != "X-Vault-Token":
            _receive_header(ctx, name.lower(), value)
    if request.method == "PATCH":
        _check_merge_patch(ctx)


def _receive_header(ctx: Context, name: str, value: str) -> None:
    ctx.headers[name] = value
    if name == "x-vault-wrap-ttl":
        from labkit.vault import wrapping

        ctx.wrap_ttl_ns = wrapping.parse_wrap_ttl(value)


def _check_merge_patch(ctx: Context) -> None:
    sent = ctx.headers.get("content-type")
    if not sent:
        raise BadRequest("mime: no media type")
    kind = sent.partition(";")[0].strip().lower()
    if kind != MERGE_PATCH:
        raise WrongMediaType(f"PATCH requires Content-Type of {MERGE_PATCH}, provided {kind}")


def find_route(ctx: Context) -> None:
    """Find out what (method, path) means, through the memo that the stored mount table keeps valid (R21)."""
    core, request = ctx.core, ctx.request
    key = request.method + " " + request.path
    table = core.storage.get(MOUNTS) if core.barrier is not None else None
    kept = core.lookups.get(key)
    if kept is None or kept[0] is not table:
        kept = (table, resolve(core, request.method, request.path, table))
        if len(core.lookups) >= KEPT_LOOKUPS:
            core.lookups.clear()
        core.lookups[key] = kept
    found: Resolved = kept[1]
    ctx.found = found
    ctx.operation, ctx.path = found.operation, found.path
    ctx.body = (request.body or {}) if found.operation in ("write", "patch") else found.query


def resolve(core: Core, method: str, raw: str, stored: bytes | None) -> Resolved:
    """Split a path into mount and route; what is wrong with it is kept as the exception to raise in its turn."""
    operation = METHODS.get(method, "")
    if not operation:
        raise Unsupported
    path, query = split_path(raw)
    if operation == "read" and "list" in query:
        operation = "list" if _go_flag(str(query.pop("list"))) else "read"
    if any(part in (".", "..") for part in path.split("/")):
        raise BadRequest("relative paths not supported")
    if operation == "list" and not path.endswith("/"):
        path += "/"
    table = decode_table(core.open(MOUNTS, stored)) if stored is not None else MountTable(())
    mount = table.find(path) or _SYSTEM.find(path)
    if mount is None:
        return Resolved(operation, path, query, None, _no_route(path))
    if operation in ("write", "patch") and path.endswith("/"):
        return Resolved(operation, path, query, mount, BadRequest("cannot write to a path ending in '/'"))
    try:
        match: Match | Exception = table_of(mount).match(operation, path[len(mount.path) :])
    except ServiceError as error:
        match = error
    flags = match.route.flags if isinstance(match, Match) else frozenset()
    return Resolved(operation, path, query, mount, match, flags)


def _no_route(path: str) -> NotFound:
    return NotFound(f'no handler for route "{path}". route entry not found.')


def split_path(raw: str) -> tuple[str, dict[str, Any]]:
    """Split what was sent into the clean path (no ``/v1/``, decoded, single slashes) and its query parameters."""
    path, _, tail = raw.partition("?")
    path = path.removeprefix("/")
    path = path.removeprefix("v1/")
    query: dict[str, Any] = {}
    if "%" in path or tail:
        from urllib.parse import parse_qs, unquote

        path = unquote(path)
        for name, values in parse_qs(tail, keep_blank_values=True).items():
            query[name] = values[0] if len(values) == 1 else values
    while "//" in path:
        path = path.replace("//", "/")
    if not path.isprintable():
        raise BadRequest
    return path, query


def _go_flag(text: str) -> bool:
    from labkit.service.fields import to_flag

    try:
        return to_flag(text or "x")
    except ValueError:
        raise BadRequest from None


def admit(ctx: Context) -> None:
    """Judge whether this node answers such a request now: seal, duty, mode, namespace."""
    core, found = ctx.core, ctx.found
    assert found is not None
    flags = found.flags
    if core.barrier is None and "sealed" not in flags:
        raise Unavailable(SEALED, code="sealed")
    if core.barrier is not None and "any_mode" not in flags and core.is_secondary:
        raise BadRequest(
            PATH_DISABLED, code="dr_secondary"
        )  # right after sealed: a standby of a secondary says so as well
    if not core.duty.active and "standby" not in flags:
        if not core.duty.leader:
            raise Unavailable("no active node of this cluster is known; try again soon", code="no_active_node")
        raise Redirect(f"{core.duty.leader}/v1/{ctx.path}")
    if "enterprise" in flags and core.settings.edition == "community":
        raise BadRequest("enterprise-only feature")
    namespace = ctx.headers.get("x-vault-namespace", "").strip("/")
    if namespace and "any_namespace" not in flags:
        if ctx.path.startswith("sys/replication/"):
            raise BadRequest(f"operation only available in the root namespace, not in {namespace}/")
        raise NotFound("namespace not found")


def identify(ctx: Context) -> None:
    """Find out who asks: raise Forbidden for no token, or one that is not valid; open routes ignore any token."""
    assert ctx.found is not None
    if "open" in ctx.found.flags:
        return
    text = tokens.sent_token(ctx)
    if not text:
        raise Forbidden(DENIED)
    caller = _caller(ctx, text)
    if caller is None or caller.token.uses < 0:
        if "wrapping" in ctx.found.flags:
            from labkit.vault import wrapping

            raise BadRequest(wrapping.INVALID)
        raise Forbidden(tokens.INVALID_TOKEN)
    token = caller.token
    if token.bound_cidrs and not (token.is_root and not token.expires_ns):
        tokens.check_address(token, ctx.request.remote_address)
    ctx.caller = caller


def _caller(ctx: Context, text: str) -> Caller | None:
    """Return whose token it is, through a memo that the stored token and the policies' index keep valid (R21)."""
    core, digest = ctx.core, tokens.digest_of(text)
    stored, index = core.storage.get(tokens.IDS + digest), core.storage.get(INDEX)
    kept = core.callers.get(digest)
    if kept is not None and kept[0] is stored and kept[1] is index:
        ends_ns = kept[2].token.expires_ns
        return None if ends_ns and ctx.now >= ends_ns else kept[2]
    known = tokens.find(ctx, text)
    if known is None:
        return None
    caller = Caller(*known, acl_for(ctx, known[0].policies))
    if stored is not None:
        if len(core.callers) >= KEPT_LOOKUPS:
            core.callers.clear()
        core.callers[digest] = (stored, index, caller)
    return caller


def authorise(ctx: Context) -> dict[str, Any]:
    """Judge the caller's policies, then return the handler's arguments; raise Forbidden, or the route's own refusal."""
    found = ctx.found
    assert found is not None
    match = found.match
    arguments: dict[str, Any] | None = None
    capability = CAPABILITIES.get(ctx.operation, UPDATE)
    if isinstance(match, Match) and match.route.exists is not None:
        arguments = parse_fields(match, ctx.body, ctx.warn)
        if not match.route.exists(ctx, **match.captured):
            ctx.creating, capability = True, CREATE
    if ctx.caller is not None:
        _check_policies(ctx, ctx.caller, capability, found.flags)
    if isinstance(match, Exception):
        raise match.with_traceback(None)  # it is kept in the memo: frames must not pile up on it
    if arguments is not None:
        return arguments
    return parse_fields(match, ctx.body, ctx.warn) if ctx.body else dict(match.values)


def _check_policies(ctx: Context, caller: Caller, capability: int, flags: frozenset[str]) -> None:
    acl = caller.acl
    if acl.root:
        return
    listing = capability == LIST
    judged = ctx.body if ctx.operation in ("read", "write", "patch") else None
    allowed = acl.allows(capability, ctx.path, parameters=judged, listing=listing, wrap_ttl_ns=ctx.wrap_ttl_ns)
    if allowed and "sudo" in flags:
        allowed = acl.allows(SUDO, ctx.path, listing=listing, wrap_ttl_ns=ctx.wrap_ttl_ns)
    if not allowed:
        spend_use(ctx)
        raise Forbidden(one_error(DENIED))


def spend_use(ctx: Context) -> None:
    """Take one use off a token that counts them."""
    if ctx.caller is not None and ctx.caller.token.uses > 0 and not ctx.kept:
        tokens.spend(ctx, ctx.caller.token, ctx.caller.digest)


def _end_last_use(ctx: Context) -> None:
    if ctx.caller is not None and ctx.caller.token.uses == 1 and ctx.core.barrier is not None:
        tokens.revoke(ctx, ctx.caller.digest)


def audit_request(ctx: Context) -> None:
    """Write the request's audit record where devices are enabled."""
    if ctx.core.storage.get(audit.DEVICES) is not None:
        audit.record_request(ctx)


def audit_response(ctx: Context, response: Response) -> None:
    """Write the response's audit record where devices are enabled."""
    if ctx.core.storage.get(audit.DEVICES) is not None:
        audit.record_response(ctx, response)


def asks(ctx: Context) -> bool:
    """Whether the route's handler must ask the outside."""
    assert ctx.found is not None
    return "asks" in ctx.found.flags


def call(ctx: Context, arguments: dict[str, Any]) -> Any:
    """Run the handler."""
    assert ctx.found is not None
    match = ctx.found.match
    assert isinstance(match, Match)
    told = len(ctx.warnings)
    answer = match.route.handler(ctx, **arguments)
    if answer is None and len(ctx.warnings) == told:
        ctx.warnings.clear()  # what the fields warned of is told beside an answer, and makes none
    return answer


def respond_with(ctx: Context, answer: Any) -> Response:
    """Make the Response of a handler's answer: a dict, a Reply, a Response, or nothing."""
    assert ctx.found is not None
    if isinstance(answer, Response):
        _end_last_use(ctx)
        return answer
    flags = ctx.found.flags
    if answer is None and not ctx.warnings:
        _end_last_use(ctx)
        return respond(204)
    if "bare" in flags:
        return respond(200, answer)
    reply, data = (answer, answer.data) if isinstance(answer, Reply) else (PLAIN, answer)
    if ctx.wrap_ttl_ns and reply.status == 200 and (data is not None or reply.auth is not None):
        from labkit.vault import wrapping

        reply, data = wrapping.wrap_reply(ctx, reply._replace(data=data)), None
    _end_last_use(ctx)
    return respond(reply.status, envelope(ctx, data, reply, "flat" in flags))


def envelope(ctx: Context, data: Any, reply: Reply, flat: bool) -> dict[str, Any]:
    """Lay data out as the API's envelope, the rest as a reply says; ``flat`` copies the data to the top level too."""
    assert ctx.found is not None
    mount = ctx.found.mount
    body = {
        "request_id": "" if reply.wrap_info else ctx.request_id,
        "lease_id": "",
        "renewable": False,
        "lease_duration": reply.lease_duration_s,
        "data": data,
        "wrap_info": reply.wrap_info,
        "warnings": ctx.warnings or None,
        "auth": reply.auth,
        "mount_type": mount.kind if mount is not None else "",
    }
    if flat and data:
        body.update(data)
    return body


def refuse(ctx: Context, error: ServiceError) -> Response:
    """Turn a refusal into its Response; of the request only what was kept on purpose stays behind (R4)."""
    core = ctx.core
    ctx.writes = dict(ctx.kept)
    if ctx.kept and core.barrier is not None:
        _end_last_use(ctx)
    response = refusal(error)
    if ctx.found is not None and core.barrier is not None:
        try:
            audit.record_refusal(ctx, response)
        except ServiceError as failed:
            response = refusal(failed)
    try:
        core.commit(ctx.writes)
    except StaleTerm:
        return step_down(ctx)
    return response


def step_down(ctx: Context) -> Response:
    """Answer for a node that found out, when it committed, that another one leads."""
    ctx.core.duty = ctx.core.duty._replace(active=False, leader="", leader_cluster="")
    ctx.observe("stepped down", reason="a newer leader holds the lease")
    return refusal(
        Unavailable("this node is no longer the active one; nothing was changed, try again", code="not_active")
    )


def admit_again(ctx: TapedContext, suspended: Suspended) -> None:
    """Judge seal, duty, mode and token again before a suspended request goes on (R4)."""
    core = ctx.core
    if core.barrier is None:
        raise Unavailable(SEALED, code="sealed")
    if not core.duty.active:
        raise Unavailable("this node is no longer the active one; ask again", code="not_active")
    if suspended.caller and core.storage.get(tokens.IDS + suspended.caller) is None:
        raise Forbidden(tokens.INVALID_TOKEN)


def replay(ctx: TapedContext, suspended: Suspended) -> Generator[Any, Any, Any]:
    """Make a suspended request's handler anew, for it to be played to where it waits."""
    ctx.request_id = suspended.request_id
    ctx.headers = {name.lower(): value for name, value in suspended.request.headers.items()}
    find_route(ctx)
    ctx.warnings.extend(suspended.warnings)
    generator: Generator[Any, Any, Any] = call(ctx, suspended.arguments)
    return generator


# Where the system's own endpoints are found while the stored table cannot be read.
_SYSTEM = MountTable((Mount("sys/", "system", "system", "system"),))
