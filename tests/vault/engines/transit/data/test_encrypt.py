"""encrypt/<name>: single and batch, keys made on the way, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labkit import Vault
from labkit.service.encoding import to_base64
from labkit.vault.engines.transit.data.encrypt import TYPE
from labkit.vault.engines.transit.derivation import MISSING_CONTEXT
from labkit.vault.engines.transit.encoding import from_base64
from labkit.vault.engines.transit.keyring import Keyring

VECTORS = json.loads((Path(__file__).parents[4] / "vectors" / "transit_symmetric.json").read_text())["vectors"]

KeyringOf = Callable[..., Keyring]
PutKeyring = Callable[[str, Keyring], None]

HELLO = to_base64(b"hello world")
CONTEXT = to_base64(b"context one")
OTHER_CONTEXT = to_base64(b"context two")
NONCE = to_base64(b"onetwothreee")


def test_a_plaintext_goes_in_and_comes_out(service: Any) -> None:
    service.post("transit/keys/k")

    made = service.post("transit/encrypt/k", {"plaintext": HELLO})

    assert made.status == 200
    assert sorted(made.data) == ["ciphertext", "key_version"]
    assert made.data["ciphertext"].startswith("vault:v1:")
    assert made.data["key_version"] == 1
    assert made.warnings == []
    assert service.post("transit/decrypt/k", {"ciphertext": made.data["ciphertext"]}).data == {"plaintext": HELLO}


def test_the_same_plaintext_never_gives_the_same_ciphertext(service: Any) -> None:
    service.post("transit/keys/k")

    alone = [service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"] for _ in range(20)]
    batch = service.post("transit/encrypt/k", {"batch_input": [{"plaintext": HELLO}] * 20}).data["batch_results"]

    assert len({*alone, *(result["ciphertext"] for result in batch)}) == 40


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({}, "missing plaintext to encrypt"),
        ({"plaintext": "not base64!"}, "illegal base64 data at input byte 3"),
        ({"plaintext": 5}, "illegal base64 data at input byte 0"),
        ({"plaintext": HELLO, "context": "*"}, "illegal base64 data at input byte 0"),
        ({"plaintext": HELLO, "nonce": "A*"}, "illegal base64 data at input byte 1"),
        ({"plaintext": HELLO, "nonce": NONCE}, "provided nonce not allowed for this key"),
        ({"plaintext": HELLO, "key_version": -1}, "requested version for encryption is negative"),
        (
            {"plaintext": HELLO, "key_version": 9},
            "requested version for encryption is higher than the latest key version",
        ),
        ({"batch_input": []}, "missing batch input to process"),
        (
            {"batch_input": "x"},
            "1 error occurred:\n\t* failed to parse batch input: source data must be an array or slice, got string\n\n",
        ),
        (
            {"plaintext": HELLO, "associated_data": "!!"},
            "1 error occurred:\n\t* unable to get associated_data/additional_data from factory[0]: "
            "illegal base64 data at input byte 0\n\n",
        ),
    ],
)
def test_bad_input_is_refused(service: Any, body: dict[str, Any], why: str) -> None:
    service.post("transit/keys/k")

    refused = service.post("transit/encrypt/k", body)

    assert (refused.status, refused.errors) == (400, [why])


@pytest.mark.parametrize("body", [{"key_version": "one"}, {"partial_failure_response_code": "many"}])
def test_a_parameter_of_the_wrong_kind_is_refused(service: Any, body: dict[str, Any]) -> None:
    service.post("transit/keys/k")

    refused = service.post("transit/encrypt/k", {"plaintext": HELLO, **body})

    assert refused.status == 400
    assert f'error converting input for field "{next(iter(body))}"' in refused.errors[0]


@pytest.mark.parametrize("plaintext", ["", None])
def test_an_empty_plaintext_is_one(service: Any, plaintext: str | None) -> None:
    service.post("transit/keys/k")

    made = service.post("transit/encrypt/k", {"plaintext": plaintext})

    assert service.post("transit/decrypt/k", {"ciphertext": made.data["ciphertext"]}).data == {"plaintext": ""}


@pytest.mark.parametrize("wanted", [1, "1"])
def test_an_older_version_may_be_asked_for(service: Any, wanted: int | str) -> None:
    service.post("transit/keys/k")
    service.post("transit/keys/k/rotate")

    assert service.post("transit/encrypt/k", {"plaintext": HELLO}).data["key_version"] == 2
    made = service.post("transit/encrypt/k", {"plaintext": HELLO, "key_version": wanted})

    assert made.data["key_version"] == 1
    assert made.data["ciphertext"].startswith("vault:v1:")


def test_the_minimum_version_holds_for_wishes_only(service: Any) -> None:
    service.post("transit/keys/k")
    for _ in range(2):
        service.post("transit/keys/k/rotate")
    service.post("transit/keys/k/config", {"min_decryption_version": 2})

    below = service.post("transit/encrypt/k", {"plaintext": HELLO, "key_version": 1})
    assert below.errors == ["no such key version"]

    service.post("transit/keys/k/config", {"min_encryption_version": 3})
    below = service.post("transit/encrypt/k", {"plaintext": HELLO, "key_version": 2})
    assert below.errors == ["requested version for encryption is less than the minimum encryption key version"]
    assert service.post("transit/encrypt/k", {"plaintext": HELLO}).data["key_version"] == 3


def test_what_a_caller_sends_under_the_paths_name_is_told(service: Any) -> None:
    service.post("transit/keys/k")

    made = service.post("transit/encrypt/k", {"plaintext": HELLO, "name": "other", "zeta": 1, "alpha": 2})

    assert made.status == 200
    assert made.warnings == [
        "Endpoint ignored these unrecognized parameters: [alpha zeta]",
        "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]",
    ]


def test_associated_data_is_bound_in(service: Any) -> None:
    service.post("transit/keys/k")
    text = service.post("transit/encrypt/k", {"plaintext": HELLO, "associated_data": "YWFk"}).data["ciphertext"]

    def decrypted(associated: str | None) -> Any:
        return service.post("transit/decrypt/k", {"ciphertext": text, "associated_data": associated})

    assert decrypted("YWFk").data == {"plaintext": HELLO}
    for wrong in (None, "", CONTEXT):
        assert decrypted(wrong).errors == ["cipher: message authentication failed"]


# ---- batches


def test_a_batch_keeps_order_and_references(service: Any) -> None:
    service.post("transit/keys/k")
    service.post("transit/keys/k/rotate")
    items: list[dict[str, Any]] = [
        {"plaintext": HELLO, "reference": "first"},
        {"plaintext": to_base64(b"two"), "key_version": 1},
        {"plaintext": "", "reference": "third", "associated_data": "YWFk"},
    ]

    made = service.post("transit/encrypt/k", {"batch_input": items, "plaintext": "ignored"})

    results = made.data["batch_results"]
    assert made.status == 200
    assert [result["key_version"] for result in results] == [2, 1, 2]
    assert [result["reference"] for result in results] == ["first", "", "third"]
    again = [
        {"ciphertext": result["ciphertext"], "associated_data": item.get("associated_data")}
        for item, result in zip(items, results, strict=True)
    ]
    opened = service.post("transit/decrypt/k", {"batch_input": again}).data["batch_results"]
    assert [result["plaintext"] for result in opened] == [item["plaintext"] for item in items]


def test_a_batch_of_plaintexts_alone(service: Any) -> None:
    service.post("transit/keys/k")
    plaintexts = [to_base64(b"%d" % number) for number in range(50)]
    items = [{"plaintext": plaintext} for plaintext in plaintexts[:-1]]
    items.append({"plaintext": plaintexts[-1], "reference": "last"})

    made = service.post("transit/encrypt/k", {"batch_input": items})

    results = made.data["batch_results"]
    assert made.status == 200
    assert [result["reference"] for result in results] == [""] * 49 + ["last"]
    assert [result["key_version"] for result in results] == [1] * 50
    payloads = [from_base64(result["ciphertext"].removeprefix("vault:v1:")) for result in results]
    assert [len(payload) for payload in payloads] == [12 + len(from_base64(text)) + 16 for text in plaintexts]
    assert len({payload[:12] for payload in payloads}) == 50
    opened = service.post(
        "transit/decrypt/k", {"batch_input": [{"ciphertext": result["ciphertext"]} for result in results]}
    )
    assert [result["plaintext"] for result in opened.data["batch_results"]] == plaintexts


@pytest.mark.parametrize("extra", [{}, {"key_version": 1}])
def test_a_bad_item_leaves_the_others_alone(service: Any, extra: dict[str, Any]) -> None:
    service.post("transit/keys/k")
    items = [
        {"plaintext": HELLO},
        {"plaintext": "simple_plaintext", "reference": "b"},
        {},
        {"plaintext": HELLO, **extra},
    ]

    made = service.post("transit/encrypt/k", {"batch_input": items})

    assert made.status == 400
    assert made.errors == []
    good, bad, missing, last = made.data["batch_results"]
    assert sorted(good) == sorted(last) == ["ciphertext", "key_version", "reference"]
    assert bad == {"error": "illegal base64 data at input byte 6", "reference": "b"}
    assert missing == {"error": "missing plaintext to encrypt", "reference": ""}
    for result in (good, last):
        opened = service.post("transit/decrypt/k", {"ciphertext": result["ciphertext"]})
        assert opened.data == {"plaintext": HELLO}


def test_an_items_refusal_is_plain_text(service: Any) -> None:
    service.post("transit/keys/k")
    items = [
        {"plaintext": HELLO, "associated_data": "!"},
        {"plaintext": HELLO, "nonce": NONCE},
        {"plaintext": HELLO, "key_version": 2},
    ]

    made = service.post("transit/encrypt/k", {"batch_input": items})

    assert [result["error"] for result in made.data["batch_results"]] == [
        "unable to get associated_data/additional_data from factory[0]: illegal base64 data at input byte 0",
        "provided nonce not allowed for this key",
        "requested version for encryption is higher than the latest key version",
    ]


@pytest.mark.parametrize(("wanted", "status"), [(202, 202), ("207", 207), (200, 200), (700, 400), (99, 400)])
def test_the_status_of_a_half_failed_batch_is_the_callers_choice(service: Any, wanted: Any, status: int) -> None:
    service.post("transit/keys/k")
    items = [{"plaintext": HELLO}, {"plaintext": "***"}]

    made = service.post("transit/encrypt/k", {"batch_input": items, "partial_failure_response_code": wanted})

    assert made.status == status
    assert len(made.data["batch_results"]) == 2
    assert bool(made.warnings) == (status == 400)


def test_a_batch_that_failed_wholly_is_400_whatever_was_chosen(service: Any) -> None:
    service.post("transit/keys/k")

    made = service.post(
        "transit/encrypt/k", {"batch_input": [{"plaintext": "***"}], "partial_failure_response_code": 207}
    )

    assert made.status == 400
    assert made.data["batch_results"] == [{"error": "illegal base64 data at input byte 0", "reference": ""}]


def test_a_null_batch_is_none(service: Any) -> None:
    service.post("transit/keys/k")

    made = service.post("transit/encrypt/k", {"batch_input": None, "plaintext": HELLO})

    assert made.data["key_version"] == 1


def test_a_batch_for_a_derived_key(service: Any) -> None:
    service.post("transit/keys/k", {"derived": True})

    mixed = service.post(
        "transit/encrypt/k", {"batch_input": [{"plaintext": HELLO, "context": CONTEXT}, {"plaintext": HELLO}]}
    )
    assert mixed.errors == ["context should be set either in all the request blocks or in none"]

    items = [{"plaintext": HELLO, "context": CONTEXT}, {"plaintext": HELLO, "context": OTHER_CONTEXT}]
    made = service.post("transit/encrypt/k", {"batch_input": items})
    texts = [result["ciphertext"] for result in made.data["batch_results"]]
    crossed = [{"ciphertext": texts[0], "context": CONTEXT}, {"ciphertext": texts[1], "context": CONTEXT}]
    first, second = service.post("transit/decrypt/k", {"batch_input": crossed}).data["batch_results"]
    assert first["plaintext"] == HELLO
    assert second["error"] == "cipher: message authentication failed"


def test_a_batch_for_an_hmac_key_fails_item_by_item(service: Any) -> None:
    service.post("transit/keys/k", {"type": "hmac"})

    made = service.post("transit/encrypt/k", {"batch_input": [{"plaintext": HELLO}, {"plaintext": "*"}]})

    assert [result["error"] for result in made.data["batch_results"]] == [
        "message encryption not supported for key type hmac",
        "illegal base64 data at input byte 0",
    ]


# ---- keys that are missing


def test_a_missing_key_is_made(service: Any) -> None:
    assert service.post("transit/encrypt/new", {"plaintext": HELLO}).status == 200

    told = service.get("transit/keys/new").data
    assert (told["type"], told["derived"], told["latest_version"]) == ("aes256-gcm96", False, 1)
    assert (told["exportable"], told["allow_plaintext_backup"], told["auto_rotate_period"]) == (False, False, 0)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"context": CONTEXT}, {"type": "aes256-gcm96", "derived": True, "convergent_encryption": False}),
        ({"type": "chacha20-poly1305"}, {"type": "chacha20-poly1305", "derived": False}),
        (
            {"context": CONTEXT, "convergent_encryption": True},
            {"derived": True, "convergent_encryption": True, "convergent_encryption_version": -1},
        ),
        ({"context": CONTEXT, "convergent_encryption": "true"}, {"convergent_encryption": True}),
        ({"context": CONTEXT, "convergent_encryption": ""}, {"convergent_encryption": False}),
    ],
)
@pytest.mark.parametrize("batched", [False, True])
def test_a_missing_key_is_made_as_the_request_says(
    service: Any, body: dict[str, Any], told: dict[str, Any], batched: bool
) -> None:
    item = {"plaintext": HELLO, **body}

    made = service.post("transit/encrypt/new", {"batch_input": [item]} if batched else item)

    assert made.status == 200
    known = service.get("transit/keys/new").data
    assert {name: known[name] for name in told} == told


@pytest.mark.parametrize("name", ["k", "new"])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("x", "unknown key type x"),
        ("", "unknown key type "),
        (None, "unknown key type "),
        ("rsa-2048", "unknown key type rsa-2048"),
        ("ecdsa-p256", "key type ecdsa-p256 not supported for this operation"),
    ],
)
def test_a_type_is_judged_whether_or_not_the_key_is_there(
    service: Any, name: str, batched: bool, sent: Any, text: str
) -> None:
    service.post("transit/keys/k")
    item = {"plaintext": HELLO}

    refused = service.post(f"transit/encrypt/{name}", {**({"batch_input": [item]} if batched else item), "type": sent})

    assert (refused.status, refused.errors) == (400, [text])
    assert service.list("transit/keys").data["keys"] == ["k"]
    assert service.post("transit/encrypt/k", {**item, "type": "aes128-gcm96"}).ok


def test_an_empty_type_of_an_item_is_the_usual_one(service: Any) -> None:
    assert service.post("transit/encrypt/new", {"batch_input": [{"plaintext": HELLO, "type": ""}]}).ok
    assert service.get("transit/keys/new").data["type"] == "aes256-gcm96"


def test_the_top_level_goes_before_the_items(service: Any) -> None:
    items = [{"plaintext": HELLO}, {"plaintext": HELLO, "type": "chacha20-poly1305"}]

    service.post("transit/encrypt/a", {"batch_input": items})
    service.post("transit/encrypt/b", {"batch_input": items, "type": "aes128-gcm96"})

    assert service.get("transit/keys/a").data["type"] == "chacha20-poly1305"
    assert service.get("transit/keys/b").data["type"] == "aes128-gcm96"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            {"convergent_encryption": True},
            "convergent encryption requires derivation to be enabled, so context is required",
        ),
        ({"type": "hmac"}, "unknown key type hmac"),
        ({"type": "des"}, "unknown key type des"),
        ({"type": "rsa-2048"}, "unknown key type rsa-2048"),
        ({"type": "ed25519"}, "unknown key type ed25519"),
        ({"type": "ecdsa-p384"}, "key type ecdsa-p384 not supported for this operation"),
        ({}, "encryption key not found"),
    ],
)
def test_no_key_is_made_where_that_is_switched_off(service: Any, body: dict[str, Any], why: str) -> None:
    service.post("transit/config/keys", {"disable_upsert": True})

    refused = service.post("transit/encrypt/new", {"plaintext": HELLO, **body})

    assert (refused.status, refused.errors) == (400, [why])
    assert service.get("transit/keys/new").status == 404


@pytest.mark.parametrize("body", [{"plaintext": "*"}, {"batch_input": [{"plaintext": "*"}, {}]}])
def test_a_request_that_fails_makes_no_key(service: Any, body: dict[str, Any]) -> None:
    assert service.post("transit/encrypt/new", body).status == 400
    assert service.get("transit/keys/new").status == 404


def test_a_batch_that_half_fails_makes_its_key(service: Any) -> None:
    made = service.post("transit/encrypt/new", {"batch_input": [{"plaintext": "*"}, {"plaintext": HELLO}]})

    assert made.status == 400
    text = made.data["batch_results"][1]["ciphertext"]
    assert service.post("transit/decrypt/new", {"ciphertext": text}).data == {"plaintext": HELLO}


def test_an_existing_key_stays_as_it_is(service: Any) -> None:
    service.post("transit/keys/k")

    service.post("transit/encrypt/k", {"plaintext": HELLO, "type": "chacha20-poly1305", "context": CONTEXT})

    told = service.get("transit/keys/k").data
    assert (told["type"], told["derived"]) == ("aes256-gcm96", False)


def token_with(service: Any, capabilities: str) -> str:
    rule = f'path "transit/encrypt/*" {{ capabilities = [{capabilities}] }}'
    service.put("sys/policies/acl/some", {"policy": rule})
    token: str = service.post("auth/token/create", {"policies": ["some"]}).auth["client_token"]
    return token


def test_who_may_only_create_encrypts_once(service: Any) -> None:
    token = token_with(service, '"create"')

    first = service.post("transit/encrypt/new", {"plaintext": HELLO}, token=token)
    second = service.post("transit/encrypt/new", {"plaintext": HELLO}, token=token)

    assert (first.status, second.status) == (200, 403)


def test_who_may_only_update_makes_no_key(service: Any) -> None:
    token = token_with(service, '"update"')
    service.post("transit/keys/k")

    assert service.post("transit/encrypt/k", {"plaintext": HELLO}, token=token).status == 200
    assert service.post("transit/encrypt/new", {"plaintext": HELLO}, token=token).status == 403
    assert service.get("transit/keys/new").status == 404


# ---- derived and convergent keys


def test_a_derived_key_wants_its_context(service: Any) -> None:
    service.post("transit/keys/k", {"derived": True})

    assert service.post("transit/encrypt/k", {"plaintext": HELLO}).errors == [MISSING_CONTEXT]
    text = service.post("transit/encrypt/k", {"plaintext": HELLO, "context": CONTEXT}).data["ciphertext"]
    opened = service.post("transit/decrypt/k", {"ciphertext": text, "context": CONTEXT})
    assert opened.data == {"plaintext": HELLO}
    wrong = service.post("transit/decrypt/k", {"ciphertext": text, "context": OTHER_CONTEXT})
    assert wrong.errors == ["cipher: message authentication failed"]
    assert service.post("transit/decrypt/k", {"ciphertext": text}).errors == [MISSING_CONTEXT]


def test_a_convergent_key_gives_the_same_ciphertext_again(service: Any) -> None:
    service.post("transit/keys/k", {"derived": True, "convergent_encryption": True})
    item = {"plaintext": HELLO, "context": CONTEXT}

    alone = service.post("transit/encrypt/k", item).data["ciphertext"]
    batch = service.post("transit/encrypt/k", {"batch_input": [item, item]}).data["batch_results"]

    assert {alone, *(result["ciphertext"] for result in batch)} == {alone}
    other = service.post("transit/encrypt/k", {**item, "context": OTHER_CONTEXT}).data["ciphertext"]
    assert other != alone


@pytest.mark.parametrize("made_by", ["keys", "encrypt"])
def test_an_early_service_makes_convergent_keys_that_want_a_nonce(made_by: str) -> None:
    service = Vault.dev(version="0.6.1")
    item = {"plaintext": HELLO, "context": CONTEXT}
    if made_by == "keys":
        service.post("transit/keys/k", {"derived": True, "convergent_encryption": True})
    else:
        service.post("transit/encrypt/k", {**item, "nonce": NONCE, "convergent_encryption": True})

    without = service.post("transit/encrypt/k", item)
    made = service.post("transit/encrypt/k", {**item, "nonce": NONCE}).data

    assert service.get("transit/keys/k").data["convergent_encryption_version"] == 1
    assert without.errors == [
        "base64-decoded nonce must be 12 bytes long when using convergent encryption with this key"
    ]
    sent = {"ciphertext": made["ciphertext"], "context": CONTEXT}
    assert service.post("transit/decrypt/k", {**sent, "nonce": NONCE}).data == {"plaintext": HELLO}
    assert service.post("transit/decrypt/k", sent).errors == ["invalid convergent nonce supplied"]


CONVERGENT = [vector for vector in VECTORS if vector["case"].startswith("convergent")]


@pytest.mark.parametrize("vector", CONVERGENT, ids=lambda vector: f"{vector['type']}-{vector['case']}")
@pytest.mark.parametrize("batched", [False, True])
def test_a_convergent_key_of_any_kind_works_through_the_endpoints(
    service: Any, keyring_of: KeyringOf, put_keyring: PutKeyring, vector: dict[str, str], batched: bool
) -> None:
    kind = int(vector["case"][-1])
    keyring = keyring_of(
        vector["type"],
        bytes.fromhex(vector["key_hex"]),
        entry_convergent=3 if kind == 3 else 0,
        derived=True,
        kdf=1,
        convergent_encryption=True,
        convergent_version=-1 if kind == 3 else kind,
    )
    put_keyring("old", keyring)
    sent = {"context": vector["context_b64"]}
    if kind == 1:
        sent["nonce"] = vector["nonce_b64"]

    def ask(path: str, **item: str) -> Any:
        item = {**item, **sent}
        answer = service.post(path, {"batch_input": [item]} if batched else item)
        assert answer.status == 200
        return answer.data["batch_results"][0] if batched else answer.data

    assert ask("transit/encrypt/old", plaintext=vector["plaintext_b64"])["ciphertext"] == vector["ciphertext"]
    assert ask("transit/decrypt/old", ciphertext=vector["ciphertext"])["plaintext"] == vector["plaintext_b64"]
    assert ask("transit/rewrap/old", ciphertext=vector["ciphertext"])["ciphertext"] == vector["ciphertext"]


@pytest.mark.parametrize("batched", [False, True])
def test_associated_data_with_a_convergent_key_works_and_warns(service: Any, batched: bool) -> None:
    service.post("transit/keys/convergent", {"derived": True, "convergent_encryption": True})

    def send(**more: str) -> Any:
        item = {"plaintext": CONTEXT, "context": CONTEXT, **more}
        return service.post("transit/encrypt/convergent", {"batch_input": [item]} if batched else item)

    one, other, without = send(associated_data="AAAA"), send(associated_data="AAAB"), send()
    assert [answer.status for answer in (one, other, without)] == [200, 200, 200]
    assert [len(answer.warnings) for answer in (one, other, without)] == [1, 1, 0]
    assert "one key and nonce" in one.warnings[0]
    service.post("transit/keys/plain")
    assert service.post("transit/encrypt/plain", {"plaintext": CONTEXT, "associated_data": "AAAA"}).warnings == []


def test_a_request_may_create_a_key_of_a_symmetric_type_only(service: Any) -> None:
    assert TYPE.choices == ("aes128-gcm96", "aes256-gcm96", "chacha20-poly1305")
    for sent in ({"type": "hmac"}, {"batch_input": [{"plaintext": "aGk=", "type": "hmac"}]}):
        refused = service.post("transit/encrypt/new", {"plaintext": "aGk=", **sent})
        assert (refused.status, refused.errors) == (400, ["unknown key type hmac"])
    assert service.get("transit/keys/new").status == 404
