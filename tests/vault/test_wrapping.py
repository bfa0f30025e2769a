"""Wrapped answers in the store: found only by their token, with any time to live."""

from __future__ import annotations

import pytest

from labkit.keymaking import make_signing_key, sign_es512
from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault import tokens, wrapping
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


def test_a_secondary_wraps_nothing(service) -> None:
    wrap = {"X-Vault-Wrap-TTL": "1m"}
    status = "sys/replication/dr/status"
    service.post("sys/replication/dr/primary/enable")
    assert service.get(status, headers=wrap).wrap_info
    service.post("sys/replication/dr/primary/demote")

    refused = service.get(status, headers=wrap)
    assert (refused.status, refused.errors) == (400, [wrapping.CANNOT_WRAP])
    assert service.get(status).ok


def test_a_wrapping_token_is_good_for_one_use_of_its_own(service, step) -> None:
    text, _ = wrapping.wrap(step, BODY, 60)
    found = tokens.find(step, text)
    assert found is not None
    assert found[0][1:] == (("response-wrapping",), "some/path", "", *found[0][4:])
    assert (found[0].uses, found[0].orphan, found[0].ttl_s) == (1, True, 60)
    assert found[0].expires_ns == step.now + 60 * SECOND_NS


def test_a_token_in_the_jwt_form_stands_for_the_one_inside(step) -> None:
    private, public = make_signing_key(lambda count: b"\x07" * count)
    text, _ = wrapping.wrap(step, BODY, 60)
    whole = sign_es512(private, {"jti": text, "type": "wrapping"})
    assert wrapping.token_of(step, whole) == "", "this cluster signs none"
    step.full_storage.put(wrapping.SIGNER, public.encode())
    assert wrapping.token_of(step, whole) == text
    for claims in ({"jti": text}, {"jti": 7, "type": "wrapping"}, {"type": "wrapping"}):
        assert wrapping.token_of(step, sign_es512(private, claims)) == ""
    assert wrapping.token_of(step, "a.b.c") == ""
    for plain in ("hvs.a.b", "a.b", "a.b.c.d", text):
        assert wrapping.token_of(step, plain) == plain
    assert wrapping.unwrap(step, whole).body == BODY


def test_a_jwt_counts_as_a_whole(step) -> None:
    private, public = make_signing_key(lambda count: b"\x07" * count)
    foreign, _ = make_signing_key(lambda count: b"\x08" * count)
    text, _ = wrapping.wrap(step, BODY, 60)
    step.full_storage.put(wrapping.SIGNER, public.encode())
    now_s = step.now // SECOND_NS
    claims = {"jti": text, "type": "wrapping", "exp": now_s + 60, "iat": now_s, "nbf": now_s}
    head, payload, signature = sign_es512(private, claims).split(".")
    other = sign_es512(private, {**claims, "exp": now_s + 600}).split(".")[1]
    signer = "A" if signature[0] != "A" else "B"
    altered = [
        sign_es512(foreign, claims),
        f"{head}.{other}.{signature}",
        f"{head}.{payload}.{signer}{signature[1:]}",
        f"{head}.{payload}.",
        "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0." + payload + ".",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + payload + "." + signature,
        *(sign_es512(private, {**claims, "exp": exp}) for exp in (0, now_s, "soon", True)),
        *(sign_es512(private, {**claims, name: now_s + 5}) for name in ("iat", "nbf")),
    ]
    for token in altered:
        assert wrapping.token_of(step, token) == "", token
        with pytest.raises(BadRequest, match="wrapping token is not valid"):
            wrapping.unwrap(step, token)
    assert wrapping.unwrap(step, f"{head}.{payload}.{signature}").body == BODY


def test_a_wrapped_answer_shows_where_it_came_from_only() -> None:
    assert repr(wrapping.WrappedAnswer(BODY, 200, "some/path", 60, 0)) == "WrappedAnswer(some/path)"


def test_an_answer_is_wrapped_as_it_would_have_been_given(service) -> None:
    service.post("secret/data/a", {"data": {"k": "v"}})
    wrap = {"X-Vault-Wrap-TTL": "90s"}
    wrapped = service.get("secret/data/a", headers=wrap)
    opened = service.post("sys/wrapping/unwrap", token=wrapped.wrap_info["token"])
    plain = service.get("secret/data/a")

    assert wrapped.data is None
    assert (wrapped.wrap_info["ttl"], wrapped.wrap_info["creation_path"]) == (90, "secret/data/a")
    assert "wrapped_accessor" not in wrapped.wrap_info
    assert {**opened.body, "request_id": ""} == {**plain.body, "request_id": ""}

    made = service.post("auth/token/create", {"policies": ["none"]}, headers={"X-Vault-Wrap-TTL": "1ms"})
    assert made.wrap_info["ttl"] == 1, "rounded up: none would mean no end"
    inner = service.post("sys/wrapping/unwrap", token=made.wrap_info["token"])
    assert made.wrap_info["wrapped_accessor"] == inner.auth["accessor"]
    assert inner.warnings
    assert not made.warnings


def wrapped(service, namespace):
    """An answer of a namespace, wrapped there."""
    headers = {"X-Vault-Wrap-TTL": "60s"}
    return service.post("sys/wrapping/wrap", {"a": namespace}, namespace=namespace, headers=headers).wrap_info


@pytest.mark.parametrize("made_in", ["", "team", "team/sub"])
@pytest.mark.parametrize("used_in", ["", "team", "team/sub", "other"])
@pytest.mark.parametrize("how", ["own", "named"])
def test_a_wrapping_token_is_used_in_any_namespace(service, made_in, used_in, how) -> None:
    for name, parent in (("team", ""), ("other", ""), ("sub", "team")):
        service.post(f"sys/namespaces/{name}", namespace=parent)
    info = wrapped(service, made_in)
    body, token = ({}, info["token"]) if how == "own" else ({"token": info["token"]}, None)
    looked_up = service.post("sys/wrapping/lookup", body, namespace=used_in, token=token)
    assert looked_up.data["creation_path"] == "sys/wrapping/wrap"
    again = service.post("sys/wrapping/rewrap", {"token": info["token"]}, namespace=used_in).wrap_info
    assert again["creation_path"] == "sys/wrapping/wrap"
    body, token = ({}, again["token"]) if how == "own" else ({"token": again["token"]}, None)

    assert service.post("sys/wrapping/unwrap", body, namespace=used_in, token=token).data == {"a": made_in}
    assert service.post("sys/wrapping/unwrap", body, namespace=used_in, token=token).status == 400


def test_a_wrapping_token_reaches_nothing_else_of_another_namespace(service) -> None:
    service.post("sys/namespaces/team")
    for made_in, used_in in (("", "team"), ("team", "")):
        token = wrapped(service, made_in)["token"]
        for path in ("cubbyhole/response", "secret/data/a", "auth/token/lookup-self"):
            assert service.get(path, namespace=used_in, token=wrapped(service, made_in)["token"]).status == 403
        assert service.get("cubbyhole/response", namespace=made_in, token=token).ok
