"""Sealed boxes: the published exchange and key schedule, round trips, and that nothing altered opens."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import sealed_box
from labkit.sealed_box import make_exchange_key, open_sealed, seal_to
from tests.examples import examples

# RFC 7748, 6.1: Alice's and Bob's private and public keys.
ALICE = (
    "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
    "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
)
BOB = (
    "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
    "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
)

# The test vectors published with RFC 9180, as JSON: mode 0, kem 0x0020, kdf 0x0001, aead 0x0002.
INFO = bytes.fromhex("4f6465206f6e2061204772656369616e2055726e")
EPHEMERAL = "179d4b53b6365c45b600c4163b61d95cbc2f4d9e36f1695558dce265ab8bab11"
ENCAPSULATED = "6c93e09869df3402d7bf231bf540fadd35cd56be14f97178f0954db94b7fc256"
RECIPIENT = "497b4502664cfea5d5af0b39934dac72242a74f8480451e1aee7d6a53320333d"
RECIPIENT_PUBLIC = "430f4b9859665145a6b1ba274024487bd66f03a2dd577d7753c68d7d7d00c00c"
KEY = "f50b0609186798729ed0564b36ef2ef8044f1f9d05636874d1f46c819c7a669f"
BASE_NONCE = "151d9929e2449747889bc923"
PLAINTEXT = bytes.fromhex("4265617574792069732074727574682c20747275746820626561757479")
CIPHERTEXT = "e5d84cd531cfb583096e7cfa9641bd3079cf3a91cda813c52deb5f512be9931980a41de125a925cdad859d5b7a"

private_keys = st.binary(min_size=32, max_size=32)


@pytest.mark.parametrize(("private", "public"), [ALICE, BOB, (RECIPIENT, RECIPIENT_PUBLIC)])
def test_an_exchange_key_has_the_published_public_half(private: str, public: str) -> None:
    made = make_exchange_key(lambda size: bytes.fromhex(private)[:size])

    assert made == (bytes.fromhex(private), bytes.fromhex(public))


def test_a_box_is_sealed_as_published() -> None:
    box = seal_to(bytes.fromhex(RECIPIENT_PUBLIC), PLAINTEXT, lambda size: bytes.fromhex(EPHEMERAL)[:size], INFO)
    cipher = AESGCM(bytes.fromhex(KEY))

    # The published ciphertext has associated data, which a box has not: what is compared is key and nonce.
    assert cipher.encrypt(bytes.fromhex(BASE_NONCE), PLAINTEXT, b"Count-0").hex() == CIPHERTEXT
    assert box[:33] == b"\x01" + bytes.fromhex(ENCAPSULATED)
    assert cipher.decrypt(bytes.fromhex(BASE_NONCE), box[33:], None) == PLAINTEXT
    assert open_sealed(bytes.fromhex(RECIPIENT), box, INFO) == PLAINTEXT


@given(private_keys, private_keys, st.binary(max_size=2000), st.binary(max_size=80))
@settings(max_examples=examples(60))
def test_what_is_sealed_opens(private: bytes, ephemeral: bytes, plaintext: bytes, context: bytes) -> None:
    _, public = make_exchange_key(lambda _: private)
    box = seal_to(public, plaintext, lambda _: ephemeral, context)

    assert open_sealed(private, box, context) == plaintext
    assert len(box) == len(plaintext) + 49
    assert seal_to(public, plaintext, lambda _: ephemeral, context) == box


@given(st.data())
@settings(max_examples=examples(100))
def test_no_altered_box_opens(data: st.DataObject) -> None:
    private, box = sealed(b"a bundle")
    at = data.draw(st.integers(0, len(box) - 1))
    altered = bytearray(box)
    altered[at] ^= data.draw(st.integers(1, 255))

    # X25519 ignores the top bit of a public key (RFC 7748, 5), but the derivation takes every byte.
    with pytest.raises(ValueError, match=r"box|exchange key"):
        open_sealed(private, bytes(altered))


@given(st.binary(max_size=120))
@settings(max_examples=examples(60))
def test_no_bytes_pass_for_a_box(box: bytes) -> None:
    with pytest.raises(ValueError, match=r"box|exchange key"):
        open_sealed(bytes(range(32)), box)
    with pytest.raises(ValueError, match=r"box|exchange key"):
        open_sealed(bytes(range(32)), b"\x01" + box)


def test_a_shortened_or_lengthened_box_does_not_open() -> None:
    private, box = sealed(b"")

    for size in range(len(box)):
        with pytest.raises(ValueError, match="at least 49 bytes"):
            open_sealed(private, box[:size])
    with pytest.raises(ValueError, match="cannot be decrypted"):
        open_sealed(private, box + b"\x00")


def test_another_key_or_context_does_not_open() -> None:
    private, box = sealed(b"a bundle", b"activation")

    for key, context in [(bytes(range(1, 33)), b"activation"), (private, b""), (private, b"activatioN")]:
        with pytest.raises(ValueError, match="cannot be decrypted: it was sealed for another key or context"):
            open_sealed(key, box, context)


@pytest.mark.parametrize(
    "public",
    [
        bytes(32),
        b"\x01" + bytes(31),
        # RFC 7748's field prime and its neighbours, and a point of order 8, little-endian
        bytes.fromhex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        bytes.fromhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    ],
)
def test_a_public_key_of_small_order_is_refused(public: bytes) -> None:
    with pytest.raises(ValueError, match="small order"):
        seal_to(public, b"a bundle", lambda size: bytes(range(size)))
    with pytest.raises(ValueError, match="small order"):
        open_sealed(bytes(range(32)), b"\x01" + public + bytes(16))


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_public_key_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"has 32 bytes, not {size}"):
        seal_to(bytes(size), b"", lambda count: bytes(range(count)))


def test_one_draw_makes_a_key_and_one_a_box() -> None:
    drawn: list[int] = []

    def entropy(size_bytes: int) -> bytes:
        drawn.append(size_bytes)
        return hashlib.shake_256(bytes(drawn)).digest(size_bytes)

    _, public = make_exchange_key(entropy)
    boxes = {seal_to(public, b"same", entropy) for _ in range(3)}

    assert drawn == [32] * 4
    assert len(boxes) == 3


def test_to_import_it_loads_no_library(checkout: Path) -> None:
    code = "import sys, labkit.sealed_box; print([n for n in sys.modules if n.startswith('cryptography')])"
    process = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=True)

    assert process.stdout == "[]\n"


def test_the_suite_is_written_as_the_registry_numbers_it() -> None:
    numbers = [0x0020, 0x0001, 0x0002]

    assert b"HPKE" + b"".join(number.to_bytes(2, "big") for number in numbers) == sealed_box.SUITE
    assert b"KEM" + (0x0020).to_bytes(2, "big") == sealed_box.KEM_SUITE


def sealed(plaintext: bytes, context: bytes = b"") -> tuple[bytes, bytes]:
    private, public = make_exchange_key(lambda size: hashlib.shake_256(b"recipient").digest(size))
    return private, seal_to(public, plaintext, lambda size: bytes(range(size)), context)
