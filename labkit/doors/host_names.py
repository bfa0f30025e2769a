"""Host names: under which names a door is asked, and of which pages it takes requests (decision C20).

1. Names of this machine are loopback names and addresses, and no name at all; others are given with ``--host-name``.
   Names count, ports do not.
2. A page of another origin is refused too, unless the service itself says which origins it allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

MAX_KNOWN = 64

OPTION = "--host-name NAME"
FOREIGN = (
    f"expected a Host of this machine, and no page of another origin; other names are let in by {OPTION} of labkit "
    "serve. Whatever is served with a seed has tokens that everybody knows"
)
"""What is said to whoever asks under another name."""

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]*)(?::[0-9]*)?", re.ASCII)
_LOOPBACK = re.compile(r"(?:[^.]+\.)*localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|\[::1\]|", re.ASCII)
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\]", re.ASCII)


def judged_name(text: str) -> str:
    """Return a name that a door may be asked under, as it is compared; raise ValueError for what is none."""
    name = text.lower()
    if _NAME.fullmatch(name) is None:
        expected = "a host's name or address without a port, such as build-7.example"
        raise ValueError(f"expected {expected}, got {text[:80]!r}")
    return name


class HostNames:
    """The names of one door: those of this machine, those that were ``named``, and hosts that ``also`` knows."""

    __slots__ = ("_also", "_known", "_named")

    def __init__(self, named: Iterable[str] = (), also: Callable[[str], bool] = lambda host: False) -> None:
        self._named, self._also = frozenset(map(judged_name, named)), also
        self._known: set[str] = set()  # most clients send the same one again

    def __repr__(self) -> str:
        return f"HostNames({', '.join(['loopback', *sorted(self._named)])})"

    def admit(self, headers: Mapping[str, str], any_origin: Callable[[], bool] = lambda: False) -> bool:
        """Whether a request may come in; ``any_origin``: whether the service judges origins by itself."""
        host = headers.get("host", "")
        if host not in self._known and not self.has_host(host):
            return False
        origin = headers.get("origin")
        return origin is None or self.has_origin(origin) or any_origin()

    def has_host(self, host: str) -> bool:
        """Whether a ``Host`` names this door."""
        found = _HOST.fullmatch(host.lower())
        if found is None or not (_LOOPBACK.fullmatch(found[1]) or found[1] in self._named or self._also(host)):
            return False
        if len(self._known) < MAX_KNOWN:
            self._known.add(host)
        return True

    def has_origin(self, origin: str) -> bool:
        """Whether an ``Origin`` is that of a page of this door, or of another port of it."""
        scheme, mark, host = origin.partition("://")
        return scheme.lower() in ("http", "https") and bool(mark and host) and self.has_host(host)
