"""Root key question: how a secondary's node asks its upstream for the root key of the keyring that came from there.

It is asked with each heartbeat until an answer is taken, under one serial for one keyring, as an answer may be lost or
take longer than that.
"""

from __future__ import annotations

from typing import Any

from labkit.vault.core import Core
from labkit.vault.identifiers import sha256
from labkit.vault.replication.trust import root_key_transfer
from labkit.vault.sealing.seal import awaits_root_key
from labkit.vault.storage.barrier import KEYRING


class RootKeyQuestion:
    """The question's serial, the keyring (a digest) that it is about, and whether an answer was taken."""

    __slots__ = ("is_answered", "keyring", "serial")

    def __init__(self, state: tuple[Any, ...] | None = None) -> None:
        self.serial, self.keyring, self.is_answered = state or (0, "", False)

    def next(self, core: Core) -> int:
        """Return the serial under which the root key is to be asked for now; 0 where it is not."""
        if not awaits_root_key(core):
            return 0
        keyring = sha256(core.storage.get(KEYRING) or b"").hexdigest()
        if keyring != self.keyring:
            self.serial, self.keyring, self.is_answered = self.serial + 1, keyring, False
        return 0 if self.is_answered else self.serial

    def take(self, core: Core, message: dict[str, Any]) -> str:
        """Take an answer; return why it is refused, if so.  One to an earlier question is ignored."""
        if not 1 <= message["serial"] <= self.serial:
            return "a root key that was not asked for"
        if message["serial"] < self.serial or self.is_answered or message.get("gone"):
            return ""
        why = root_key_transfer.take(core, message)
        self.is_answered = core.keys.root_key == message.get("root_key")  # else it could not be stored
        return why

    def state(self) -> tuple[Any, ...] | None:
        """Return it as plain values; None where nothing was ever asked."""
        return (self.serial, self.keyring, self.is_answered) if self.serial else None
