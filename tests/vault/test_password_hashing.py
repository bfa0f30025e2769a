"""Password hashing: by published vectors, on a channel of its own, and outside of the vault's lock."""

from __future__ import annotations

import threading

import pytest
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from labkit import Vault
from labkit.vault import password_hashing
from labkit.vault.password_hashing import BLOCK_SIZE, HASH_BYTES, PARALLEL


def test_scrypt_is_that_of_its_rfc() -> None:
    """RFC 7914, section 12: the vector whose block size is this module's."""
    vector = (
        "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
        "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
    )
    kdf = Scrypt(salt=b"SodiumChloride", length=64, n=2**14, r=BLOCK_SIZE, p=PARALLEL)
    assert kdf.derive(b"pleaseletmein").hex() == vector
    asked = password_hashing.request("pleaseletmein", b"SodiumChloride".hex(), 2**14)
    found = password_hashing.answer(asked).body
    assert found is not None
    assert found["hash"] == vector[: 2 * HASH_BYTES]


def test_a_password_is_compared_with_a_bcrypt_hash() -> None:
    pytest.importorskip("bcrypt")
    known = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
    for password, same in (("U*U", True), ("U*", False)):
        found = password_hashing.answer(password_hashing.comparison(password, known))
        assert found.body == {"same": same}


def test_no_password_has_a_hash_that_no_bcrypt_writes() -> None:
    pytest.importorskip("bcrypt")
    found = password_hashing.answer(password_hashing.comparison("x", f"$2a$05${'x' * 53}"))

    assert found.body == {"same": False}


def test_the_question_shows_no_password() -> None:
    asked = password_hashing.request("pleaseletmein", "00", 2)
    assert (asked.channel, "pleaseletmein" in repr(asked)) == (password_hashing.CHANNEL, False)


def test_others_are_let_in_while_a_password_is_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    vault = Vault.dev(seed=1)
    vault.post("sys/auth/userpass", {"type": "userpass"})
    vault.post("auth/userpass/users/ada", {"password": "right"})
    begun, go_on, statuses = threading.Event(), threading.Event(), []
    answer = password_hashing.answer

    def slow(fetch):
        begun.set()
        assert go_on.wait(30)
        return answer(fetch)

    monkeypatch.setattr(password_hashing, "answer", slow)
    login = threading.Thread(
        target=lambda: statuses.append(vault.post("auth/userpass/login/ada", {"password": "right"}, token="").status)
    )
    login.start()
    try:
        assert begun.wait(30)
        other = threading.Thread(target=lambda: statuses.append(vault.get("sys/mounts").status))
        other.start()
        other.join(30)
        assert statuses == [200]
    finally:
        go_on.set()
        login.join(30)
    assert statuses == [200, 200]
    assert [call.path for call in vault.calls][-2:] == ["sys/mounts", "auth/userpass/login/ada"]
