"""Response wrapping: put away, looked at, opened once."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from labkit import Lab, Vault
from labkit.keymaking import verify_es512

INVALID = ["wrapping token is not valid or does not exist"]
WRAP = {"X-Vault-Wrap-TTL": "5m"}


def wrap(service, body=None) -> dict:
    return service.post("sys/wrapping/wrap", body or {"k": "v", "n": 1}, headers=WRAP).wrap_info


def test_what_a_wrapped_answer_shows(service) -> None:
    wrapped = service.post("sys/wrapping/wrap", {"k": "v"}, headers=WRAP)
    body = dict(wrapped.body)
    info = body.pop("wrap_info")

    assert {name: body[name] for name in ("request_id", "data", "auth", "warnings")} == {
        "request_id": "",
        "data": None,
        "auth": None,
        "warnings": None,
    }
    assert info == {
        "token": info["token"],
        "accessor": info["accessor"],
        "ttl": 300,
        "creation_time": "2030-01-01T00:00:00Z",
        "creation_path": "sys/wrapping/wrap",
    }


def test_any_answer_can_be_wrapped(service) -> None:
    service.post("secret/data/a", {"data": {"k": "v"}})
    info = service.get("secret/data/a", headers=WRAP).wrap_info
    opened = service.post("sys/wrapping/unwrap", {"token": info["token"]})
    assert opened.data["data"] == {"k": "v"}
    assert opened.body["mount_type"] == "kv"
    assert len(opened.body["request_id"]) == 36


def test_with_the_token_as_caller_or_in_the_body(service) -> None:
    token = wrap(service)["token"]
    assert service.post("sys/wrapping/unwrap", token=token).data == {"k": "v", "n": 1}
    token = wrap(service)["token"]
    assert service.put("sys/wrapping/unwrap", {"token": token}).data == {"k": "v", "n": 1}


def test_only_once(service) -> None:
    token = wrap(service)["token"]
    service.post("sys/wrapping/unwrap", {"token": token})
    for again in (
        service.post("sys/wrapping/unwrap", {"token": token}),
        service.post("sys/wrapping/unwrap", token=token),
        service.post("sys/wrapping/lookup", {"token": token}),
        service.post("sys/wrapping/rewrap", {"token": token}),
    ):
        assert (again.status, again.errors) == (400, INVALID)
    assert service.core.storage.list("cubbyhole/") == []


def test_it_ends(service) -> None:
    token = wrap(service)["token"]
    service.advance("299s")
    assert service.post("sys/wrapping/lookup", {"token": token}).status == 200
    service.advance("1s")
    assert service.post("sys/wrapping/unwrap", {"token": token}).errors == INVALID
    assert service.core.storage.list("cubbyhole/") == []


def test_a_fraction_of_a_second_is_not_for_ever(service) -> None:
    info = service.post("sys/wrapping/wrap", {"k": 1}, headers={"X-Vault-Wrap-TTL": "200ms"}).wrap_info
    service.advance("1s")
    assert service.post("sys/wrapping/unwrap", {"token": info["token"]}).status == 400


def test_looking_uses_nothing_up_and_needs_no_token(service) -> None:
    token = wrap(service)["token"]
    wanted = {"creation_ttl": 300, "creation_time": "2030-01-01T00:00:00Z", "creation_path": "sys/wrapping/wrap"}
    assert service.post("sys/wrapping/lookup", {"token": token}, token="").data == wanted
    assert service.post("sys/wrapping/lookup", token=token).data == wanted
    assert service.get("sys/wrapping/lookup", token=token).data == wanted
    assert service.post("sys/wrapping/unwrap", token=token).status == 200
    assert service.post("sys/wrapping/lookup", token="").errors == INVALID


def test_wrapping_anew(service) -> None:
    old = wrap(service)
    service.advance("1m")
    new = service.post("sys/wrapping/rewrap", {"token": old["token"]}).wrap_info

    assert (new["ttl"], new["creation_path"]) == (300, "sys/wrapping/wrap")
    assert new["creation_time"] == "2030-01-01T00:01:00Z"
    assert service.post("sys/wrapping/unwrap", {"token": old["token"]}).errors == INVALID
    assert service.post("sys/wrapping/unwrap", {"token": new["token"]}).data == {"k": "v", "n": 1}


def test_only_a_wrapping_token_opens(service) -> None:
    token = service.post("auth/token/create", {"num_uses": 1, "policies": ["default"]}).auth["client_token"]
    for other in (service.root_token, token, "none"):
        assert service.post("sys/wrapping/unwrap", {"token": other}).errors == INVALID
    assert service.post("sys/wrapping/unwrap", token="none").errors == INVALID
    assert service.post("sys/wrapping/unwrap", token="").errors == ["permission denied"]


def test_a_wrapping_token_can_nothing_else(service) -> None:
    token = wrap(service)["token"]
    assert service.get("auth/token/lookup-self", token=token).status == 403


def test_wrapping_needs_the_header(service) -> None:
    refused = service.post("sys/wrapping/wrap", {"k": "v"})
    assert (refused.status, refused.errors) == (400, ["endpoint requires response wrapping to be used"])


@pytest.mark.parametrize("ttl", ["-1s", "soon"])
def test_a_bad_header(service, ttl: str) -> None:
    assert service.get("sys/mounts", headers={"X-Vault-Wrap-TTL": ttl}).status == 400


def test_refusals_and_empty_answers_are_not_wrapped(service) -> None:
    assert service.get("secret/data/none", headers=WRAP).status == 404
    assert service.put("sys/policies/acl/a", {"policy": 'path "x" {}'}, headers=WRAP).status == 204


# ---- the JWT form

JWT = WRAP | {"X-Vault-Wrap-Format": "JWT"}


def claims_of(token: str) -> dict:
    payload = token.split(".")[1]
    return json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def test_an_answer_is_wrapped_in_jwt_form(service) -> None:
    assert service.get("sys/wrapping/pubkey", token="").status == 404
    info = service.post("sys/wrapping/wrap", {"k": "v"}, headers=JWT).wrap_info
    claims = claims_of(info["token"])
    assert claims == {
        "accessor": info["accessor"],
        "addr": "http://127.0.0.1:8200",
        "exp": claims["iat"] + 300,
        "iat": 1_893_456_000,
        "jti": claims["jti"],
        "nbf": claims["iat"],
        "type": "wrapping",
    }
    assert claims["jti"].startswith("hvs.")
    assert service.post("sys/wrapping/lookup", {"token": info["token"]}, token="").data["creation_ttl"] == 300
    assert service.post("sys/wrapping/unwrap", token=info["token"]).data == {"k": "v"}
    assert service.post("sys/wrapping/unwrap", {"token": info["token"]}).errors == INVALID


def test_the_public_key_verifies_it(service) -> None:
    token = service.post("sys/wrapping/wrap", {"k": "v"}, headers=JWT).wrap_info["token"]
    shown = service.get("sys/wrapping/pubkey", token="").data
    assert shown.pop("jwt_curve") == "p521"
    numbers = ec.EllipticCurvePublicNumbers(int(shown["jwt_x"]), int(shown["jwt_y"]), ec.SECP521R1())
    pem = numbers.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    assert verify_es512(pem, token)["type"] == "wrapping"
    second = service.post("sys/wrapping/wrap", {"k": "w"}, headers=JWT).wrap_info["token"]
    assert verify_es512(pem, second)["jti"] != verify_es512(pem, token)["jti"]


def test_a_jwt_that_was_altered_or_is_over_holds_nothing(service, clock) -> None:
    token = service.post("sys/wrapping/wrap", {"k": "v"}, headers=JWT).wrap_info["token"]
    head, payload, signature = token.split(".")
    other = Vault.dev()
    foreign = other.post("sys/wrapping/wrap", {"k": "v"}, headers=JWT).wrap_info["token"]
    for wrong in (f"{head}.{payload}.{signature[:-4]}AAAA", f"{head}.{payload}.", foreign, "a.b.c"):
        assert service.post("sys/wrapping/unwrap", {"token": wrong}).errors == INVALID
    clock.now_ns += 300 * 10**9
    assert service.post("sys/wrapping/unwrap", {"token": token}).errors == INVALID


def test_a_rewrapped_answer_has_the_form_that_is_asked_for(service) -> None:
    token = wrap(service)["token"]
    again = service.post("sys/wrapping/rewrap", {"token": token}, headers={"X-Vault-Wrap-Format": "jwt"}).wrap_info
    assert again["token"].count(".") == 2
    plain = service.post("sys/wrapping/rewrap", {"token": again["token"]}).wrap_info
    assert plain["token"].startswith("hvs.")
    odd = service.post("sys/wrapping/wrap", {"k": 1}, headers=WRAP | {"X-Vault-Wrap-Format": "xml"}).wrap_info
    assert odd["token"].startswith("hvs.")


def test_a_jwt_is_unwrapped_by_the_cluster_that_took_over() -> None:
    lab = Lab.pair(seed=6)
    lab.replicate("paris", "tokyo")
    headers = {"X-Vault-Wrap-TTL": "1h", "X-Vault-Wrap-Format": "jwt"}
    token = lab["paris"].post("sys/wrapping/wrap", {"k": "v"}, headers=headers).wrap_info["token"]
    lab.failover("paris", "tokyo")
    assert lab["tokyo"].post("sys/wrapping/unwrap", {"token": token}).data == {"k": "v"}
