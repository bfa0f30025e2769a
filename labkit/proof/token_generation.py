"""The model of an operation token: the attempt that makes it, the key holders, and who uses the token.

The shipped service answers: what is stored of attempt and token is handed to a vault that is a disaster-recovery
secondary, one request is sent, and what is stored then is read again.  So every request may meet another node of the
cluster.  Requests come in any order: an attempt is started or cancelled; a share is given, also a wrong one, one that
was given before, or one under an earlier attempt's nonce; a token is used or deleted, also an old one or a guess.

What must hold in every state:

1. A token is issued by the share that makes up the threshold, and by none other: shares count for the present attempt
   only, each once, and since the last set that did not combine.
2. The token that the last answer shows, unmasked with that attempt's one-time password, is the stored one; no other
   answer shows a one-time password or a token.
3. A token is accepted while it is the newest and was not deleted, and nothing else is.
4. A refused request changes nothing but this: a set that does not combine sets the progress to 0.
5. Every answer's progress is the number of shares that count, and no request is answered as a fault of the server.

What must be possible in every state, without any further mistake: a promotion is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from labkit.seeded import SeededEntropy, start
from labkit.service.message import Request, Response, Suspended, silence
from labkit.vault.core import Environment, Settings
from labkit.vault.replication.trust.operation_token import OPERATION, TOKEN
from labkit.vault.sealing.initialise import set_up
from labkit.vault.sealing.otp import decode
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.token_record import digest_of
from labkit.vault.vault_node import VaultNode

DR = "/v1/sys/replication/dr/"
GENERATION = f"{DR}secondary/generate-operation-token/"
SHARES, THRESHOLD = 3, 2
WRONG = "wrong"
GUESS = "hvs." + "x" * 24

STARTS, CANCELS, GIVES, USES, DELETES = "starts", "cancels", "gives", "uses", "deletes"


class TokenBounds(NamedTuple):
    """How many attempts are started, and how many mistakes are made."""

    attempts: int = 2
    mistakes: int = 2

    def __str__(self) -> str:
        return f"{self.attempts} attempts, {self.mistakes} mistakes; {THRESHOLD} of {SHARES} key shares"


class Ceremony(NamedTuple):
    """One state: what is stored (the attempt as plain values, the token's digest), and what people know and did.

    ``attempts``: (nonce, one-time password) of each; ``counted``: the shares that count for the present one; ``held``:
    the tokens that were issued; ``valid``: the number of the one that is to be accepted, from 1, else 0; ``left``:
    attempts and mistakes.
    """

    stored: tuple[bytes | None, bytes | None] = (None, None)
    attempts: tuple[tuple[str, str], ...] = ()
    under_way: bool = False
    counted: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    valid: int = 0
    left: tuple[int, int] = (0, 0)
    promoted: bool = False
    broken: str = ""


class Asking(NamedTuple):
    """One event: what is asked for, with which share or token, and under the nonce of which attempt, from 1."""

    kind: str
    what: str = ""
    number: int = 0


class TokenGeneration:
    """The model, within bounds."""

    def __init__(self, bounds: TokenBounds) -> None:
        self.bounds = bounds
        vault = VaultNode(MemoryStorage(), _environment("birth"), Settings())
        root_token, shares = set_up(vault.core, SHARES, THRESHOLD)
        for mode in ("enable", "demote"):
            answer = vault.handle(Request("POST", f"{DR}primary/{mode}", {"X-Vault-Token": root_token}))
            assert isinstance(answer, Response), "neither asks another cluster"
            assert answer.status == 200, "a demoted primary is a secondary that follows none"
        storage: Any = vault.core.storage
        self._stored, self._state = storage.state(), vault.state()
        self.shares = {str(number): share for number, share in enumerate(shares, 1)}
        self.shares[WRONG] = "ff" * 32 + "7f"

    def start(self) -> Ceremony:
        """Return the state in which nothing was asked for."""
        return Ceremony(left=(self.bounds.attempts, self.bounds.mistakes))

    def successors(self, state: Ceremony) -> list[tuple[Asking, Ceremony]]:
        """Return everything that can be asked for next."""
        if state.broken or state.promoted:
            return []
        return [(call, self._after(state, call)) for call in self._calls(state)]

    def broken(self, state: Ceremony) -> str:
        """Return which property a state breaks."""
        return state.broken

    def is_fault(self, call: Asking) -> bool:
        """Whether an event may as well never happen; which mistakes there are is counted."""
        return call.kind in (CANCELS, DELETES) or call.what == WRONG

    def is_goal(self, state: Ceremony) -> bool:
        """Whether a promotion was accepted; or nothing can lead to one within the bounds."""
        return state.promoted or not (state.left[0] or state.under_way or state.valid)

    def _calls(self, state: Ceremony) -> Iterator[Asking]:
        if state.left[0]:
            yield Asking(STARTS)
        shares = [*self.shares] if state.left[1] else [name for name in self.shares if name != WRONG]
        for share in shares:
            for attempt in range(1, len(state.attempts) + 1):
                yield Asking(GIVES, share, attempt)
        for number in range(len(state.held) + 1):
            yield Asking(USES, number=number)
            if state.left[1]:
                yield Asking(DELETES, number=number)
        if state.left[1]:
            yield Asking(CANCELS)

    def _after(self, state: Ceremony, call: Asking) -> Ceremony:
        vault = self._vault(state, call)
        try:
            answer = vault.handle(self._request(state, call))
        except Exception as error:
            return state._replace(broken=f"a step raised {type(error).__name__}: {error}")
        assert not isinstance(answer, Suspended), "none of these requests asks another cluster"
        before, after = state.stored, (_read(vault, OPERATION.record), _read(vault, TOKEN))
        wanted = self._wanted(state, call)
        why = judged(wanted, answer, before, after)
        following = wanted.state._replace(stored=after, broken=why)
        if call.kind == STARTS and answer.ok and answer.body:
            known = (answer.body["nonce"], answer.body["otp"])
            return following._replace(attempts=(*state.attempts, known))
        if wanted.issues and answer.ok and answer.body and not why:
            return _issued(following, decode(answer.body["encoded_token"], state.attempts[-1][1]))
        return following

    def _vault(self, state: Ceremony, call: Asking) -> VaultNode:
        """Return a node that finds in its store what the state says."""
        storage = MemoryStorage.from_state(self._stored)
        environment = _environment(f"{call.kind} {len(state.attempts)} {len(state.held)}")
        vault = VaultNode(storage, environment, Settings(), self._state)
        core = vault.core
        rows = zip((OPERATION.record, TOKEN), state.stored, strict=True)
        found = {key: core.keys.encrypt(key, value, core.entropy) for key, value in rows if value is not None}
        if found:
            storage.apply(found, core.leadership.term)
        return vault

    def _request(self, state: Ceremony, call: Asking) -> Request:
        if call.kind == STARTS:
            return Request("POST", f"{GENERATION}attempt")
        if call.kind == CANCELS:
            return Request("DELETE", f"{GENERATION}attempt")
        if call.kind == GIVES:
            body = {"key": self.shares[call.what], "nonce": state.attempts[call.number - 1][0]}
            return Request("POST", f"{GENERATION}update", body=body)
        path = "promote" if call.kind == USES else "operation-token/delete"
        token = state.held[call.number - 1] if call.number else GUESS
        return Request("POST", f"{DR}secondary/{path}", body={"dr_operation_token": token})

    def _wanted(self, state: Ceremony, call: Asking) -> Wanted:
        """Return what the rules say of a request: whether it is granted, and the state after it."""
        attempts, mistakes = state.left
        if call.kind == STARTS:
            if state.under_way:
                return Wanted(state, refused=True)
            return Wanted(state._replace(under_way=True, counted=(), left=(attempts - 1, mistakes)), shows_otp=True)
        if call.kind == CANCELS:
            return Wanted(state._replace(under_way=False, counted=(), left=(attempts, mistakes - state.under_way)))
        if call.kind == GIVES:
            return self._given(state, call)
        accepted = 0 < call.number == state.valid
        if not accepted:
            return Wanted(state, refused=True)
        if call.kind == USES:
            return Wanted(state._replace(promoted=True))
        return Wanted(state._replace(valid=0, left=(attempts, mistakes - 1)))

    def _given(self, state: Ceremony, call: Asking) -> Wanted:
        attempts, mistakes = state.left
        present = state.under_way and call.number == len(state.attempts)
        if not present or call.what in state.counted:
            return Wanted(state, refused=True)
        counted = (*state.counted, call.what)
        left = (attempts, mistakes - (call.what == WRONG))
        if len(counted) < THRESHOLD:
            return Wanted(state._replace(counted=counted, left=left))
        if WRONG in counted:
            return Wanted(state._replace(counted=(), left=left), refused=True, empties=True)
        return Wanted(state._replace(under_way=False, counted=()), issues=True)


class Wanted(NamedTuple):
    """What the rules say of a request: the state after it, whether it is refused, and what its answer shows."""

    state: Ceremony
    refused: bool = False
    empties: bool = False
    shows_otp: bool = False
    issues: bool = False


def judged(wanted: Wanted, answer: Response, before: tuple[bytes | None, ...], after: tuple[bytes | None, ...]) -> str:
    """Return which property an answer breaks, and an empty text for none."""
    if answer.status >= 500:
        return f"a request is answered {answer.status}"
    if answer.ok == wanted.refused:
        return f"a request is answered {answer.status} that is to be {'refused' if wanted.refused else 'granted'}"
    if wanted.refused and not wanted.empties and before != after:
        return "a refused request changes what is stored"
    body = answer.body or {}
    if "progress" not in body:
        return ""
    counted = THRESHOLD if wanted.issues else len(wanted.state.counted)
    if body["progress"] != counted:
        return f"the progress is {body['progress']}, and {counted} shares count"
    if bool(body["otp"]) != wanted.shows_otp:
        return "an answer shows a one-time password that is not the start of its attempt"
    if (bool(body["encoded_token"]) or body["complete"]) != wanted.issues:
        return "a token is shown by a share that does not make up the threshold"
    return ""


def _issued(state: Ceremony, token: str) -> Ceremony:
    """Return the state in which a token was issued and decoded."""
    if digest_of(token).encode() != state.stored[1]:
        return state._replace(broken="the decoded token is not the one that is stored")
    held = (*state.held, token)
    return state._replace(held=held, valid=len(held))


def _read(vault: VaultNode, key: str) -> bytes | None:
    stored = vault.core.storage.get(key)
    return None if stored is None else vault.core.keys.decrypt(key, stored)


def _environment(label: str) -> Environment:
    return Environment(start, SeededEntropy(0, "proof", label), _unwatched, lambda fetch: silence(fetch.address))


def _unwatched(kind: str, **fields: Any) -> None:
    """Drop an observation."""


def described(call: Asking) -> str:
    """Return an event in a sentence."""
    if call.kind == STARTS:
        return "An attempt is started."
    if call.kind == CANCELS:
        return "The attempt is cancelled."
    if call.kind == GIVES:
        share = "A share of another key" if call.what == WRONG else f"Share {call.what}"
        return f"{share} is given under the nonce of attempt {call.number}."
    token = f"token {call.number}" if call.number else "a guess"
    return f"A promotion is asked for with {token}." if call.kind == USES else f"With {token} the token is deleted."
