"""Secret ids as stored: never their text, in the part of the store that the role chose."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from labkit.service.errors import BadRequest
from labkit.vault.auth.approle import secret_id_record
from labkit.vault.auth.approle.secret_id_record import AccessorEntry, SecretId, SecretIdPlace, falls_due_ns
from labkit.vault.context import own_work

SECRET_ID = SecretId("acc", 2, 60, 1, 61, 1, (("a", "b"),), ("10.0.0.0/8",), ("10.0.0.0/9",))


@pytest.fixture
def place(logins) -> SecretIdPlace:
    return SecretIdPlace(own_work(logins.vault.core).full_storage.folder("logical/test/"), "web", "0f" * 32)


def test_what_is_stored_is_found_by_its_hash_and_by_its_accessor(place) -> None:
    digest = secret_id_record.digest_of(place, "secret")
    secret_id_record.store(place, digest, SECRET_ID)
    secret_id_record.store_accessor(place, digest, SECRET_ID)

    assert digest == hmac.new(bytes.fromhex("0f" * 32), b"secret", hashlib.sha256).hexdigest()
    assert secret_id_record.find(place, digest) == SECRET_ID
    assert secret_id_record.find_accessor(place.storage, "acc") == AccessorEntry("web", digest, 61)
    assert secret_id_record.accessors(place) == ["acc"]
    secret_id_record.delete(place, digest)
    assert secret_id_record.find(place, digest) is None
    assert secret_id_record.find_accessor(place.storage, "acc") is None
    secret_id_record.delete(place, digest)


def test_roles_and_longest_texts(place) -> None:
    other = place._replace(hash_key="00" * 32)
    assert secret_id_record.digest_of(place, "s") != secret_id_record.digest_of(other, "s")
    secret_id_record.digest_of(place, "s" * 4_096)
    with pytest.raises(BadRequest, match="value is longer than maximum of 4096 bytes"):
        secret_id_record.digest_of(place, "é" * 2_049)
    assert "0f0f" not in repr(place)


@pytest.mark.parametrize("accessor", ["", "a/b", "none"])
def test_accessors_that_stand_for_nothing(place, accessor: str) -> None:
    assert secret_id_record.find_accessor(place.storage, accessor) is None


def test_one_falls_due_when_the_next_minute_begins() -> None:
    minute_ns = 60_000_000_000
    due = [falls_due_ns(AccessorEntry("r", "d", expires_ns)) for expires_ns in (0, 1, minute_ns, minute_ns + 1)]
    assert due == [0, minute_ns, minute_ns, 2 * minute_ns]


def test_neither_secret_id_nor_password_is_in_the_store(logins) -> None:
    """Whoever opens the store with its keys finds hashes."""
    secret_id = logins.make()["secret_id"]
    logins.role("local", local_secret_ids=True)
    local = logins.make("local")["secret_id"]
    ctx = own_work(logins.vault.core)
    values = [ctx.full_storage.get(key) or b"" for key in ctx.full_storage.keys("logical/")]
    values += [ctx.full_storage.get(key) or b"" for key in ctx.full_storage.keys("local/")]

    assert len(values) > 6
    for text in (secret_id, local):
        assert not [value for value in values if text.encode() in value]


def test_those_of_local_roles_are_in_the_local_part(logins) -> None:
    logins.role("local", local_secret_ids=True)
    before = logins.stored()
    logins.make("local")
    assert before == []
    (accessor, entry) = sorted(logins.stored())
    assert (accessor[:9], entry[:16]) == ("accessor/", "secret-id/local/")
    assert logins.vault.core.storage.list("local/")
