"""Backup blobs, read: every setting that contradicts another one, and what very old servers wrote."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.backups.backup_reading import keyring_of, open_blob
from labkit.vault.engines.transit.keyring import Keyring
from labkit.vault.engines.transit.refusals import item_text

Entropy = Callable[[int], bytes]

BACKUPS = json.loads((Path(__file__).parents[4] / "vectors" / "transit_backups.json").read_text())
TRIMMED = json.loads(base64.b64decode(BACKUPS["vault_1_14_era"]["trimmed"]))
NOW_NS = 1_800_000_000_000_000_000


def read(blob: Any, entropy: Entropy = bytes, *, fips: bool = False) -> Keyring:
    text = base64.b64encode(json.dumps(blob).encode()).decode()
    return keyring_of(open_blob(text), "k", entropy, NOW_NS, fips=fips)


def with_policy(**members: Any) -> Any:
    blob = copy.deepcopy(TRIMMED)
    blob["policy"] |= members
    return blob


def refusal(blob: Any) -> str:
    with pytest.raises(BadRequest) as refused:
        read(blob)
    return item_text(refused.value)


def test_settings_that_contradict_one_another() -> None:
    for members, text in (
        ({"min_decryption_version": 0}, "minimum decryption version of 0 is less than 1"),
        ({"min_decryption_version": None}, "minimum decryption version of 0 is less than 1"),
        ({"latest_version": 0}, "latest version of 0 is less than 1"),
        ({"archive_version": 3, "keys": {}}, "version 3 is not among the keys, and the archive ends with version 3"),
        ({"archive_version": 5}, "archive version of 5 is greater than the latest version 4"),
        ({"min_encryption_version": 2}, "minimum decryption version of 3 is greater than minimum encryption version 2"),
        (
            {"min_decryption_version": 5, "min_encryption_version": 0},
            "minimum decryption version of 5 is greater than the latest version 4",
        ),
        ({"min_encryption_version": 5}, "minimum encryption version of 5 is greater than the latest 4"),
        ({"latest_version": 2**31, "archive_version": 2**31}, f"latest version of {2**31} is greater than {2**31 - 1}"),
        ({"min_available_version": 4}, "minimum available version of 4 is not between 0 and 3"),
        ({"min_available_version": -1}, "minimum available version of -1 is not between 0 and 3"),
    ):
        assert refusal(with_policy(**members)) == f'failed to restore the policy "k": {text}', members


def test_what_this_service_does_not_have() -> None:
    for members, text in (
        ({"derived": True, "type": 11, "key_size": 32}, "keys of type hmac cannot be derived"),
        ({"convergent_encryption": True}, "a convergent key must be derived"),
        ({"kdf": 2}, "key derivation function 2 is unknown"),
        (
            {"derived": True, "convergent_encryption": True, "convergent_version": 4},
            "convergent version 4 is unknown",
        ),
        ({"version_template": "x{{version}}"}, "ciphertexts would have a version template"),
        ({"soft_deleted": True}, "the key was deleted, though not for good; restore it there first"),
        ({"auto_rotate_period": -1}, "auto rotate period is negative"),
        ({"key_size": 31, "type": 11}, "key size of 31 bytes"),
        ({"key_size": 10**12, "type": 11}, "key size of 1000000000000 bytes"),
        ({"type": 2, "derived": True, "convergent_encryption": True}, "keys of type ed25519 cannot be convergent"),
    ):
        assert refusal(with_policy(**members)) == f"the backup cannot be restored: {text}", members
    assert refusal(with_policy(auto_rotate_period=60 * 10**9)).startswith("auto rotate period must be 0")
    for code in (10, 11, 12, -1):
        text = f"the backup is of a key of a type that this service does not restore, number {code}"
        assert refusal(with_policy(type=code)) == text


def test_versions_that_are_missing_or_none_of_the_type() -> None:
    blob = copy.deepcopy(TRIMMED)
    del blob["archived_keys"]["keys"][0:2]
    del blob["policy"]["keys"]["3"]
    assert refusal(blob) == "in the backup, version 3 is missing"
    blob = with_policy(latest_version=10**9, archive_version=10**9)
    assert refusal(blob) == "in the backup, version 5 is missing"
    blob = copy.deepcopy(TRIMMED)
    blob["policy"]["keys"]["3"]["key"] = "AAAA"
    assert refusal(blob) == "invalid key size 3 bytes for key type aes256-gcm96"
    blob["policy"]["keys"]["3"]["key"] = None
    assert refusal(blob) == "invalid key size 0 bytes for key type aes256-gcm96"
    assert "invalid key size" in refusal(with_policy(type=8))


def test_members_of_another_kind_are_named() -> None:
    for members, where in (
        ({"latest_version": "4"}, "policy.latest_version must be a whole number"),
        ({"latest_version": 4.0}, "policy.latest_version must be a whole number"),
        ({"latest_version": True}, "policy.latest_version must be a whole number"),
        ({"latest_version": 2**63}, "policy.latest_version must be a whole number of 64 bits"),
        ({"derived": 1}, "policy.derived must be true or false"),
        ({"version_template": 1}, "policy.version_template must be a text"),
        ({"keys": []}, "policy.keys must be an object"),
        ({"keys": {"3": 3}}, "policy.keys.3 must be an object"),
        (
            {"backup_info": {"time": "yesterday"}},
            "policy.backup_info.time must be an instant as in RFC 3339, before the year 2262",
        ),
    ):
        assert refusal(with_policy(**members)) == f"in the backup, {where}", members
    blob = copy.deepcopy(TRIMMED)
    for member, value, kind in (
        ("key", "*", "bytes in base64"),
        ("key", 7, "a text"),
        ("hmac_key", "?", "bytes in base64"),
        ("time", "x", "an instant as in RFC 3339, before the year 2262"),
        ("time", "9999-12-31T23:59:59Z", "an instant as in RFC 3339, before the year 2262"),
        ("time", "0000-01-01T00:00:00Z", "an instant as in RFC 3339, before the year 2262"),
        ("certificate_chain", ["*"], "a list of bytes in base64"),
        ("certificate_chain", [7], "a list of bytes in base64"),
        ("certificate_chain", {}, "a list"),
    ):
        changed = copy.deepcopy(blob)
        changed["policy"]["keys"]["3"][member] = value
        assert refusal(changed) == f"in the backup, policy.keys.3.{member} must be {kind}"


def test_a_time_in_seconds_is_bounded_too() -> None:
    for seconds in (-(10**12), 10**10, 2**62):
        blob = copy.deepcopy(TRIMMED)
        blob["policy"]["keys"]["3"] |= {"time": None, "creation_time": seconds}
        wanted = "a number of seconds that ends before the year 2262"
        assert refusal(blob) == f"in the backup, policy.keys.3.creation_time must be {wanted}"


def test_a_derived_pair_has_a_private_half() -> None:
    blob = json.loads(base64.b64decode(BACKUPS["vault_1_14_era"]["ed25519-derived"]))
    for entry in (blob["policy"]["keys"]["1"], blob["archived_keys"]["keys"][1]):
        entry["key"] = None
    assert refusal(blob) == "in the backup, version 1 of a derived key lacks its private half"


def test_a_key_of_before_there_were_versions(entropy: Entropy) -> None:
    old = {"policy": {"name": "old", "key": base64.b64encode(bytes(32)).decode(), "cipher_mode": "aes-gcm"}}

    keyring = read(old, entropy)

    assert (keyring.type, keyring.latest_version, keyring.min_decryption_version) == ("aes256-gcm96", 1, 1)
    (version,) = keyring.versions
    assert (version.key, version.created_ns, len(version.hmac_key)) == (bytes(32), NOW_NS, 32)
    assert version.hmac_key != bytes(32)


def test_what_is_unknown_is_ignored_and_the_archive_helps_out(entropy: Entropy) -> None:
    blob = with_policy(surprise={"a": 1}, keys={}, storage_prefix="x")

    keyring = read(blob, entropy)

    assert [entry.key for entry in keyring.versions] == [
        base64.b64decode(entry["key"]) for entry in blob["archived_keys"]["keys"]
    ]
    assert (keyring.oldest_version, keyring.latest_version) == (2, 4)
    assert keyring == read(TRIMMED, entropy)
