"""Refusals: the error bodies of the cloud's APIs, in their two forms, and an answer that is not JSON."""

from __future__ import annotations

from hashlib import sha256

from labkit.cloud.inventory import guid_of
from labkit.service.durations import SECOND_NS, format_instant
from labkit.service.message import Body, Response, respond


def api_error(status: int, code: str, message: str) -> Response:
    """Return an error as the compute API and the directory shape it."""
    return respond(status, {"error": {"code": code, "message": message}})


def token_error(status: int, error: str, text: str, number: int = 0) -> Response:
    """Return an error as the token endpoints shape it; ``number`` tells errors of one name apart."""
    body: Body = {"error": error, "error_description": f"{number}: {text}" if number else text}
    if number:
        body["error_codes"] = [number]
    return respond(status, body)


def traced(answer: Response, path: str, now_ns: int) -> Response:
    """Return a token endpoint's error with what clients outside show of it: two ids, and the time; others as they are.

    The ids follow from time and path: nothing is drawn for them.
    """
    body = answer.body
    if answer.status < 400 or not isinstance(body, dict) or not isinstance(body.get("error"), str):
        return answer
    digest = sha256(f"{now_ns} {path} {body['error']}".encode(errors="replace")).digest()
    time = format_instant(now_ns // SECOND_NS * SECOND_NS).replace("T", " ")
    ids = {"trace_id": guid_of(digest[:16]), "correlation_id": guid_of(digest[16:])}
    return answer._replace(body={**body, "timestamp": time, **ids})


def page(status: int) -> Response:
    """Return an answer whose body is a page and not JSON."""
    return Response(status, {"Content-Type": "text/html; charset=utf-8"}, None)
