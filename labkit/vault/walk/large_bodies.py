"""Large bodies: path and token of a request are judged before its body is read at all (decision C22).

Nothing is spent, counted or recorded here: the request that follows is judged like every other.
"""

from __future__ import annotations

from labkit.service.errors import ServiceError
from labkit.service.limits import MAX_UNJUDGED_BYTES
from labkit.service.message import Request, Unreadable
from labkit.vault import tokens
from labkit.vault.context import Context
from labkit.vault.core import Core
from labkit.vault.seal_keys import SEALED
from labkit.vault.walk import request_route, request_walk

OPEN = frozenset(("unauthenticated", "invalid_token_is_400"))
TOO_LARGE = Unreadable(
    f"http: request body too large; without a valid token the limit is {MAX_UNJUDGED_BYTES} bytes", 413
)


def judge(core: Core, request: Request) -> Unreadable | None:
    """Return what stands for the body of a request whose sender may not send a large one; None for one that may.

    The body of a request that is refused whatever it says is not read either.
    """
    ctx = Context(core, request, core.now())
    try:
        request_walk.read_headers(ctx)
        request_route.find_route(ctx)
        text = tokens.sent_token(ctx)
        resolved = ctx.resolved
        assert resolved is not None
        flags = resolved.flags
        if core.keys.sealed and "while_sealed" not in flags:
            return Unreadable(SEALED, 503, is_whole=True)
        if not core.keys.sealed and core.replica.is_secondary and "any_mode" not in flags:
            return Unreadable(request_walk.PATH_DISABLED, is_whole=True)
        caller = request_walk.caller_of(ctx, text) if text and not core.keys.sealed else None
    except ServiceError:
        return TOO_LARGE
    if caller is not None and caller.token.uses >= 0:
        return None
    if not OPEN.isdisjoint(flags):
        return TOO_LARGE
    return Unreadable(tokens.INVALID_TOKEN if text else request_walk.DENIED, 403, is_whole=True)
