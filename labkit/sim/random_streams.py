"""Every random draw of a simulation: integers from a keyed hash of a label and a counter.

Rules kept here:

1. A draw is a function of seed, label and counter: the same in every process, on every machine and version.
2. Labels are independent: one draw more under one label changes no draw under any other.
3. The state is the counters only; words that a hash gave and that are not drawn yet are a cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from struct import Struct
from typing import TypeAlias

Counters: TypeAlias = tuple[tuple[str, int], ...]

_WORD_BITS = 64
_WORDS = 8  # a digest of blake2b holds eight words of 64 bits
_words_of = Struct(">8Q").unpack
MILLION = 1_000_000


class RandomStreams:
    """Draws by label.  The seed may be bytes, an int or a text; seeds of different types are different seeds.

    `RandomStreams(seed, streams.state())` goes on where the saved ones stopped.
    """

    __slots__ = ("_key", "_streams")

    def __init__(self, seed: bytes | int | str, counters: Iterable[tuple[str, int]] | None = None) -> None:
        self._key = _key(seed)
        self._streams: dict[str, RandomStream] = {}
        for label, count in counters or ():
            self._streams[label] = RandomStream(self._key, label, count)

    def stream(self, label: str) -> RandomStream:
        """The one stream of that label; a caller that draws often keeps it."""
        stream = self._streams.get(label)
        if stream is None:
            stream = self._streams[label] = RandomStream(self._key, label)
        return stream

    def word(self, label: str) -> int:
        """64 random bits."""
        return self.stream(label).word()

    def below(self, label: str, n: int) -> int:
        """A whole number from 0 to n - 1; n is at most 2^64.

        Some numbers are more likely than others, by a factor of at most 1 + n / 2^64.
        """
        if type(n) is not int or not 0 < n <= 1 << _WORD_BITS:
            raise ValueError(f"a draw below n needs an int n from 1 to 2^64, not {n!r}")
        return self.stream(label).word() * n >> _WORD_BITS

    def rekey(self, seed: bytes | int | str) -> None:
        """Draw under another seed from here on: counters go on, and whoever has a stream keeps it."""
        self._key = _key(seed)
        for label, stream in self._streams.items():
            stream.rekey(self._key, label)

    def state(self) -> Counters:
        """How often each label was drawn, sorted by label."""
        counts = ((label, stream.count) for label, stream in sorted(self._streams.items()))
        return tuple([(label, count) for label, count in counts if count])


class RandomStream:
    """The draws of one label, in order."""

    __slots__ = ("_block", "_hash", "words")

    def __init__(self, key: bytes, label: str, count: int = 0) -> None:
        self.words: list[int] = []
        """Drawn from the end with pop(); when it is empty, call `refill()`."""
        self._begin(key, label, count)

    @property
    def count(self) -> int:
        """How many draws were made."""
        return self._block * _WORDS - len(self.words)

    def word(self) -> int:
        """64 random bits."""
        return (self.words or self.refill()).pop()

    def rekey(self, key: bytes, label: str) -> None:
        """Draw under another key from here on; the counter goes on, and `words` stays the same list."""
        count = self.count
        self.words.clear()
        self._begin(key, label, count)

    def _begin(self, key: bytes, label: str, count: int) -> None:
        self._hash = blake2b(label.encode(), key=key)
        self._block = count // _WORDS
        if count % _WORDS:
            self.refill()
            del self.words[-(count % _WORDS) :]

    def refill(self) -> list[int]:
        """Put the next words into `words`, which stays the same list, and return it."""
        block = self._hash.copy()  # the label is in it; the number of the block follows
        block.update(self._block.to_bytes(8, "big"))
        self._block += 1
        self.words += _words_of(block.digest())
        return self.words


def checked_ppm(what: str, parts_per_million: int) -> int:
    """The number itself, when it is an int of parts per million; ValueError otherwise."""
    if type(parts_per_million) is not int or not 0 <= parts_per_million <= MILLION:
        raise ValueError(f"{what} is a whole number of parts per million, not {parts_per_million!r}")
    return parts_per_million


def _key(seed: bytes | int | str) -> bytes:
    if isinstance(seed, bool) or not isinstance(seed, bytes | int | str):
        raise TypeError(f"a seed is bytes, an int or a text, not {type(seed).__name__}")
    if isinstance(seed, bytes):
        return blake2b(b"bytes:" + seed, digest_size=32).digest()
    return blake2b(f"{type(seed).__name__}:{seed}".encode(), digest_size=32).digest()
