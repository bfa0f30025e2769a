"""config, rotate and trim: a key's settings and versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.service.encoding import to_base64
from labkit.vault.engines.transit.keyring import Keyring

HELLO = to_base64(b"hello world")

PutKeyring = Callable[[str, Keyring], None]
KeyringOf = Callable[..., Keyring]


@pytest.fixture
def three(service: Any) -> Any:
    """A service with the key k, of three versions."""
    service.post("transit/keys/k")
    service.post("transit/keys/k/rotate")
    service.post("transit/keys/k/rotate")
    return service


def config(service: Any, **sent: Any) -> Any:
    return service.post("transit/keys/k/config", sent)


def minimums(service: Any) -> tuple[int, int, int]:
    told = service.get("transit/keys/k").data
    return told["min_decryption_version"], told["min_encryption_version"], told["min_available_version"]


# ---- config


def test_only_what_was_sent_changes(three: Any) -> None:
    before = three.get("transit/keys/k").data

    same = config(three)
    assert (same.status, same.data) == (200, before)
    changed = config(three, min_encryption_version=2)
    assert (changed.status, changed.data) == (200, before | {"min_encryption_version": 2})
    changed = config(three, deletion_allowed="1", min_decryption_version="2", auto_rotate_period="1h")
    assert changed.data == before | {
        "deletion_allowed": True,
        "min_decryption_version": 2,
        "min_encryption_version": 2,
        "auto_rotate_period": 3_600,
        "keys": {version: before["keys"][version] for version in ("2", "3")},
    }
    assert three.get("transit/keys/k").data == changed.data


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ({"min_decryption_version": -1}, "min decryption version cannot be negative"),
        ({"min_decryption_version": 4}, "cannot set min decryption version of 4, latest key version is 3"),
        ({"min_encryption_version": -1}, "min encryption version cannot be negative"),
        ({"min_encryption_version": 4}, "cannot set min encryption version of 4, latest key version is 3"),
        (
            {"min_decryption_version": 3, "min_encryption_version": 2},
            "cannot set min encryption/decryption values; min encryption version of 2 must be "
            "greater than or equal to min decryption version of 3",
        ),
        ({"auto_rotate_period": "30m"}, "auto rotate period must be 0 to disable or at least an hour"),
        ({"auto_rotate_period": 1}, "auto rotate period must be 0 to disable or at least an hour"),
        # of several faults the first counts
        (
            {"auto_rotate_period": 1, "min_encryption_version": 9, "min_decryption_version": -1},
            "min decryption version cannot be negative",
        ),
        (
            {"deletion_allowed": "maybe"},
            'Field validation failed: error converting input for field "deletion_allowed": '
            "'' cannot parse value as 'bool': strconv.ParseBool: invalid syntax",
        ),
    ],
)
def test_bad_settings_change_nothing(three: Any, sent: dict[str, Any], why: str) -> None:
    before = three.get("transit/keys/k").data

    refused = config(three, exportable=True, **sent)

    assert (refused.status, refused.errors) == (400, [why])
    assert three.get("transit/keys/k").data == before


def test_both_minimums_may_move_in_one_call(three: Any) -> None:
    config(three, min_decryption_version=3, min_encryption_version=3)
    assert minimums(three) == (3, 3, 0)

    config(three, min_decryption_version=1, min_encryption_version=1)
    assert minimums(three) == (1, 1, 0)

    refused = config(three, min_decryption_version=2)
    assert "min encryption version of 1 must be greater" in refused.errors[0]
    config(three, min_encryption_version=0)
    config(three, min_decryption_version=2)
    assert minimums(three) == (2, 0, 0)


@pytest.mark.parametrize("sent", [0, "0", None, ""])
def test_a_minimum_of_0_is_1_with_a_warning(three: Any, sent: Any) -> None:
    config(three, min_decryption_version=2)

    changed = config(three, min_decryption_version=sent)

    assert changed.data["min_decryption_version"] == 1
    assert changed.warnings == ["since Vault 0.3, transit key numbering starts at 1; forcing minimum to 1"]


def test_what_may_leave_once_may_leave_for_ever(three: Any) -> None:
    config(three, exportable=True, allow_plaintext_backup=True)

    told = config(three, exportable=False, allow_plaintext_backup=False).data

    assert (told["exportable"], told["allow_plaintext_backup"]) == (True, True)


def test_deletion_may_be_forbidden_again(three: Any) -> None:
    assert config(three, deletion_allowed=True).data["deletion_allowed"] is True
    assert config(three, deletion_allowed=False).data["deletion_allowed"] is False


def test_a_period_is_kept_until_another_is_sent(three: Any) -> None:
    assert config(three, auto_rotate_period="24h").data["auto_rotate_period"] == 86_400
    assert config(three, auto_rotate_period=None).data["auto_rotate_period"] == 86_400
    assert config(three, auto_rotate_period="1d").data["auto_rotate_period"] == 86_400
    assert config(three, auto_rotate_period=0).data["auto_rotate_period"] == 0


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("config", "no existing key named none could be found"),
        ("rotate", "key not found"),
        ("trim", "invalid key name"),
    ],
)
def test_a_missing_key_is_refused(service: Any, path: str, why: str) -> None:
    refused = service.post(f"transit/keys/none/{path}", {})

    assert (refused.status, refused.errors) == (400, [why])


# ---- rotate


def test_a_rotation_adds_the_version_that_encrypts(service: Any) -> None:
    service.post("transit/keys/k")
    old = service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"]

    rotated = service.post("transit/keys/k/rotate")

    assert rotated.status == 200
    assert rotated.data["latest_version"] == 2
    assert list(rotated.data["keys"]) == ["1", "2"]
    assert rotated.data == service.get("transit/keys/k").data
    new = service.post("transit/encrypt/k", {"plaintext": HELLO}).data["ciphertext"]
    assert new.startswith("vault:v2:")
    for text in (old, new):
        assert service.post("transit/decrypt/k", {"ciphertext": text}).data == {"plaintext": HELLO}


def test_a_rotation_leaves_the_minimums_and_the_rest_alone(three: Any) -> None:
    config(three, min_decryption_version=2, min_encryption_version=3, auto_rotate_period="2h")
    before = three.get("transit/keys/k").data

    after = three.post("transit/keys/k/rotate").data

    assert after == before | {"latest_version": 4, "keys": after["keys"]}
    assert list(after["keys"]) == ["2", "3", "4"]


def test_every_type_rotates(service: Any) -> None:
    service.post("transit/keys/k", {"type": "hmac", "key_size": 64})

    told = service.post("transit/keys/k/rotate").data

    assert (told["latest_version"], told["key_size"]) == (2, 64)


def test_an_imported_key_rotates_only_where_that_was_allowed(
    service: Any, keyring_of: KeyringOf, put_keyring: PutKeyring
) -> None:
    put_keyring("fixed", keyring_of("aes256-gcm96", bytes(32), imported=True))
    put_keyring("k", keyring_of("aes256-gcm96", bytes(32), imported=True, allow_rotation=True))

    refused = service.post("transit/keys/fixed/rotate")
    assert (refused.status, refused.errors) == (
        400,
        ["1 error occurred:\n\t* imported key fixed does not allow rotation within Vault\n\n"],
    )

    assert service.get("transit/keys/k").data["imported_key_allow_rotation"] is True
    told = service.post("transit/keys/k/rotate").data
    assert told["imported_key"] is False
    assert "imported_key_allow_rotation" not in told


# ---- trim


def trim(service: Any, minimum: Any) -> Any:
    return service.post("transit/keys/k/trim", {"min_available_version": minimum})


def test_trimmed_versions_are_gone_for_good(three: Any) -> None:
    text = three.post("transit/encrypt/k", {"plaintext": HELLO, "key_version": 1}).data["ciphertext"]
    config(three, min_decryption_version=2, min_encryption_version=2)

    trimmed = trim(three, 2)

    assert trimmed.status == 200
    assert trimmed.data["min_available_version"] == 2
    assert list(trimmed.data["keys"]) == ["2", "3"]
    back = config(three, min_decryption_version=1)
    assert back.errors == ["min decryption version should not be less then min available version"]
    back = config(three, min_encryption_version=0)
    assert back.errors == ["min encryption version should not be less than min available version"]
    refused = three.post("transit/decrypt/k", {"ciphertext": text})
    assert refused.errors == ["ciphertext or signature version is disallowed by policy (too old)"]
    assert three.post("transit/encrypt/k", {"plaintext": HELLO, "key_version": 2}).data["key_version"] == 2


def test_other_settings_of_a_trimmed_key_still_change(three: Any) -> None:
    config(three, min_decryption_version=2, min_encryption_version=2)
    trim(three, 2)

    assert config(three, deletion_allowed=True).status == 200
    assert config(three, min_decryption_version=3, min_encryption_version=3).status == 200
    assert trim(three, 3).data["min_available_version"] == 3
    assert three.post("transit/keys/k/rotate").data["latest_version"] == 4


@pytest.mark.parametrize(
    ("minimum", "why"),
    [
        (1, "minimum available version cannot be decremented"),
        (-1, "minimum available version cannot be decremented"),
        (4, "minimum available version cannot be greater than minmum encryption version"),
        (3, "minimum available version cannot be greater than minimum decryption version"),
    ],
)
def test_what_trim_refuses(three: Any, minimum: int, why: str) -> None:
    config(three, min_decryption_version=2, min_encryption_version=3)
    trim(three, 2)

    refused = trim(three, minimum)

    assert (refused.status, refused.errors) == (400, [why])
    assert minimums(three) == (2, 3, 2)


def test_trim_wants_a_minimum_encryption_version(three: Any) -> None:
    refused = trim(three, 2)

    assert refused.errors == ["minimum available version cannot be set when minimum encryption version is not set"]


def test_trim_wants_a_version_above_0(three: Any) -> None:
    config(three, min_encryption_version=1)

    assert trim(three, 0).errors == ["minimum available version should be positive"]
    assert three.post("transit/keys/k/trim", {}).errors == ["missing min_available_version"]


def test_to_trim_to_the_same_version_again_is_no_fault(three: Any) -> None:
    config(three, min_decryption_version=2, min_encryption_version=2)
    first = trim(three, "2")

    assert trim(three, 2).data == first.data
