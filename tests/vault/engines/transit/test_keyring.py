"""The keyring: versions, which of them may do what, and its stored form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault.context import Context
from labkit.vault.core import Core
from labkit.vault.engines.transit import ciphertexts
from labkit.vault.engines.transit.keyring import (
    Keyring,
    KeyVersion,
    check_rotation_period,
    convergent_version_made_by,
    decode_keyring,
    empty_keyring,
    encode_keyring,
    existing_keyring,
    read_keyring,
    rotate,
    trim,
    write_keyring,
)
from labkit.vault.engines.transit.keys import key_config
from labkit.vault.storage.storage_view import StorageView
from tests.examples import examples

Entropy = Any
KeyringOf = Callable[..., Keyring]

HOUR_NS = 3_600_000_000_000


def new_keyring(key_type: str = "aes256-gcm96", *, derived: bool = False, convergent: bool = False) -> Keyring:
    return empty_keyring(key_type, derived=derived, convergent=convergent, service_version="1.16.3+ent")


def test_a_keyring_is_stored_under_its_name_and_noted_when_it_rotates(
    service: Any, entropy: Entropy, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctx = Context(service.core, Request("POST", ""), service.core.now())
    storage = StorageView(ctx, "mount/")
    noted: list[tuple[str, int]] = []
    monkeypatch.setattr(Core, "note_due", lambda core, key, when_ns: noted.append((key, when_ns)))
    plain = rotate(new_keyring(), entropy, 5)
    rotating = plain._replace(auto_rotate_period_s=7_200)
    write_keyring(storage, "plain", plain)
    write_keyring(storage, "rotating", rotating)

    assert sorted(ctx.writes) == ["mount/key/plain", "mount/key/rotating"]
    assert noted == [("mount/key/rotating", 5 + 2 * HOUR_NS)]
    assert read_keyring(storage, "plain") == existing_keyring(storage, "plain") == plain
    assert read_keyring(storage, "none") is None
    with pytest.raises(BadRequest, match=r"^encryption key not found$"):
        existing_keyring(storage, "none")


@pytest.mark.parametrize(("key_type", "size"), [("aes128-gcm96", 16), ("aes256-gcm96", 32), ("chacha20-poly1305", 32)])
def test_a_version_has_a_key_of_its_types_size_and_another_for_hmac(key_type: str, size: int, entropy: Entropy) -> None:
    keyring = rotate(new_keyring(key_type), entropy, 5)

    (entry,) = keyring.versions
    assert entry.convergent_version == 0
    assert (len(entry.key), len(entry.hmac_key), entry.created_ns) == (size, 32, 5)
    assert entry.key[:16] != entry.hmac_key[:16]
    assert (keyring.latest_version, list(keyring.live_versions)) == (1, [1])


def test_only_a_derived_keyring_names_a_derivation() -> None:
    assert (new_keyring().kdf, new_keyring().convergent_version) == (0, 0)
    assert (new_keyring(derived=True).kdf, new_keyring(derived=True).convergent_version) == (1, 0)


def test_a_rotated_hmac_key_keeps_its_size_and_is_its_own_hmac_key(entropy: Entropy) -> None:
    keyring = rotate(rotate(new_keyring("hmac")._replace(key_size=48), entropy, 1), entropy, 2)

    assert [len(entry.key) for entry in keyring.versions] == [48, 48]
    assert all(entry.key == entry.hmac_key for entry in keyring.versions)
    assert keyring.versions[0].key != keyring.versions[1].key


def test_an_hmac_key_of_no_said_size_has_32_bytes(entropy: Entropy) -> None:
    assert len(rotate(new_keyring("hmac"), entropy, 1).versions[0].key) == 32


@pytest.mark.parametrize(("service_version", "policy", "entries"), [("1.16.3+ent", -1, [3, 3]), ("0.6.1", 1, [0, 0])])
def test_new_convergent_rings_and_their_rotation(
    service_version: str, policy: int, entries: list[int], entropy: Entropy
) -> None:
    keyring = empty_keyring("aes256-gcm96", derived=True, convergent=True, service_version=service_version)
    keyring = rotate(rotate(keyring, entropy, 1), entropy, 2)

    assert keyring.convergent_version == policy
    assert [entry.convergent_version for entry in keyring.versions] == entries


def test_a_keyring_of_the_second_kind_goes_on_with_the_third(keyring_of: KeyringOf, entropy: Entropy) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32), derived=True, convergent_encryption=True, convergent_version=2)

    keyring = rotate(keyring, entropy, 1)

    assert [keyring.convergent_version_of(entry) for entry in keyring.versions] == [2, 3]


@pytest.mark.parametrize(
    ("policy", "entry", "effective"), [(0, 0, 1), (1, 0, 1), (2, 0, 2), (-1, 3, 3), (2, 3, 3), (1, 2, 2)]
)
def test_an_entrys_own_way_goes_before_the_keyrings(
    keyring_of: KeyringOf, policy: int, entry: int, effective: int
) -> None:
    keyring = keyring_of(
        "aes256-gcm96",
        bytes(32),
        entry_convergent=entry,
        derived=True,
        convergent_encryption=True,
        convergent_version=policy,
    )

    assert keyring.convergent_version_of(keyring.versions[0]) == effective


def test_a_keyring_that_is_not_convergent_has_no_way_of_it(keyring_of: KeyringOf) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32), entry_convergent=3)

    assert keyring.convergent_version_of(keyring.versions[0]) == 0
    assert not keyring.takes_nonce


@pytest.mark.parametrize(("policy", "takes"), [(0, True), (1, True), (2, False), (-1, False)])
def test_which_convergent_rings_take_a_nonce(keyring_of: KeyringOf, policy: int, takes: bool) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32), convergent_encryption=True, convergent_version=policy)

    assert keyring.takes_nonce is takes


def test_when_a_keyring_rotates_by_itself(keyring_of: KeyringOf) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32), bytes(32))
    made_ns = keyring.versions[-1].created_ns
    assert keyring.next_rotation_ns is None

    keyring = keyring._replace(auto_rotate_period_s=7_200)
    assert keyring.next_rotation_ns == made_ns + 2 * HOUR_NS
    later = keyring._replace(versions=(*keyring.versions, KeyVersion(bytes(32), bytes(32), made_ns + 5)))
    assert later.next_rotation_ns == made_ns + 5 + 2 * HOUR_NS

    assert keyring._replace(imported=True).next_rotation_ns is None
    assert keyring._replace(imported=True, allow_rotation=True).next_rotation_ns == made_ns + 2 * HOUR_NS


@pytest.mark.parametrize("period_s", [0, 3_600, 86_400])
def test_periods_that_may_be(period_s: int) -> None:
    check_rotation_period(period_s)


@pytest.mark.parametrize("period_s", [1, 3_599])
def test_periods_that_are_too_short(period_s: int) -> None:
    with pytest.raises(BadRequest, match=r"^auto rotate period must be 0 to disable or at least an hour$"):
        check_rotation_period(period_s)


RINGS = st.builds(
    Keyring,
    type=st.sampled_from(["aes128-gcm96", "aes256-gcm96", "chacha20-poly1305", "hmac"]),
    versions=st.lists(
        st.builds(KeyVersion, st.binary(), st.binary(), st.integers(0, 2**63), st.sampled_from([0, 3])), min_size=1
    ).map(tuple),
    min_decryption_version=st.integers(1, 9),
    min_encryption_version=st.integers(0, 9),
    min_available_version=st.integers(0, 9),
    derived=st.booleans(),
    kdf=st.sampled_from([0, 1]),
    convergent_encryption=st.booleans(),
    convergent_version=st.sampled_from([-1, 0, 1, 2]),
    exportable=st.booleans(),
    allow_plaintext_backup=st.booleans(),
    deletion_allowed=st.booleans(),
    auto_rotate_period_s=st.integers(0, 10**9),
    key_size=st.integers(0, 512),
    imported=st.booleans(),
    allow_rotation=st.booleans(),
)


@given(RINGS)
def test_a_stored_keyring_comes_back(keyring: Keyring) -> None:
    again = decode_keyring(encode_keyring(keyring))

    assert again == keyring
    assert type(again) is Keyring
    assert all(type(entry) is KeyVersion for entry in again.versions)


def test_a_keyring_stored_before_a_member_was_known_has_its_default() -> None:
    keyring = decode_keyring(b'{"type":"aes256-gcm96","versions":[["%s","%s",7]]}' % (b"00" * 32, b"11" * 32))

    assert keyring._asdict() == {
        "type": "aes256-gcm96",
        "versions": (KeyVersion(bytes(32), b"\x11" * 32, 7, 0),),
        "min_decryption_version": 1,
        "min_encryption_version": 0,
        "min_available_version": 0,
        "derived": False,
        "kdf": 0,
        "convergent_encryption": False,
        "convergent_version": 0,
        "exportable": False,
        "allow_plaintext_backup": False,
        "deletion_allowed": False,
        "auto_rotate_period_s": 0,
        "key_size": 0,
        "imported": False,
        "allow_rotation": False,
        "backup_ns": 0,
        "backup_version": 0,
        "restore_ns": 0,
        "restore_version": 0,
    }


def test_no_key_shows_in_a_repr(keyring_of: KeyringOf) -> None:
    keyring = keyring_of("aes256-gcm96", b"K" * 32)
    ciphertexts.encrypt(keyring, b"", {}, bytes(12))

    shown = f"{keyring!r} {keyring.versions!r} {keyring.encryptors!r}"

    assert "KKKK" not in shown
    assert repr(keyring) == "Keyring(aes256-gcm96, versions 1 to 1)"


def test_a_changed_keyring_keeps_no_cipher_of_the_old_one(keyring_of: KeyringOf, entropy: Entropy) -> None:
    keyring = keyring_of("aes256-gcm96", bytes(32))
    text, _ = ciphertexts.encrypt(keyring, b"m", {}, bytes(12))
    ciphertexts.decrypt(keyring, {"ciphertext": text})

    rotated = rotate(keyring, entropy, 1)

    assert keyring.encryptors
    assert keyring.decryptors
    assert not rotated.encryptors
    assert not rotated.decryptors


class RingLife(RuleBasedStateMachine):
    """A keyring under random config, rotate and trim requests, held against a plain table of versions."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = 0
        self.keyring = rotate(new_keyring(), self, 0)
        self.keys = {1: self.keyring.versions[0].key}
        self.texts = {1: self.encrypted(0)}

    def entropy(self, count: int) -> bytes:
        self.drawn += 1
        return self.drawn.to_bytes(count, "big")

    def draw_once(self, kind: str, count: int) -> None:
        return None

    def encrypted(self, wanted: int) -> str:
        text, version = ciphertexts.encrypt(self.keyring, b"message", {"key_version": wanted}, self.entropy(12))
        assert version == (wanted or self.keyring.latest_version)
        return text

    @precondition(lambda self: len(self.keys) < 8)
    @rule()
    def rotates(self) -> None:
        self.keyring = rotate(self.keyring, self, self.drawn)
        self.keys[len(self.keys) + 1] = self.keyring.versions[-1].key
        self.texts[len(self.keys)] = self.encrypted(0)

    @rule(decryption=st.none() | st.integers(-1, 9), encryption=st.none() | st.integers(-1, 9))
    def configures(self, decryption: int | None, encryption: int | None) -> None:
        latest = len(self.keys)
        lowest = self.keyring.min_decryption_version if decryption is None else decryption or 1
        floor = self.keyring.min_encryption_version if encryption is None else encryption
        good = 1 <= lowest <= latest and 0 <= floor <= latest and (floor == 0 or floor >= lowest)
        try:
            self.keyring = key_config.with_minimums(self.keyring, decryption, encryption)
        except BadRequest:
            assert not good
        else:
            assert good
            assert (self.keyring.min_decryption_version, self.keyring.min_encryption_version) == (lowest, floor)

    @rule(minimum=st.integers(-1, 9))
    def trims(self, minimum: int) -> None:
        keyring = self.keyring
        upper = min(keyring.min_encryption_version, keyring.min_decryption_version)
        good = max(keyring.min_available_version, 1) <= minimum <= upper
        try:
            key_config.check_trim(keyring, minimum)
        except BadRequest:
            assert not good
        else:
            assert good
            self.keyring = trim(keyring, minimum)

    @invariant()
    def numbers_stay_with_their_keys(self) -> None:
        keyring = self.keyring
        assert keyring.latest_version == len(self.keys)
        kept = range(max(keyring.min_available_version, 1), keyring.latest_version + 1)
        assert [entry.key for entry in keyring.versions] == [self.keys[version] for version in kept]

    @invariant()
    def what_may_be_decrypted_is(self) -> None:
        keyring = self.keyring
        for version, text in self.texts.items():
            if version in keyring.live_versions:
                assert ciphertexts.decrypt(keyring, {"ciphertext": text}) == b"message"
            elif version < keyring.min_decryption_version:
                with pytest.raises(BadRequest, match="too old"):
                    ciphertexts.decrypt(keyring, {"ciphertext": text})
            else:
                with pytest.raises(BadRequest, match=r"^no such key version$"):
                    ciphertexts.decrypt(keyring, {"ciphertext": text})

    @invariant()
    def what_may_encrypt_does(self) -> None:
        keyring = self.keyring
        for wanted in range(-1, 10):
            if wanted < 0:
                why = "is negative"
            elif wanted > keyring.latest_version:
                why = "is higher than the latest key version"
            elif 0 < wanted < keyring.min_encryption_version:
                why = "is less than the minimum encryption key version"
            elif wanted and wanted not in keyring.live_versions:
                why = "no such key version"
            else:
                assert self.encrypted(wanted).startswith(f"vault:v{wanted or keyring.latest_version}:")
                continue
            with pytest.raises(BadRequest, match=f"{why}$"):
                self.encrypted(wanted)


TestRingLife = RingLife.TestCase
TestRingLife.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)


def test_a_new_keyring_forbids_what_is_not_asked_for() -> None:
    assert Keyring("hmac")[:16] == ("hmac", (), 1, 0, 0, False, 0, False, 0, False, False, False, 0, 0, False, False)
    assert Keyring("hmac")[16:] == (0, 0, 0, 0)
    assert KeyVersion(b"k", b"h", 5).convergent_version == 0


@pytest.mark.parametrize(("period_s", "is_possible"), [(0, True), (1, False), (3_599, False), (3_600, True)])
def test_a_period_of_rotation_is_an_hour_at_least(period_s: int, is_possible: bool) -> None:
    if is_possible:
        check_rotation_period(period_s)
    else:
        with pytest.raises(BadRequest, match=r"^auto rotate period must be 0 to disable or at least an hour$"):
            check_rotation_period(period_s)


@pytest.mark.parametrize(
    ("service_version", "convergent_version"),
    [
        ("0.6.1", 1),
        ("0.6.0", 1),
        ("0.5", 1),
        ("0.6.1+ent", 1),
        ("0.6.2", -1),
        ("0.10.4", -1),
        ("1.0.0", -1),
        ("1.16.3+ent", -1),
        ("1.16.3+ent.hsm.fips1402", -1),
    ],
)
def test_only_an_early_service_makes_keys_that_want_a_nonce(service_version: str, convergent_version: int) -> None:
    assert convergent_version_made_by(service_version) == convergent_version
