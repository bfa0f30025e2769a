"""Seeded: the entropy and the clock of a world in which the same seed gives the same answers (R6, R7).

Every byte that a node draws is a function of seed, node, incarnation and a counter.
A restart raises the incarnation and a branch changes the label, so that two nodes, or two branches, that share a key
never share a nonce; a restored node goes on where it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

BLOCK_BYTES = 64
START_NS = 1_893_456_000_000_000_000
"""2030-01-01T00:00:00Z: where the wall clocks of seeded worlds begin."""


def start() -> int:
    """Return the instant at which the clock of a seeded vault stands, in nanoseconds since the epoch."""
    return START_NS


class DrawnOnce:
    """The numbers of each kind that a world has drawn, and may not draw again: whatever draws them shares this."""

    __slots__ = ("_drawn",)

    def __init__(self, drawn: Mapping[str, tuple[int, ...]] | None = None) -> None:
        self._drawn = dict(drawn or {})

    def __repr__(self) -> str:
        return f"DrawnOnce({', '.join(f'{kind}: {len(numbers)}' for kind, numbers in self._drawn.items())})"

    def take(self, kind: str, count: int, draw: int) -> int:
        """Turn a draw into a number below ``count`` that was not taken yet; once all were, they begin again."""
        taken = self._drawn.get(kind, ())
        if len(taken) >= count:
            taken = ()
        number = sorted(set(range(count)).difference(taken))[draw % (count - len(taken))]
        self._drawn[kind] = (*taken, number)
        return number

    def state(self) -> dict[str, tuple[int, ...]]:
        """Return what was drawn as plain values."""
        return dict(self._drawn)


class WorldLabel:
    """What a world draws under beside its seed: the label of its branch, and the luck that it took, one after another.

    Keys and nonces are drawn under both; the network's draws under the luck only, so that two branches with the same
    luck differ by what was changed (R7).
    """

    __slots__ = ("branch", "luck")

    def __init__(self, branch: str = "", luck: tuple[int, ...] = ()) -> None:
        self.branch, self.luck = branch, luck

    def __repr__(self) -> str:
        return f"WorldLabel({self.branch!r}, luck {self.luck})"

    def take(self, luck: int) -> None:
        """Take other luck from here on; the same number twice is other luck each time."""
        self.branch += f"/luck {luck}"
        self.luck += (luck,)

    def seed_of_network(self, seed: int) -> int | str:
        """Return the seed of the network's draws: the lab's own until it takes other luck."""
        return f"{seed} luck {'/'.join(map(str, self.luck))}" if self.luck else seed


class SeededEntropy:
    """A stream of bytes under a label; its state is one integer, and what its world has drawn once for all."""

    __slots__ = ("_key", "_stream", "counter", "drawn_once")

    is_seeded = True

    def __init__(self, seed: int, *label: str | int, counter: int = 0, drawn_once: DrawnOnce | None = None) -> None:
        text = "\x1f".join(map(str, (seed, *label)))
        self._key = blake2b(text.encode(), digest_size=32).digest()
        self._stream = ""
        self.counter = counter
        self.drawn_once = DrawnOnce() if drawn_once is None else drawn_once

    @property
    def stream(self) -> str:
        """What tells this stream from all others: a digest of seed and label, made once, as it is often judged."""
        if not self._stream:
            self._stream = blake2b(self._key, digest_size=16).hexdigest()
        return self._stream

    def drawn(self) -> tuple[int, dict[str, tuple[int, ...]]]:
        """Return what was drawn so far: the counter, and what was drawn once for all."""
        return self.counter, self.drawn_once.state()

    def rewind(self, counter: int, drawn_once: dict[str, tuple[int, ...]]) -> None:
        """Go back to what had been drawn at an earlier time."""
        self.counter, self.drawn_once = counter, DrawnOnce(drawn_once)

    def at(self, counter: int, drawn_once: DrawnOnce) -> SeededEntropy:
        """Return this stream as it goes on after so many draws, in a world that has drawn this."""
        stream = SeededEntropy(0, counter=counter, drawn_once=drawn_once)
        stream._key = self._key
        return stream

    def take_label_of(self, other: SeededEntropy) -> None:
        """Draw under another stream's label from here on; the counter goes on, and whoever has this stream keeps it."""
        self._key, self._stream = other._key, ""

    def branched(self, label: str, drawn_once: DrawnOnce) -> SeededEntropy:
        """Return a stream of its own under a label: it shares no byte with this one, nor with that of another label."""
        stream = SeededEntropy(0, drawn_once=drawn_once)
        stream._key = blake2b(label.encode(), digest_size=32, key=self._key, person=b"branch").digest()
        return stream

    def draw_once(self, kind: str, count: int) -> int:
        """Draw a number below ``count`` that nothing in this world has drawn of its kind."""
        return self.drawn_once.take(kind, count, int.from_bytes(self(8), "big"))

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
