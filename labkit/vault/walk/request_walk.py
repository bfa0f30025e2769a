"""The steps of a request's walk, in the order in which ``VaultNode.handle`` names them.

Order of judgement: body and headers; method and path; seal, mode, leadership, edition, namespace and rate limits; the
token; its policies; the route and its parameters (before the policies where these depend on create or update); then
the handler.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from labkit.service.errors import (
    DR_SECONDARY,
    NO_ACTIVE_NODE,
    NODE_SEALED,
    NOT_ACTIVE,
    BadRequest,
    Forbidden,
    Redirect,
    ServiceError,
    TooLarge,
    Unavailable,
    WrongMediaType,
    one_error,
    to_response,
)
from labkit.service.limits import check_body, is_text
from labkit.service.message import MERGE_PATCH, Response, Unreadable
from labkit.service.record import new
from labkit.service.routing import Match, parse_fields
from labkit.vault import token_record, tokens
from labkit.vault.context import Context
from labkit.vault.core import Core
from labkit.vault.mounts import AUDIT_DEVICES, MANAGED_KEYS, QUOTAS, ROOT
from labkit.vault.policies import CREATE, DELETE, LIST, PATCH, READ, ROOT_ACCESS, ROOT_ONLY, SUDO, UPDATE
from labkit.vault.seal_keys import SEALED
from labkit.vault.sealing.seal import SEAL_CONFIG
from labkit.vault.storage import StaleTerm, StoreError
from labkit.vault.storage.barrier import BarrierError
from labkit.vault.token_record import Caller
from labkit.vault.walk import request_answer, request_route

if TYPE_CHECKING:
    from labkit.vault.mounts import Namespace
    from labkit.vault.policies.access_list import Access

CAPABILITIES = {"read": READ, "list": LIST, "patch": PATCH, "delete": DELETE}

_KINDS = {kind.status: kind for kind in (Forbidden, TooLarge, Unavailable)}

MAX_CACHED_CALLERS = 8_192

READ_CLOSELY = frozenset(("x-vault-token", "x-vault-wrap-ttl"))
"""Headers that need more than to be there."""

DENIED = "permission denied"
PATH_DISABLED = "path disabled in replication DR secondary mode"


def check_request(ctx: Context) -> Response | None:
    """Draw the request's id, and judge body and headers (decisions C9, C13); return the answer to a preflight."""
    request = ctx.request
    ctx.request_id = ctx.core.request_id()
    body, headers = request.body, request.headers
    if body is not None and type(body) is not dict:
        raise _unreadable(body)
    if body:
        check_body(body, ctx.core.settings.max_request_bytes)
    token = headers.get("X-Vault-Token") if type(headers) is dict and len(headers) == 1 else None
    if type(token) is str and token.isascii():  # nothing but a token, as many requests
        ctx.headers["x-vault-token"] = token
    else:
        read_headers(ctx)
    if request.method == "PATCH":
        _check_merge_patch(ctx)
    if "origin" in ctx.headers:
        from labkit.vault import cors

        return cors.check(ctx)
    return None


def _unreadable(body: Any) -> ServiceError:
    if type(body) is not Unreadable:
        return BadRequest("failed to decode JSON input: the body is not an object")
    kind = _KINDS.get(body.status, BadRequest)
    return kind(body.why if body.is_whole else f"failed to decode JSON input: {body.why}")


def read_headers(ctx: Context) -> None:
    """Read the headers, their names in lower case, and the wrap TTL that they ask for."""
    try:
        headers = ctx.request.headers.items()
    except AttributeError:
        kind = type(ctx.request.headers).__name__
        raise BadRequest(f"headers are an object of names and texts, not {kind}") from None
    for name, value in headers:
        if type(name) is str and type(value) is str and name.isascii() and value.isascii():
            if name == "X-Vault-Token":
                ctx.headers["x-vault-token"] = value
                continue
            if name.islower() and name not in READ_CLOSELY:  # as doors send them
                ctx.headers[name] = value
                continue
        _read_header(ctx, name, value)


def _read_header(ctx: Context, name: Any, value: Any) -> None:
    if not is_text(name):
        raise BadRequest("the name of a header is text that has a UTF-8 form; one of this request is not")
    given, name = name, name.lower()
    if name == "x-vault-token" and given != "X-Vault-Token" and "X-Vault-Token" in ctx.request.headers:
        return  # the exact spelling wins
    if name in ("x-vault-token", "authorization") and not is_text(value):
        value = tokens.UNCLEAN if name == "x-vault-token" else f"Bearer {tokens.UNCLEAN}"
    elif not is_text(value):
        raise BadRequest(f"the value of the header {name} is text that has a UTF-8 form; this one is not")
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


def check_node(ctx: Context) -> None:
    """Judge whether this node answers such a request now: seal, mode, leadership, edition, namespace."""
    core, resolved = ctx.core, ctx.resolved
    assert resolved is not None
    flags, sealed = resolved.flags, core.keys.barrier is None
    if sealed and "while_sealed" not in flags:
        if "key_shares" in flags and core.storage.get(SEAL_CONFIG) is None:
            raise BadRequest("server is not yet initialized")
        raise Unavailable(SEALED, code=NODE_SEALED)
    if not sealed and "any_mode" not in flags and core.replica.is_secondary:
        # before leadership: a standby of a secondary answers the same
        raise BadRequest(PATH_DISABLED, code=DR_SECONDARY)
    if not core.leadership.active and "on_standby" not in flags:
        if not core.leadership.leader:
            raise Unavailable("no active node of this cluster is known; try again soon", code=NO_ACTIVE_NODE)
        sent = ctx.request.path.lstrip("/").removeprefix("v1/").lstrip("/")  # with its query, encoded as it was
        raise Redirect(f"{core.leadership.leader}/v1/{sent}")
    if "enterprise" in flags and core.settings.edition == "community":
        raise BadRequest("enterprise-only feature")
    if resolved.namespace is not ROOT:
        request_route.check_namespace(ctx)
    index = ctx.headers.get("x-vault-index")
    if index and core.leadership.active and "on_standby" not in flags and not core.replica.is_secondary:
        from labkit.vault.replication import index_state

        index_state.check(ctx, index)
    if core.storage.get(QUOTAS) is not None and not sealed:
        from labkit.vault.quotas import rate_limits

        rate_limits.check(ctx)


def authenticate(ctx: Context) -> None:
    """Find the caller and take one use off its token (C15): raise Forbidden without a valid token.

    Unauthenticated routes ignore any token, and so does a standby, which has no part in what a token is for (C16).
    """
    assert ctx.resolved is not None
    flags = ctx.resolved.flags
    if "unauthenticated" in flags or ("on_standby" in flags and not ctx.core.leadership.active):
        return
    text = tokens.sent_token(ctx)
    if not text:
        raise Forbidden(DENIED)
    if "invalid_token_is_400" in flags and text.count(".") == 2:
        from labkit.vault import wrapping

        text = wrapping.token_of(ctx, text)
    caller = caller_of(ctx, text)
    if caller is None or caller.token.uses < 0:
        if "invalid_token_is_400" in flags:
            from labkit.vault import wrapping

            raise BadRequest(wrapping.INVALID)
        raise Forbidden(tokens.INVALID_TOKEN)
    ctx.caller = caller
    if caller.token.uses or caller.token.bound_cidrs:
        tokens.admit(ctx, caller.token, caller.digest)
    if ctx.resolved.namespace is not caller.namespace:
        tokens.reach(ctx, caller, anywhere="invalid_token_is_400" in flags)


def caller_of(ctx: Context, text: str) -> Caller | None:
    """Return the caller of a token, through a memo valid until the store counts a deciding write (R21)."""
    callers, digest = ctx.core.caches.callers, token_record.digest_of(text)
    if not ctx.is_taped:
        as_of, cached = callers.get(digest, (-1, None))
        if cached is not None and as_of == ctx.core.storage.deciding_writes:
            ends_ns = cached.token.expires_ns
            return None if ends_ns and ctx.is_past(ends_ns) else cached
    known = tokens.find(ctx, text)
    namespace = None if known is None else tokens.namespace_of(ctx, known[0])
    if known is None or namespace is None:
        return None
    caller = Caller(*known, _access(ctx, known[0].policies, namespace), namespace)
    if caller.token.kind != "batch" and not ctx.is_taped:
        written = ctx.core.storage.deciding_writes
        newest = next(reversed(callers.values()), None)
        if newest is not None and (newest[0] != written or len(callers) >= MAX_CACHED_CALLERS):
            callers.clear()  # what was kept before the last deciding write holds no more
        callers[digest] = (written, caller)
    return caller


def _access(ctx: Context, policies: tuple[str, ...], namespace: Namespace) -> Access:
    """Return what a token's policies allow."""
    if policies == ROOT_ONLY:
        return ROOT_ACCESS
    from labkit.vault.policies.store import acl_for  # root needs no rules (R24)

    return acl_for(ctx, policies, namespace)


def authorise(ctx: Context) -> dict[str, Any]:
    """Judge the caller's policies, then return the handler's arguments; raise Forbidden, or the route's own refusal."""
    resolved, caller = ctx.resolved, ctx.caller
    assert resolved is not None
    match = resolved.match
    arguments: dict[str, Any] | None = None
    if isinstance(match, Match):
        route = ctx.route = match.route
        if route.exists is not None:
            arguments = parse_fields(match, ctx.body, ctx.warn)
            existing = ctx.existing = route.exists(ctx, **match.captured)
            ctx.is_create = not existing
    if not ctx.is_permitted and caller is not None and not caller.acl.root and ctx.operation != request_route.HELP:
        _check_policies(ctx, caller, resolved.flags)
    if arguments is not None:
        return arguments
    if not isinstance(match, Match):
        raise match.with_traceback(None)  # the memo holds it: frames must not pile up on it
    return parse_fields(match, ctx.body, ctx.warn) if ctx.body else match.arguments.copy()


def is_permitted(ctx: Context, caller: Caller, resolved: Any) -> bool:
    """Whether a caller's policies permit a request to a path whatever it sends and whatever is there."""
    if ctx.operation == request_route.HELP:
        return True
    if resolved.match.route.exists is not None:
        return False
    path, capability = ctx.policy_prefix + ctx.path, CAPABILITIES.get(ctx.operation, UPDATE)
    asked = (capability, SUDO) if "sudo" in resolved.flags else (capability,)
    return all(caller.acl.answer(each, path, capability == LIST) for each in asked)


def _check_policies(ctx: Context, caller: Caller, flags: frozenset[str]) -> None:
    acl, capability = caller.acl, CREATE if ctx.is_create else CAPABILITIES.get(ctx.operation, UPDATE)
    listing = capability == LIST
    judged = ctx.body if ctx.operation in ("read", "write", "patch") else None
    path = ctx.policy_prefix + ctx.path
    allowed = acl.allows(capability, path, parameters=judged, listing=listing, wrap_ttl_ns=ctx.wrap_ttl_ns)
    if allowed and "sudo" in flags:
        allowed = acl.allows(SUDO, path, listing=listing, wrap_ttl_ns=ctx.wrap_ttl_ns)
    if not allowed:
        raise Forbidden(one_error(DENIED))


def audit_request(ctx: Context) -> None:
    """Write the request's audit record where devices are enabled."""
    if ctx.source.read(AUDIT_DEVICES) is not None:
        _recording().record_request(ctx)


def name_entry(ctx: Context, response: Response, entry_number: int) -> None:
    """Say in the answer to a write which entry it made (X-Vault-Index)."""
    index_state = _index_state()
    index = index_state.header_of(ctx.core, entry_number)
    if index:
        response.headers[index_state.HEADER] = index


@cache
def _index_state() -> Any:
    """Return what says which entry a write made; few clusters replicate (R24), and such a one writes often."""
    from labkit.vault.replication import index_state

    return index_state


def audit_response(ctx: Context, response: Response) -> None:
    """Write the response's audit record to the devices that have the request's."""
    if ctx.devices:
        _recording().record_response(ctx, response)


@cache
def _recording() -> Any:
    """Return what writes audit records; few vaults have it (R24), and an import statement takes 0.3 µs each time."""
    from labkit.vault.audit import recording

    return recording


def fetches(ctx: Context) -> bool:
    """Whether the route's handler fetches from another service."""
    assert ctx.resolved is not None
    return "fetches" in ctx.resolved.flags


def fetches_now(ctx: Context, arguments: dict[str, Any]) -> bool:
    """Whether the handler fetches for these arguments, where that depends on them."""
    resolved = ctx.resolved
    assert resolved is not None
    if "may_fetch" not in resolved.flags or ctx.core.storage.get(MANAGED_KEYS) is None:
        return False  # without a managed key nothing leads out of this service
    assert isinstance(resolved.match, Match)
    decide = resolved.match.route.fetches_if
    return decide is not None and bool(decide(ctx, arguments))


def _page_of(arguments: dict[str, Any]) -> tuple[str, int] | None:
    """Take out of a listing's arguments which page is asked for; None for the whole list."""
    from labkit.service import key_pages

    return key_pages.take(arguments)


def call(ctx: Context, arguments: dict[str, Any]) -> Any:
    """Run the handler."""
    route, warned = ctx.route, len(ctx.warnings)
    assert route is not None
    record = route.record
    page = _page_of(arguments) if ctx.body and route.operation == "list" else None
    answer = route.handler(ctx, **arguments) if record is None else route.handler(ctx, new(record, arguments.values()))
    if page is not None:
        from labkit.service import key_pages  # of few lists (R24)

        return key_pages.cut(answer, *page)
    if answer is None:
        request_answer.drop_field_warnings(ctx, warned)
    return answer


def refuse(ctx: Context, error: ServiceError) -> Response:
    """Turn a refusal into its Response; of its writes only those in ``refused_writes`` are committed (R4)."""
    ctx.end()
    ctx.writes = dict(ctx.refused_writes)
    ctx.keys = ctx.core.keys
    if ctx.use_spent and _may_write(ctx.core):
        tokens.end_last_use(ctx)
    response = to_response(error)
    if ctx.answer_headers is not None:
        response.headers.update(ctx.answer_headers)
    if ctx.devices or (ctx.devices is None and ctx.source.read(AUDIT_DEVICES) is not None):
        response = _recorded(ctx, response)
    try:
        ctx.core.commit(ctx.writes)
    except StaleTerm:
        return step_down(ctx)
    except StoreError as failed:
        return to_response(failed)
    return response


def _recorded(ctx: Context, response: Response) -> Response:
    """Write the records of a refusal; return its answer, or that no device could write them."""
    try:
        _recording().record_refusal(ctx, response)
    except ServiceError as failed:
        return to_response(failed)
    return response


def _may_write(core: Core) -> bool:
    """Whether the node still writes: it may have lost leadership or mode while the refused request waited."""
    try:
        return not core.keys.sealed and core.leadership.active and not core.replica.is_secondary
    except BarrierError:
        return False


def step_down(ctx: Context) -> Response:
    """Answer for a node whose commit was refused because another node leads."""
    ctx.core.step_down()
    text = "this node is not the active one any more; nothing was changed, try again"
    return to_response(Unavailable(text, code=NOT_ACTIVE))
