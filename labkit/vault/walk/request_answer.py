"""What an answer is made of: the envelope around a handler's data, its warnings, wrapping, and the usual headers."""

from __future__ import annotations

from typing import Any

from labkit.service.message import USUAL_HEADERS, Reply, Response, respond
from labkit.service.record import new
from labkit.vault import tokens
from labkit.vault.context import Context

ENVELOPE: dict[str, Any] = {
    "request_id": "",
    "lease_id": "",
    "renewable": False,
    "lease_duration": 0,
    "data": None,
    "wrap_info": None,
    "warnings": None,
    "auth": None,
    "mount_type": "",
}
"""What stands around an answer's data: the members in their order."""


def drop_field_warnings(ctx: Context, warned: int) -> None:
    """Drop the fields' warnings when the handler answers nothing: they do not turn a 204 into an answer."""
    if len(ctx.warnings) == warned:
        ctx.warnings.clear()


def respond_with(ctx: Context, answer: Any) -> Response:
    """Make the Response of a handler's answer (a dict, a Reply, a Response, or nothing); a last use ends its token."""
    assert ctx.route is not None
    assert ctx.resolved is not None
    if type(answer) is dict and not ctx.wrap_ttl_ns and ctx.route.has_usual_envelope:  # as most do
        body = ENVELOPE.copy()  # as in ``envelope``
        body["request_id"], body["data"], body["mount_type"] = ctx.request_id, answer, ctx.resolved.mount_type
        if ctx.warnings:
            body["warnings"] = ctx.warnings
        response = new(Response, (200, USUAL_HEADERS.copy(), body, ""))
    else:
        response = _response(ctx, answer)
    if ctx.answer_headers is not None:
        response.headers.update(ctx.answer_headers)
    if ctx.use_spent:
        tokens.end_last_use(ctx)
    return response


def _response(ctx: Context, answer: Any) -> Response:
    assert ctx.resolved is not None
    if isinstance(answer, Response):
        return answer
    if type(answer) is Reply and ctx.route is not None and ctx.route.has_usual_envelope and not ctx.wrap_ttl_ns:
        return _replied(ctx, answer)
    flags = ctx.resolved.flags
    if answer is None and not ctx.warnings:
        return respond(204)
    if "no_envelope" in flags:
        return respond(200, answer)
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    if ctx.wrap_ttl_ns and reply.status == 200 and (reply.data is not None or reply.auth is not None):
        from labkit.vault import wrapping

        body = {**envelope(ctx, reply.data), "auth": reply.auth}
        reply = Reply(wrap_info=wrapping.wrap_answer(ctx, body, reply.accessor))
    response = _replied(ctx, reply)
    if reply.data and "top_level_data" in flags and response.body is not None:
        response.body.update(reply.data)
    return response


def _replied(ctx: Context, reply: Reply) -> Response:
    data, status, auth, wrap_info, lease_duration_s, _ = reply
    body = envelope(ctx, data)
    body["auth"], body["lease_duration"] = auth, lease_duration_s
    if wrap_info:
        body["wrap_info"], body["request_id"] = wrap_info, ""
    return new(Response, (status, USUAL_HEADERS.copy(), body, ""))


def envelope(ctx: Context, data: Any) -> dict[str, Any]:
    """Return the API's envelope around data, to which a reply may have more to add."""
    body = ENVELOPE.copy()
    body["request_id"], body["data"] = ctx.request_id, data
    if ctx.warnings:
        body["warnings"] = ctx.warnings
    if ctx.resolved is not None:
        body["mount_type"] = ctx.resolved.mount_type
    return body
