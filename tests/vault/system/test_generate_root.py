"""``sys/generate-root``: a root token from key shares; what it has in common with operation tokens is tested there."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from pysequoia import Tsk, decrypt

from labkit.front.vault import Vault
from labkit.vault.core import Leadership
from labkit.vault.sealing import otp
from labkit.vault.storage.memory import MemoryStorage

ATTEMPT, UPDATE = "sys/generate-root/attempt", "sys/generate-root/update"
KEYS = {row["name"]: row for row in json.loads((Path(__file__).parents[2] / "vectors/pgp.json").read_text())["vectors"]}


def begin(service, **sent):
    answer = service.post(ATTEMPT, sent, token="")
    assert answer.status == 200, answer.errors
    return answer.body


def give(service, share, nonce):
    return service.put(UPDATE, {"key": share, "nonce": nonce}, token="")


def generate(service, **sent):
    started = begin(service, **sent)
    for share in service.unseal_keys[:3]:
        answer = give(service, share, started["nonce"])
    return started, answer.body


def test_three_shares_give_a_root_token_that_does_not_end(service):
    started, done = generate(service)

    assert done["encoded_token"] == done["encoded_root_token"] != ""
    assert (done["progress"], done["required"], done["complete"], done["otp"]) == (3, 3, True, "")
    token = otp.decode(done["encoded_root_token"], started["otp"])
    data = service.get("auth/token/lookup-self", token=token).data
    assert (data["policies"], data["ttl"], data["path"], data["orphan"]) == (["root"], 0, "auth/token/root", True)
    assert service.put("secret/data/a", {"data": {"n": 1}}, token=token).ok
    assert service.get(ATTEMPT, token="").body["started"] is False


def test_newer_command_lines_find_the_same_attempt_at_another_path(service):
    attempt, update = "sys/generate-root-token/attempt", "sys/generate-root-token/update"
    started = service.put(attempt, {}, token="").body
    assert service.get(attempt, token="").body == service.get(ATTEMPT, token="").body
    assert service.delete(attempt, token="").status == 204
    assert service.get(ATTEMPT, token="").body["started"] is False
    started = service.put(attempt, {}, token="").body
    for share in service.unseal_keys[:3]:
        done = service.put(update, {"key": share, "nonce": started["nonce"]}, token="").body
    token = otp.decode(done["encoded_root_token"], started["otp"])
    assert service.get("auth/token/lookup-self", token=token).data["policies"] == ["root"]
    within = service.get(attempt, token="", headers={"X-Vault-Namespace": "none"})
    assert within.status == 404


def test_without_an_attempt(service):
    assert service.get(ATTEMPT, token="").body == {
        "nonce": "",
        "started": False,
        "progress": 0,
        "required": 3,
        "complete": False,
        "encoded_token": "",
        "encoded_root_token": "",
        "pgp_fingerprint": "",
        "otp": "",
        "otp_length": 28,
    }
    refused = give(service, service.unseal_keys[0], "")
    assert (refused.status, refused.errors) == (400, ["no root generation in progress"])
    assert service.delete(ATTEMPT, token="").status == 204


def test_a_token_for_a_pgp_key(service):
    owner = KEYS["curve25519"] if "curve25519" in KEYS else next(iter(KEYS.values()))
    started, done = generate(service, pgp_key=owner["public"])

    assert started["pgp_fingerprint"] == done["pgp_fingerprint"] != ""
    assert started["otp"] == ""
    secret = Tsk.from_bytes(b64decode(owner["secret"])).decryptor()
    token = (decrypt(b64decode(done["encoded_root_token"]), decryptor=secret).bytes or b"").decode()
    assert service.get("auth/token/lookup-self", token=token).ok


def test_it_is_another_attempt_than_that_of_an_operation_token(service):
    service.post("sys/replication/dr/primary/enable")
    begin(service)
    assert service.core.storage.get("node/attempt") is None
    refused = service.post(ATTEMPT, token="")
    assert (refused.status, refused.errors) == (400, ["root generation already in progress"])


def test_wrong_shares_set_the_progress_to_0_and_the_attempt_goes_on(service):
    nonce = begin(service)["nonce"]
    give(service, service.unseal_keys[0], nonce)
    give(service, service.unseal_keys[1], nonce)
    before = service.core.storage.keys()
    refused = give(service, "11" * 32 + service.unseal_keys[2][-2:], nonce)

    assert refused.status == 400
    assert refused.errors[0].startswith("root generation aborted: unable to authenticate: invalid key: failed to")
    status = service.get(ATTEMPT, token="").body
    assert (status["progress"], status["nonce"], status["started"]) == (0, nonce, True)
    assert service.core.storage.keys() == before


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({}, "'key' must be specified in request body as JSON"),
        ({"key": ""}, "'key' must be specified in request body as JSON"),
        ({"key": "zz!"}, "'key' must be a valid hex or base64 string"),
        ({"key": "00" * 15}, "invalid key: key is shorter than minimum 16 bytes"),
        ({"key": "00" * 34}, "invalid key: key is longer than maximum 33 bytes"),
        ({"key": "00" * 33, "nonce": "x"}, 'incorrect nonce supplied; nonce for this root generation operation is "'),
        ({"key": "00" * 33, "nonce": None}, "incorrect nonce supplied"),
    ],
)
def test_odd_shares_are_refused_and_count_for_nothing(service, sent, text):
    begin(service)
    refused = service.put(UPDATE, sent, token="")

    assert refused.status == 400
    assert refused.errors[0].startswith(text)
    assert service.get(ATTEMPT, token="").body["progress"] == 0


def test_a_share_twice_is_refused(service):
    nonce = begin(service)["nonce"]
    give(service, service.unseal_keys[0], nonce)
    refused = give(service, service.unseal_keys[0], nonce)
    assert refused.errors == ["given key has already been provided during this generation operation"]
    assert service.get(ATTEMPT, token="").body["progress"] == 1


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"otp": "short"}, "OTP string is wrong length"),
        ({"otp": "é" * 28}, "OTP string holds characters that are not ASCII"),
        ({"pgp_key": "!"}, "error parsing PGP key: "),
    ],
)
def test_odd_attempts_are_refused(service, sent, text):
    refused = service.post(ATTEMPT, sent, token="")
    assert refused.status == 400
    assert refused.errors[0].startswith(text)
    assert service.get(ATTEMPT, token="").body["started"] is False


def test_an_otp_of_the_caller_is_not_shown(service):
    started, done = generate(service, otp="o" * 28)
    assert (started["otp"], done["otp"]) == ("", "")
    assert otp.decode(done["encoded_root_token"], "o" * 28).startswith("hvs.")


def test_an_attempt_survives_a_change_of_the_active_node(service):
    nonce = begin(service)["nonce"]
    give(service, service.unseal_keys[0], nonce)
    other: Any = Vault(service.core.storage, service.environment)
    other.unseal_with(service.unseal_keys[2:])

    status = other.request("GET", f"/v1/{ATTEMPT}").body
    assert (status["progress"], status["nonce"]) == (1, nonce)


def test_who_does_not_answer(service):
    blank = Vault(MemoryStorage(), service.environment)
    for method, path in (("GET", ATTEMPT), ("POST", ATTEMPT), ("DELETE", ATTEMPT), ("PUT", UPDATE)):
        refused = blank.request(method, f"/v1/{path}")
        assert (refused.status, refused.errors) == (400, ["server is not yet initialized"])
    service.set_leadership(Leadership(active=False, leader="http://other:8200"))
    assert service.post(ATTEMPT, token="").status == 307
    service.set_leadership(Leadership())
    service.put("sys/seal")
    assert (service.get(ATTEMPT, token="").status, service.get(ATTEMPT, token="").errors) == (503, ["Vault is sealed"])
