"""Large values: which requests may lead to a stored value that takes long to read, so that no server's loop reads it.

1. A value is large from ``MIN_LARGE_BYTES`` on: it is decrypted, decoded and written in some 10 ms.
2. A request may lead to one when a segment of its path is one of the key's: engines keep what a path names under its
   name.  What is wrapped is kept under the token that wraps it, so all of ``sys/wrapping`` may lead to it.
3. A request that is named without need only waits in another place; nothing is decided about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from labkit.vault.storage import Storage

MIN_LARGE_BYTES = 262_144

CUBBYHOLES, WRAPPING = "cubbyhole/", "wrapping"


class LargeValues:
    """The keys of a store's large values, which are looked for once; ``note`` is given every commit after that."""

    __slots__ = ("_keys", "_names")

    def __init__(self, storage: Storage) -> None:
        self._keys: set[str] = set()
        self._names: Counter[str] = Counter()
        for key in storage.keys(MIN_LARGE_BYTES):
            self._add(key)

    def __repr__(self) -> str:
        return f"LargeValues({len(self._keys)})"

    def note(self, number: int | None, writes: Mapping[str, bytes | None], joined: bool) -> None:
        """Take notice of what a step wrote."""
        for key, value in writes.items():
            if value is not None and len(value) >= MIN_LARGE_BYTES:
                self._add(key)
            elif key in self._keys:
                self._keys.discard(key)
                self._names.subtract(_names_of(key))

    def may_be_led_to(self, target: str) -> bool:
        """Whether a request may lead to one; ``target`` is path and query as they were sent."""
        if not self._keys:
            return False
        path = target.partition("?")[0]
        return any(self._names[name] > 0 for name in (unquote(path) if "%" in path else path).split("/"))

    def _add(self, key: str) -> None:
        if key not in self._keys:
            self._keys.add(key)
            self._names.update(_names_of(key))


def _names_of(key: str) -> Iterator[str]:
    """Return the segments of a key by which requests may name it; those before are its engine's."""
    segments = key.split("/")
    yield from segments[2:] if len(segments) > 2 else segments
    if key.startswith(CUBBYHOLES):
        yield WRAPPING
