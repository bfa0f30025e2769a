"""Encryption at rest: every value under a keyring, bound to the key it is stored under.

1. Stored form: term (4 bytes, big-endian), format byte 1, nonce (12 bytes), AES-256-GCM ciphertext and tag; the
   storage key is the associated data, so that a ciphertext cannot be moved to another key.
2. New values are written under the newest term; older terms stay readable.
3. The keyring itself is stored under the root key, in the same form with term 0.
4. A value may have a label of up to 255 bytes, which is read without a key and bound like the storage key: term, format
   byte 2, the label's length (1 byte) and the label, then nonce, ciphertext and tag.
5. A keyring may hold two keys of one term, where two clusters of one replication set rotated apart: a value is tried
   with each.
6. How many values the newest term's key encrypted is counted here: its limit is that of a key under random nonces.
"""

from __future__ import annotations

from collections.abc import Callable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from labkit.service.errors import Internal
from labkit.service.record import NamedTuple
from labkit.vault.storage.records import decode_record, encode_record

KEYRING = "core/keyring"
ROTATION = "core/rotation"
"""When the keyring is rotated by itself, where that was ever said."""

KEY_BYTES, NONCE_BYTES = 32, 12

PLAIN, LABELLED = b"\x01", b"\x02"
"""The format bytes of values without and with a label."""

FIRST_LOOK = 1_000_000
"""After how many encryptions of one key somebody looks whether it is to be rotated: the lowest limit there is."""

Entropy = Callable[[int], bytes]


class BarrierError(Internal):
    """A stored value that this keyring cannot decrypt: wrong key, wrong place, or altered bytes (C12)."""


def damaged(key: str) -> BarrierError:
    """Return the error of a stored value that does not open; its text is the same for every cause."""
    return BarrierError(f"the value stored at {key} does not open: its bytes were altered, or another keyring wrote it")


def decode_numbers(key: str, stored: bytes, kinds: tuple[type[int], ...]) -> list[int]:
    """Return the whole numbers and flags of a record that holds only such; BarrierError where it cannot be one."""
    try:
        numbers = decode_record(stored)
    except ValueError:
        raise damaged(key) from None
    if type(numbers) is not list or tuple(map(type, numbers)) != kinds:
        raise damaged(key)
    return numbers


class KeyringTerm(NamedTuple):
    """One data key of the keyring: its term, the key, and when it was installed."""

    term: int
    key: bytes
    installed_ns: int

    def __repr__(self) -> str:
        return f"KeyringTerm(term={self.term})"


class Barrier:
    """A decrypted keyring: encrypts and decrypts stored values."""

    __slots__ = ("_ciphers", "_head", "_labelled_head", "_newest", "_others", "encryptions", "keyring", "look_at")

    def __init__(self, keyring: tuple[KeyringTerm, ...], encryptions: int = 0, look_at: int = FIRST_LOOK) -> None:
        self.keyring, self.encryptions, self.look_at = keyring, encryptions, look_at
        self._ciphers: dict[bytes, AESGCM] = {}
        self._others: list[tuple[bytes, AESGCM]] = []  # of terms that have a later key
        for item in keyring:
            head = item.term.to_bytes(4, "big") + PLAIN
            if head in self._ciphers:
                self._others.append((head, self._ciphers[head]))
            self._ciphers[head] = AESGCM(item.key)
        self._head = keyring[-1].term.to_bytes(4, "big") + PLAIN
        self._labelled_head = self._head[:4] + LABELLED
        self._newest = self._ciphers[self._head]

    def __repr__(self) -> str:
        return f"Barrier(terms={[item.term for item in self.keyring]})"

    def encrypt(self, key: str, value: bytes, entropy: Entropy) -> bytes:
        """Encrypt a value for the storage key it is put under."""
        return self.encrypt_under(entropy(NONCE_BYTES), key, value)

    def encrypt_under(self, nonce: bytes, key: str, value: bytes) -> bytes:
        """Encrypt a value for the storage key it is put under, under a nonce that was drawn for it only."""
        self.encryptions += 1
        return self._head + nonce + self._newest.encrypt(nonce, value, key.encode())

    def encrypt_labelled(self, nonce: bytes, key: str, value: bytes, label: bytes) -> bytes:
        """Encrypt a value with a label (rule 4), under a nonce that was drawn for it only."""
        self.encryptions += 1
        ciphertext = self._newest.encrypt(nonce, value, _bound(key, label))
        return b"%b%c%b%b%b" % (self._labelled_head, len(label), label, nonce, ciphertext)

    def decrypt(self, key: str, stored: bytes) -> bytes:
        """Decrypt what is stored under a key; raise BarrierError when it does not fit."""
        cipher = self._ciphers.get(stored[:5])
        if cipher is None:
            return self._decrypt_labelled(key, stored)
        try:
            return cipher.decrypt(stored[5:17], stored[17:], key.encode())
        except (InvalidTag, ValueError):  # the latter: too short for a nonce
            return self._decrypt_otherwise(key, stored[:5], stored[5:], key.encode())

    def _decrypt_labelled(self, key: str, stored: bytes) -> bytes:
        label, head = label_of(stored), stored[:4] + PLAIN
        cipher = self._ciphers.get(head)
        if label is None or cipher is None:
            raise damaged(key)
        rest, bound = stored[6 + len(label) :], _bound(key, label)
        try:
            return cipher.decrypt(rest[:12], rest[12:], bound)
        except (InvalidTag, ValueError):
            return self._decrypt_otherwise(key, head, rest, bound)

    def _decrypt_otherwise(self, key: str, head: bytes, rest: bytes, bound: bytes) -> bytes:
        for known, cipher in self._others:
            if known == head:
                try:
                    return cipher.decrypt(rest[:12], rest[12:], bound)
                except (InvalidTag, ValueError):
                    continue
        raise damaged(key)


def label_of(stored: bytes) -> bytes | None:
    """Return the label of a stored value as it is there, whether it opens or not; None for a value without one."""
    if stored[4:5] != LABELLED or len(stored) < 6:
        return None
    end = 6 + stored[5]
    return stored[6:end] if len(stored) >= end else None


def _bound(key: str, label: bytes) -> bytes:
    """Return what a labelled value is bound to; no key has a line feed."""
    return b"%b\n%b" % (key.encode(), label)


def new_keyring(entropy: Entropy, now_ns: int) -> tuple[KeyringTerm, ...]:
    """Make a keyring of one fresh term."""
    return (KeyringTerm(1, entropy(KEY_BYTES), now_ns),)


def with_new_term(keyring: tuple[KeyringTerm, ...], entropy: Entropy, now_ns: int) -> tuple[KeyringTerm, ...]:
    """Return a keyring with a fresh key, under the term after its highest."""
    return (*keyring, KeyringTerm(max(item.term for item in keyring) + 1, entropy(KEY_BYTES), now_ns))


def encrypt_keyring(keyring: tuple[KeyringTerm, ...], root_key: bytes, entropy: Entropy) -> bytes:
    """Encrypt a keyring under the root key, as it is stored at ``core/keyring``."""
    rows = [[item.term, item.key.hex(), item.installed_ns] for item in keyring]
    nonce = entropy(12)
    ciphertext = AESGCM(root_key).encrypt(nonce, encode_record(rows), KEYRING.encode())
    return b"\x00\x00\x00\x00\x01" + nonce + ciphertext


def decrypt_keyring(stored: bytes, root_key: bytes) -> tuple[KeyringTerm, ...]:
    """Decrypt the stored keyring; raise BarrierError when the root key is not the right one."""
    try:
        rows = AESGCM(root_key).decrypt(stored[5:17], stored[17:], KEYRING.encode())
    except (InvalidTag, ValueError):
        raise BarrierError("the keyring does not open with this root key") from None
    return tuple([KeyringTerm(term, bytes.fromhex(key), installed) for term, key, installed in decode_record(rows)])
