"""Identifiers: every digit equally likely, every bit where the published format puts it."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.vault import identifiers
from labkit.vault.identifiers import BASE62, UUID_BYTES, base62, long_sha256, sha256, uuid_text, uuid_texts


def entropy(label: str) -> Callable[[int], bytes]:
    drawn = 0

    def draw(size_bytes: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return hashlib.shake_256(f"{label} {drawn}".encode()).digest(size_bytes)

    return draw


def test_the_published_uuid() -> None:
    # RFC 9562, A.3, with the bits of version and variant cleared
    drawn = bytes.fromhex("919108f752d103201bacf847db4148a8")

    assert uuid_text(lambda size: drawn[:size]) == "919108f7-52d1-4320-9bac-f847db4148a8"


@given(st.binary(min_size=16, max_size=16))
def test_a_uuid_is_what_the_standard_library_makes_of_the_bytes(drawn: bytes) -> None:
    assert uuid_text(lambda _: drawn) == str(uuid.UUID(bytes=drawn, version=4))


@given(st.lists(st.binary(min_size=UUID_BYTES, max_size=UUID_BYTES), max_size=9))
def test_many_uuids_are_made_as_each_is(drawn: list[bytes]) -> None:
    each = iter(drawn)

    assert uuid_texts(b"".join(drawn)) == [uuid_text(lambda _: next(each)) for _ in drawn]


@given(st.integers(0, 200), st.text(max_size=9))
def test_a_text_has_its_length_and_its_alphabet(length: int, label: str) -> None:
    text = base62(entropy(label), length)

    assert len(text) == length
    assert set(text) <= set(BASE62)
    assert base62(entropy(label), length) == text


def test_every_byte_that_counts_gives_every_digit_four_times() -> None:
    digits = Counter(base62(bytes([byte]).__mul__, 1) for byte in range(248))

    assert digits == dict.fromkeys(BASE62, 4)
    assert len(BASE62) == 62


def test_bytes_that_would_favour_a_digit_are_dropped() -> None:
    drawn = bytes(range(248, 256)) + bytes([0, 61, 62, 247])

    assert base62(lambda size: (drawn * size)[:size], 4) == "0z0z"


def test_a_draw_that_was_too_short_is_followed_by_another() -> None:
    asked: list[int] = []

    def draw(size_bytes: int) -> bytes:
        asked.append(size_bytes)
        return b"\xff" * (size_bytes - 1) + bytes([len(asked)]) if len(asked) < 4 else bytes(size_bytes)

    assert base62(draw, 5) == "12300"
    assert asked == [13, 13, 13, 13]


def test_one_draw_is_enough_for_a_token() -> None:
    asked: list[int] = []

    def draw(size_bytes: int) -> bytes:
        asked.append(size_bytes)
        return b"\xff" * 8 + bytes(size_bytes - 8)

    assert base62(draw, 24) == "0" * 24
    assert asked == [32]


def test_a_source_without_entropy_is_refused_and_not_waited_for() -> None:
    with pytest.raises(ValueError, match="not entropy"):
        base62(lambda size: b"\xff" * size, 24)
    with pytest.raises(ValueError, match="not entropy"):
        base62(lambda _: b"", 24)


def test_digits_come_evenly() -> None:
    counts = Counter(base62(entropy("even"), 62_000))

    # Twelve standard deviations: the draw is fixed, and a favoured digit would have 1,200 or more.
    assert all(620 < count < 1380 for count in counts.values())
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 110  # chi-squared, 61 degrees, 0.9999


@given(st.binary(max_size=300))
def test_both_digests_are_the_published_one(value: bytes) -> None:
    assert sha256(value).hexdigest() == long_sha256()(value).hexdigest() == hashlib.sha256(value).hexdigest()


def test_a_python_without_the_small_module_has_the_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_sha2", "_sha256"):
        monkeypatch.setitem(sys.modules, name, None)

    assert identifiers._small_sha256()(b"abc").hexdigest() == hashlib.sha256(b"abc").hexdigest()


def test_a_first_answer_does_without_openssls_digests(checkout: Path) -> None:
    code = (
        "import sys\nbefore = set(sys.modules)\nfrom labkit import Vault\nvault = Vault.dev()\n"
        "vault.post('secret/data/a', {'data': {}})\nvault.post('transit/encrypt/a', {'plaintext': ''})\n"
        "print('_hashlib' in set(sys.modules) - before)"
    )
    process = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["False"]
