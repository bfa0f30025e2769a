"""Ciphertexts: those of real servers, the order in which bad ones are refused, and the rules for nonces."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.encoding import to_base64
from labkit.service.errors import BadRequest
from labkit.vault.engines.transit import ciphertexts
from labkit.vault.engines.transit.derivation import MISSING_CONTEXT
from labkit.vault.engines.transit.encoding import from_base64
from labkit.vault.engines.transit.keyring import Keyring, KeyVersion

VECTORS = json.loads((Path(__file__).parents[3] / "vectors" / "transit_symmetric.json").read_text())["vectors"]
CONVERGENT = [vector for vector in VECTORS if vector["case"].startswith("convergent")]

KeyringOf = Callable[..., Keyring]

TYPES = ["aes128-gcm96", "aes256-gcm96", "chacha20-poly1305"]
CONTEXT = to_base64(b"context-1")
NONCE = to_base64(b"onetwothreee")


def case_id(vector: dict[str, str]) -> str:
    return f"{vector['type']}-{vector['case']}"


def keyring_for(vector: dict[str, str]) -> Keyring:
    """The keyring that a row of the file was made with."""
    settings: dict[str, Any] = {}
    case, entry_convergent = vector["case"], 0
    if case.startswith("derived"):
        settings = {"derived": True, "kdf": 1 if case == "derived-hkdf" else 0}
    elif case.startswith("convergent"):
        kind = int(case[-1])
        settings = {"derived": True, "kdf": 1, "convergent_encryption": True}
        settings["convergent_version"] = -1 if kind == 3 else kind
        entry_convergent = 3 if kind == 3 else 0
    entry = KeyVersion(bytes.fromhex(vector["key_hex"]), bytes(32), 0, entry_convergent)
    return Keyring(vector["type"], (entry,), **settings)


def item_for(vector: dict[str, str]) -> dict[str, str | None]:
    return {
        "context": vector.get("context_b64"),
        "nonce": vector.get("nonce_b64"),
        "associated_data": vector.get("aad_b64"),
    }


@pytest.mark.parametrize("vector", VECTORS, ids=case_id)
def test_a_real_servers_ciphertext_decrypts(vector: dict[str, str]) -> None:
    message = ciphertexts.decrypt(keyring_for(vector), item_for(vector) | {"ciphertext": vector["ciphertext"]})

    assert to_base64(message) == vector["plaintext_b64"]


@pytest.mark.parametrize("vector", CONVERGENT, ids=case_id)
def test_a_convergent_ciphertext_comes_out_as_on_a_real_server(vector: dict[str, str]) -> None:
    keyring, item = keyring_for(vector), item_for(vector)

    made = ciphertexts.encrypt(keyring, from_base64(vector["plaintext_b64"]), item, b"")

    assert made == (vector["ciphertext"], 1)
    assert ciphertexts.encrypt(keyring, b"", item, b"") == (vector["ciphertext_of_empty"], 1)
    assert ciphertexts.decrypt(keyring, item | {"ciphertext": vector["ciphertext_of_empty"]}) == b""


@pytest.mark.parametrize("vector", VECTORS, ids=case_id)
def test_with_its_nonce_any_ciphertext_comes_out_again(vector: dict[str, str]) -> None:
    payload = from_base64(vector["ciphertext"].rpartition(":")[2])

    made, version = ciphertexts.encrypt(
        keyring_for(vector), from_base64(vector["plaintext_b64"]), item_for(vector), payload[:12]
    )

    assert (made, version) == (vector["ciphertext"], 1)


def test_every_type_and_kind_has_its_row() -> None:
    kinds = {"plain", "plain+aad", "derived-hkdf", "derived-counter"}
    kinds |= {"convergent-v1", "convergent-v2", "convergent-v3"}

    assert {(vector["type"], vector["case"]) for vector in VECTORS} == {
        (name, kind) for name in TYPES for kind in kinds
    }


@given(
    st.sampled_from(TYPES),
    st.binary(max_size=100),
    st.binary(min_size=12, max_size=12),
    st.none() | st.binary(max_size=40),
    st.sampled_from([{}, {"derived": True}, {"derived": True, "kdf": 1}]),
)
def test_what_goes_in_comes_out(
    key_type: str, message: bytes, nonce: bytes, associated: bytes | None, settings: dict[str, Any]
) -> None:
    key = bytes(range(16 if key_type == "aes128-gcm96" else 32))
    keyring = Keyring(key_type, (KeyVersion(key, bytes(32), 0),), **settings)
    item = {"context": CONTEXT, "associated_data": None if associated is None else to_base64(associated)}

    text, version = ciphertexts.encrypt(keyring, message, item, nonce)

    assert version == 1
    assert from_base64(text.removeprefix("vault:v1:"))[:12] == nonce
    assert ciphertexts.decrypt(keyring, item | {"ciphertext": text}) == message


@given(st.binary(max_size=40), st.integers(0, 10**6), st.integers(0, 7))
def test_an_altered_bit_is_found(message: bytes, where: int, bit: int) -> None:
    keyring = Keyring("chacha20-poly1305", (KeyVersion(bytes(32), bytes(32), 0),))
    text, _ = ciphertexts.encrypt(keyring, message, {}, b"n" * 12)
    payload = bytearray(from_base64(text.removeprefix("vault:v1:")))
    payload[where % len(payload)] ^= 1 << bit

    with pytest.raises(BadRequest, match=r"^chacha20poly1305: message authentication failed$"):
        ciphertexts.decrypt(keyring, {"ciphertext": "vault:v1:" + to_base64(bytes(payload))})


# Each text has the faults of the rows below it as well: the first one counts.
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "missing ciphertext to decrypt"),
        ("v9:***", "invalid ciphertext: no prefix"),
        ("vault:v9", "invalid ciphertext: wrong number of fields"),
        ("vault:vx:***", "invalid ciphertext: version number could not be decoded"),
        ("vault:v4:***", "invalid ciphertext: version is too new"),
        ("vault:v1:***", "ciphertext or signature version is disallowed by policy (too old)"),
        ("vault:v0:***", "ciphertext or signature version is disallowed by policy (too old)"),
        ("vault:v-2:***", "ciphertext or signature version is disallowed by policy (too old)"),
        ("vault:v3:***", "invalid ciphertext: could not decode base64"),
        ("vault:v3:", "invalid ciphertext length"),
        ("vault:v3:AAAA", "invalid ciphertext length"),
        ("vault:v3:" + "A" * 16, "cipher: message authentication failed"),
        ("vault:v3:" + "A" * 64, "cipher: message authentication failed"),
    ],
)
def test_the_order_in_which_a_ciphertext_is_judged(keyring_of: KeyringOf, text: str, why: str) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32), bytes(32), bytes(32), min_decryption_version=2)

    for _ in range(2):  # again with what the first attempt kept
        with pytest.raises(BadRequest) as caught:
            ciphertexts.decrypt(keyring, {"ciphertext": text})
        assert caught.value.errors == (why,)


def test_version_0_is_version_1(keyring_of: KeyringOf) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32))
    text, _ = ciphertexts.encrypt(keyring, b"m", {}, bytes(12))

    for spelled in ("v0:", "v+1:", "v01:", "v-0:"):
        assert ciphertexts.decrypt(keyring, {"ciphertext": text.replace("v1:", spelled)}) == b"m"
    assert set(keyring.decryptors) <= {"1"}


def test_what_is_kept_of_a_version_opens_no_other_envelope(keyring_of: KeyringOf) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32))
    text, _ = ciphertexts.encrypt(keyring, b"m", {}, bytes(12))
    assert ciphertexts.decrypt(keyring, {"ciphertext": text}) == b"m"

    for wrong, why in [
        ("Vault:v" + text.removeprefix("vault:v"), "no prefix"),
        ("vault:v1", "wrong number of fields"),
        ("vault:v" + text, "version number could not be decoded"),
    ]:
        with pytest.raises(BadRequest, match=f"^invalid ciphertext: {why}$"):
            ciphertexts.decrypt(keyring, {"ciphertext": wrong})


def test_context_and_nonce_are_read_before_the_ciphertext(keyring_of: KeyringOf) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32))

    with pytest.raises(BadRequest, match=r"^illegal base64 data at input byte 1$"):
        ciphertexts.decrypt(keyring, {"ciphertext": "bad", "context": "A*", "nonce": "*"})
    with pytest.raises(BadRequest, match=r"^illegal base64 data at input byte 0$"):
        ciphertexts.decrypt(keyring, {"ciphertext": "bad", "nonce": "*"})


@pytest.mark.parametrize("item", [{}, {"context": None}, {"context": ""}, {"context": "\n"}])
def test_a_derived_key_wants_a_context(keyring_of: KeyringOf, item: dict[str, Any]) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32), derived=True, kdf=1)

    for work in (
        lambda: ciphertexts.encrypt(keyring, b"", item, bytes(12)),
        lambda: ciphertexts.decrypt(keyring, item | {"ciphertext": "vault:v1:" + "A" * 40}),
    ):
        with pytest.raises(BadRequest) as caught:
            work()
        assert caught.value.errors == (MISSING_CONTEXT,)


def test_a_key_that_is_not_derived_does_not_look_at_the_context(keyring_of: KeyringOf) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32))
    text, _ = ciphertexts.encrypt(keyring, b"m", {"context": CONTEXT}, bytes(12))

    assert ciphertexts.decrypt(keyring, {"ciphertext": text}) == b"m"


def test_an_hmac_key_neither_encrypts_nor_decrypts(keyring_of: KeyringOf) -> None:
    keyring = keyring_of("hmac", bytes(32))

    with pytest.raises(BadRequest, match=r"^message encryption not supported for key type hmac$"):
        ciphertexts.encrypt(keyring, b"", {"key_version": 9}, bytes(12))
    with pytest.raises(BadRequest, match=r"^message decryption not supported for key type hmac$"):
        ciphertexts.decrypt(keyring, {"ciphertext": "bad"})


@pytest.mark.parametrize("associated", ["*", "YWFk*"])
def test_bad_associated_data_is_told_apart(keyring_of: KeyringOf, associated: str) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32))
    text, _ = ciphertexts.encrypt(keyring, b"m", {}, bytes(12))
    position = len(associated) - 1
    why = f"unable to get associated_data/additional_data from factory[0]: illegal base64 data at input byte {position}"

    for work in (
        lambda: ciphertexts.encrypt(keyring, b"m", {"associated_data": associated}, bytes(12)),
        lambda: ciphertexts.decrypt(keyring, {"ciphertext": text, "associated_data": associated}),
    ):
        with pytest.raises(BadRequest) as caught:
            work()
        assert caught.value.errors == (f"1 error occurred:\n\t* {why}\n\n",)


def test_empty_associated_data_is_none(keyring_of: KeyringOf) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32))
    text, _ = ciphertexts.encrypt(keyring, b"m", {"associated_data": ""}, bytes(12))

    assert ciphertexts.decrypt(keyring, {"ciphertext": text}) == b"m"
    with pytest.raises(BadRequest, match="authentication failed"):
        ciphertexts.decrypt(keyring, {"ciphertext": text, "associated_data": "YQ=="})


def convergent_keyring(keyring_of: KeyringOf, kind: int, key_type: str = "aes256-gcm96", **settings: Any) -> Keyring:
    return keyring_of(
        key_type,
        bytes(32),
        entry_convergent=3 if kind == 3 else 0,
        derived=True,
        kdf=settings.pop("kdf", 1),
        convergent_encryption=True,
        convergent_version=-1 if kind == 3 else kind,
    )


@pytest.mark.parametrize("kind", [0, 2, 3])
def test_a_nonce_is_refused_where_it_is_not_needed(keyring_of: KeyringOf, kind: int) -> None:
    keyring = convergent_keyring(keyring_of, kind) if kind else keyring_of("aes256-gcm96", bytes(32))
    text, _ = ciphertexts.encrypt(keyring, b"m", {"context": CONTEXT}, bytes(12))

    with pytest.raises(BadRequest, match=r"^provided nonce not allowed for this key$"):
        ciphertexts.encrypt(keyring, b"m", {"context": CONTEXT, "nonce": NONCE}, bytes(12))
    # to decrypt, it is only overlooked
    assert ciphertexts.decrypt(keyring, {"ciphertext": text, "context": CONTEXT, "nonce": NONCE}) == b"m"


@pytest.mark.parametrize("nonce", [None, "", to_base64(b"short"), to_base64(b"thirteen long")])
def test_the_first_kind_wants_a_nonce_of_twelve_bytes(keyring_of: KeyringOf, nonce: str | None) -> None:
    keyring = convergent_keyring(keyring_of, 1)
    text, _ = ciphertexts.encrypt(keyring, b"m", {"context": CONTEXT, "nonce": NONCE}, b"")

    with pytest.raises(BadRequest) as caught:
        ciphertexts.encrypt(keyring, b"m", {"context": CONTEXT, "nonce": nonce}, bytes(12))
    assert caught.value.errors == (
        "base64-decoded nonce must be 12 bytes long when using convergent encryption with this key",
    )
    with pytest.raises(BadRequest, match=r"^invalid convergent nonce supplied$"):
        ciphertexts.decrypt(keyring, {"ciphertext": text, "context": CONTEXT, "nonce": nonce})


def test_the_first_kinds_payload_is_without_its_nonce(keyring_of: KeyringOf) -> None:
    keyring = convergent_keyring(keyring_of, 1)
    item = {"context": CONTEXT, "nonce": NONCE}
    text, _ = ciphertexts.encrypt(keyring, b"message", item, b"")

    assert len(from_base64(text.removeprefix("vault:v1:"))) == len(b"message") + 16
    assert ciphertexts.decrypt(keyring, item | {"ciphertext": text}) == b"message"
    with pytest.raises(BadRequest, match="authentication failed"):
        ciphertexts.decrypt(keyring, {"ciphertext": text, "context": CONTEXT, "nonce": to_base64(bytes(12))})
    with pytest.raises(BadRequest, match="authentication failed"):
        ciphertexts.decrypt(keyring, item | {"ciphertext": "vault:v1:"})


@pytest.mark.parametrize("kind", [2, 3])
def test_other_contexts_and_plaintexts_have_other_nonces(keyring_of: KeyringOf, kind: int) -> None:
    keyring = convergent_keyring(keyring_of, kind)
    other = to_base64(b"context-2")

    made = [
        ciphertexts.encrypt(keyring, message, {"context": context}, b"")[0]
        for message, context in [(b"a", CONTEXT), (b"b", CONTEXT), (b"a", other), (b"a", CONTEXT)]
    ]

    assert made[0] == made[3]
    nonces = [from_base64(text.removeprefix("vault:v1:"))[:12] for text in made]
    assert len(set(nonces)) == 3


def test_associated_data_does_not_change_the_convergent_nonce(keyring_of: KeyringOf) -> None:
    keyring = convergent_keyring(keyring_of, 3)

    plain, _ = ciphertexts.encrypt(keyring, b"m", {"context": CONTEXT}, b"")
    bound, _ = ciphertexts.encrypt(keyring, b"m", {"context": CONTEXT, "associated_data": "YQ=="}, b"")

    assert plain[:25] == bound[:25]  # the envelope and sixteen characters: twelve bytes
    assert plain != bound


def test_the_counter_mode_is_too_short_for_the_third_kind(keyring_of: KeyringOf) -> None:
    keyring = convergent_keyring(keyring_of, 3, kdf=0)

    with pytest.raises(BadRequest, match="could not derive key, length too small"):
        ciphertexts.encrypt(keyring, b"m", {"context": CONTEXT}, b"")


def test_the_latest_version_is_prepared_where_a_message_needs_nothing_else(keyring_of: KeyringOf) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32), bytes(32))
    prepared = ciphertexts.plain_encryptor(keyring)

    assert prepared is not None
    assert (prepared.head, prepared.version, repr(prepared)) == ("vault:v2:", 2, "Keyed(vault:v2:)")
    assert prepared is ciphertexts.plain_encryptor(keyring) is keyring.encryptors[0]
    assert ciphertexts.plain_encryptor(keyring_of("hmac", bytes(32))) is None
    assert ciphertexts.plain_encryptor(keyring_of("aes256-gcm96", bytes(32), derived=True)) is None
