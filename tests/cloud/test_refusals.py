"""Refusals: two shapes of error, and a page that is not JSON."""

from __future__ import annotations

from labkit.cloud.refusals import api_error, page, token_error


def test_the_shapes_of_errors() -> None:
    assert api_error(404, "Code", "text").body == {"error": {"code": "Code", "message": "text"}}
    assert token_error(400, "invalid_request", "text").body == {
        "error": "invalid_request",
        "error_description": "text",
    }
    numbered = token_error(401, "invalid_client", "text", 7)
    assert (numbered.status, numbered.body) == (
        401,
        {"error": "invalid_client", "error_description": "7: text", "error_codes": [7]},
    )
    assert (page(502).status, page(502).body) == (502, None)
    assert page(502).headers["Content-Type"].startswith("text/html")
