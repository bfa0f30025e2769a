"""Client memory: what a client remembers of its answers: the tokens that it holds, and the versions that it last saw.

1. A use of a token is spent when it is sent, and is given back when the answer says that it had no effect.  A token is
   forgotten once its uses are spent, when it is refused as invalid, or when its revocation begins; a revocation that
   was refused gives it back as the oldest.
2. The version of a secret is the one that the last answer named, of whichever request; 0 for nothing there.
3. It is what a process has in memory: a client that goes down remembers nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.wire.seen_versions import SeenVersion

MAX_HELD = 1_000
"""How many tokens a client holds; of more the oldest is forgotten."""

SPENT = -1
"""The uses of a token whose last one is under way."""


class ClientToken(NamedTuple):
    """A token that a client was given, and how often it may still be used (0: without limit)."""

    text: str
    uses: int = 0

    def __repr__(self) -> str:
        return f"ClientToken({self.uses} uses)"  # never the token


class ClientMemory:
    """The tokens of one client, the oldest first, and the versions of secrets by their paths."""

    __slots__ = ("revoking", "tokens", "turns", "versions")

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.tokens: list[ClientToken] = [ClientToken(*row) for row in state.get("tokens", ())]
        self.revoking: dict[str, ClientToken] = {row[0]: ClientToken(*row) for row in state.get("revoking", ())}
        self.versions: dict[str, int] = dict(state.get("versions", {}))
        self.turns: dict[int, int] = dict(state.get("turns", {}))  # how often each workload had its turn

    def __repr__(self) -> str:
        return f"ClientMemory({len(self.tokens)} tokens, {len(self.versions)} versions)"

    def take_turn(self, workload: int) -> int:
        """Count a turn of a workload; return which it is, from 1 up."""
        turn = self.turns.get(workload, 0) + 1
        self.turns[workload] = turn
        return turn

    def see(self, seen: SeenVersion | None) -> None:
        """Remember the version that an answer named."""
        if seen is not None:
            self.versions[seen.path] = seen.version

    def hold(self, auth: Any) -> None:
        """Remember the token that an answer issued; one that is not of that shape issued none (R25)."""
        text = auth.get("client_token") if isinstance(auth, dict) else None
        if not isinstance(text, str) or not text:
            return
        uses = auth.get("num_uses")
        self.tokens.append(ClientToken(text, uses if type(uses) is int and uses > 0 else 0))
        del self.tokens[:-MAX_HELD]

    def use(self, turn: int) -> str:
        """Return a token to be used, each in turn, and spend one of its uses; an empty text when none is held."""
        places = [place for place, token in enumerate(self.tokens) if token.uses != SPENT]
        if not places:
            return ""
        place = places[turn % len(places)]
        text, uses = self.tokens[place]
        if uses:
            self.tokens[place] = ClientToken(text, uses - 1 or SPENT)
        return text

    def used(self, text: str, *, had_effect: bool) -> None:
        """A use ended: forget a token that is spent by it; without an effect the use is there again."""
        place = self._place_of(text)
        uses = self.tokens[place].uses if place is not None else 0
        if place is None or not uses:
            return
        if not had_effect:
            self.tokens[place] = ClientToken(text, max(uses, 0) + 1)
        elif uses == SPENT:
            del self.tokens[place]

    def drop(self, text: str) -> None:
        """Forget a token that was refused as invalid."""
        place = self._place_of(text)
        if place is not None:
            del self.tokens[place]

    def revoke(self) -> str:
        """Return the oldest token, to be revoked, and hold it no more; an empty text when none is held."""
        place = next((place for place, token in enumerate(self.tokens) if token.uses != SPENT), None)
        if place is None:
            return ""
        token = self.tokens.pop(place)
        self.revoking[token.text] = token
        return token.text

    def revoked(self, text: str, *, had_effect: bool) -> None:
        """A revocation ended; one that was refused leaves the token as the oldest that is held."""
        token = self.revoking.pop(text, None)
        if token is not None and not had_effect:
            self.tokens.insert(0, token)

    def clear(self) -> None:
        """Forget tokens and versions."""
        self.tokens, self.revoking, self.versions = [], {}, {}

    def state(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "tokens": tuple(self.tokens),
            "revoking": tuple(self.revoking.values()),
            "versions": dict(self.versions),
            "turns": dict(self.turns),
        }

    def _place_of(self, text: str) -> int | None:
        return next((place for place, token in enumerate(self.tokens) if token.text == text), None)
