"""Refusals: the error bodies of the cloud's APIs, in their two forms, and an answer that is not JSON."""

from __future__ import annotations

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


def page(status: int) -> Response:
    """Return an answer whose body is a page and not JSON."""
    return Response(status, {"Content-Type": "text/html; charset=utf-8"}, None)
