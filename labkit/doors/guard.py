"""Guard: who may use the control interface of a door and read its page.

1. Only this machine: the other end of the connection is a loopback address, whatever addresses the door listens on;
   other machines only where that was asked for.
2. Only under the door's names (``host_names``): a foreign name that leads here is refused, and so is a page of another
   origin, whatever the service itself allows.
3. Only who has the key, in the header ``X-Labkit-Key``.  It is made for each door out of real entropy.
4. A page's address carries another key, which is exchanged for the first once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from hmac import compare_digest

from labkit import real
from labkit.doors.asgi import Message
from labkit.doors.host_names import FOREIGN, HostNames

KEY_BYTES = 20
MAX_PAGE_KEYS = 16
KEY_HEADER = "x-labkit-key"


class Guard:
    """The keys of one door, which is asked under ``names``; ``remote``: whether other machines are let in."""

    __slots__ = ("_names", "_page_keys", "_remote", "key")

    def __init__(self, names: HostNames, remote: bool = False) -> None:
        self._names, self._remote = names, remote
        self.key = real.entropy(KEY_BYTES).hex()
        self._page_keys: deque[str] = deque(maxlen=MAX_PAGE_KEYS)

    def __repr__(self) -> str:
        return "Guard()"  # never its keys

    def page_address(self, url: str) -> str:
        """Return the address of the page, with a key that opens it once."""
        self._page_keys.append(real.entropy(KEY_BYTES).hex())
        return f"{url}/#key={self._page_keys[-1]}"

    def exchange(self, page_key: object) -> str | None:
        """Return the key for a page's, which is spent; None for one that is spent already, or never was."""
        if not isinstance(page_key, str) or page_key not in self._page_keys:
            return None
        self._page_keys.remove(page_key)
        return self.key

    def refusal(self, scope: Message, headers: Mapping[str, str], with_key: bool = True) -> str:
        """Return why a request is refused; nothing for one that is not."""
        client = scope.get("client")
        if not self._remote and (client is None or not (client[0].startswith("127.") or client[0] == "::1")):
            return "the control interface is for this machine only; labkit serve --control-remote lets others in"
        if not self._names.admit(headers):
            return FOREIGN
        if with_key and not compare_digest(headers.get(KEY_HEADER, "").encode(), self.key.encode()):
            return "expected the key of this server in the header X-Labkit-Key"
        return ""
