"""Seeded: the entropy and the clock of a world in which the same seed gives the same answers (R6, R7).

Every byte that a node draws is a function of seed, node, incarnation and a counter.
A restart raises the incarnation and a branch changes the label, so that two nodes, or two branches, that share a key
never share a nonce; a restored node goes on where it was.
"""

from __future__ import annotations

from hashlib import blake2b

BLOCK_BYTES = 64
START_NS = 1_893_456_000_000_000_000
"""2030-01-01T00:00:00Z: where the wall clocks of seeded worlds begin."""


def start() -> int:
    """Return the instant at which the clock of a seeded vault stands, in nanoseconds since the epoch."""
    return START_NS


class SeededEntropy:
    """A stream of bytes under a label; its state is one integer."""

    __slots__ = ("_key", "counter")

    is_seeded = True

    def __init__(self, seed: int, *label: str | int, counter: int = 0) -> None:
        text = "\x1f".join(map(str, (seed, *label)))
        self._key = blake2b(text.encode(), digest_size=32).digest()
        self.counter = counter

    def __call__(self, count: int) -> bytes:
        """Draw ``count`` bytes."""
        if count <= BLOCK_BYTES:
            self.counter += 1
            return blake2b(self.counter.to_bytes(8, "big"), digest_size=count, key=self._key).digest() if count else b""
        blocks = []
        while count > 0:
            blocks.append(self(min(count, BLOCK_BYTES)))
            count -= BLOCK_BYTES
        return b"".join(blocks)
