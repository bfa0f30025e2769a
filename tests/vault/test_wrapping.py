"""Wrapped answers in the store: found only by their token, with any time to live."""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault import wrapping
from labkit.vault.context import Context

BODY = {"data": {"k": "v"}, "warnings": None}


@pytest.fixture
def step(service):
    """A step of the service."""
    ctx = Context(service.core, Request("GET", "x"), service.core.now())
    ctx.path = "some/path"
    return ctx


def test_what_is_put_away_is_found_and_used_up(step) -> None:
    text, info = wrapping.wrap(step, BODY, 60)
    assert (info["ttl"], info["creation_path"]) == (60, "some/path")
    assert wrapping.read_wrapped(step, text) == wrapping.WrappedAnswer(BODY, 200, "some/path", 60, step.now)
    assert wrapping.unwrap(step, text).body == BODY
    with pytest.raises(BadRequest, match="wrapping token is not valid"):
        wrapping.read_wrapped(step, text)


def test_the_path_it_came_from_can_be_given(step) -> None:
    text, info = wrapping.wrap(step, BODY, 60, "another/path", 404)
    assert info["creation_path"] == "another/path"
    assert wrapping.read_wrapped(step, text)[1:3] == (404, "another/path")


@pytest.mark.parametrize("text", ["", "none", "a.b.c", "hvs.a.b"])
def test_what_is_no_wrapping_token(step, text: str) -> None:
    with pytest.raises(BadRequest, match="wrapping token is not valid"):
        wrapping.unwrap(step, text)


def test_an_ordinary_token_opens_nothing(service, step) -> None:
    with pytest.raises(BadRequest, match="wrapping token is not valid"):
        wrapping.read_wrapped(step, service.root_token)


@pytest.mark.parametrize(("text", "ttl_ns"), [("0", 0), ("90", 90 * 10**9), ("1m", 60 * 10**9), ("200ms", 2 * 10**8)])
def test_how_long(text: str, ttl_ns: int) -> None:
    assert wrapping.parse_wrap_ttl(text) == ttl_ns


def test_how_long_not() -> None:
    with pytest.raises(BadRequest, match="requested wrap ttl cannot be negative"):
        wrapping.parse_wrap_ttl("-1s")
    with pytest.raises(BadRequest, match="error parsing X-Vault-Wrap-TTL header"):
        wrapping.parse_wrap_ttl("soon")
