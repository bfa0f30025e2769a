"""Vault: one node of the secrets service, and the walk of every request through it.

1. ``handle`` never waits: it answers, or hands back a Suspended that ``resume`` goes on with.
2. A refusal is raised where it is found and turned into a Response in one place; nothing of the request stays behind
   but what the rules let stay (R4).
3. Everything else that a Vault knows is in its storage; ``state`` is the little that is not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from labkit.service.errors import ServiceError
from labkit.service.message import Body, Fetch, Request, Response, Suspended, respond, silence
from labkit.service.record import NamedTuple
from labkit.service.short_forms import ShortForms
from labkit.vault import due, walk
from labkit.vault.context import Context, Core, Duty, Settings, Surroundings, TapedContext
from labkit.vault.files import Files
from labkit.vault.replication.journal import Journal
from labkit.vault.seal import SealState, refresh_ring
from labkit.vault.storage import StaleTerm, Storage
from labkit.vault.storage.barrier import Barrier, KeyringTerm


class ShiftedClock:
    """A clock that can be moved forward: for a vault that stands alone."""

    __slots__ = ("base", "shift_ns")

    def __init__(self, base: Callable[[], int]) -> None:
        self.base, self.shift_ns = base, 0

    def __call__(self) -> int:
        """Return nanoseconds since the epoch."""
        return self.base() + self.shift_ns


class Call(NamedTuple):
    """One request that a vault answered in process, as ``Vault.calls`` lists it."""

    method: str
    path: str
    status: int


KEPT_CALLS = 10_000

# path, kind and options of what is mounted in development mode
DEV_MOUNTS = (("secret/", "kv", (("version", "2"),)), ("transit/", "transit", ()))


class Vault(ShortForms):
    """One node of the secrets service: a Request in, a Response out."""

    def __init__(
        self,
        storage: Storage,
        surroundings: Surroundings,
        settings: Settings | None = None,
        state: Mapping[str, Any] | None = None,
        files: Files | None = None,
    ) -> None:
        settings = settings or Settings()
        self.surroundings = surroundings
        seal = SealState(*(state or {}).get("seal", ()))
        journal = Journal.from_state(storage, state["journal"]) if state else Journal(storage, settings.ring_entries)
        self.core = Core(storage, journal, surroundings, settings, seal)
        self.serial = 0
        self.root_token = ""
        self.files = files or Files()
        self.core.audit_line = self.files.append
        self.unseal_keys: tuple[str, ...] = ()
        self.calls: deque[Call] = deque(maxlen=KEPT_CALLS)
        self._failures: list[int] = []
        if state:
            self._restore(state)

    def __repr__(self) -> str:
        return f"Vault({self.core.settings.node}, {'sealed' if self.sealed else 'unsealed'})"

    def now(self) -> int:
        """Return this node's wall clock in nanoseconds since the epoch."""
        return self.surroundings.now()

    @property
    def sealed(self) -> bool:
        """Whether the node holds no keys."""
        return self.core.barrier is None

    def handle(self, request: Request) -> Response | Suspended:
        """Answer a request, or hand back what it waits for."""
        core = self.core
        refresh_ring(core)
        ctx = Context(core, request, core.now())
        try:
            walk.receive(ctx)
            walk.find_route(ctx)
            walk.admit(ctx)
            walk.identify(ctx)
            arguments = walk.authorise(ctx)
            walk.spend_use(ctx)
            walk.audit_request(ctx)
            if walk.fetches(ctx):
                return self._start(ctx, arguments)
            answer = walk.call(ctx, arguments)
            response = walk.respond_with(ctx, answer)
            walk.audit_response(ctx, response)
            core.commit(ctx.writes)
        except ServiceError as error:
            return walk.refuse(ctx, error)
        except StaleTerm:
            return walk.step_down(ctx)
        return response

    def resume(self, suspended: Suspended, answer: Response) -> Response | Suspended:
        """Go on with a suspended request, now that its fetch was answered (status 0: silence)."""
        core = self.core
        refresh_ring(core)
        ctx = TapedContext(core, suspended.request, core.now())
        try:
            ctx, generator = core.live.pop(suspended.number, None) or self._replay(suspended)
            ctx.begin(core.now())
            walk.admit_again(ctx, suspended)
            return self._advance(ctx, generator, suspended._replace(answers=(*suspended.answers, answer)))
        except ServiceError as error:
            return walk.refuse(ctx, error)
        except StaleTerm:
            return walk.step_down(ctx)

    @classmethod
    def dev(cls, *, clock: Callable[[], int] | None = None, **settings: Any) -> Vault:
        """Make a vault of one node in memory, initialised and unsealed, with secret/ (KV v2) and transit/ mounted.

        ``clock`` gives nanoseconds since the epoch (the wall clock unless told otherwise); ``settings`` are those of
        ``Settings``.  ``root_token`` and ``unseal_keys`` (five shares, three open it) are attributes of the result.
        """
        from labkit.vault.storage.memory import MemoryStorage

        vault = cls(MemoryStorage(), _outside(clock), Settings(**settings))
        vault.root_token, vault.unseal_keys = set_up(vault.core)
        return vault

    @classmethod
    def open(cls, path: str, *, clock: Callable[[], int] | None = None, **settings: Any) -> Vault:
        """Open a vault kept in an SQLite file, set up as ``dev`` does when the file is new.

        The file holds the key shares and the root token beside the data, so that it opens without a ceremony: it is
        for practice, like everything here.
        """
        from labkit.vault.storage.records import decode_record, encode_record
        from labkit.vault.storage.sqlite import SqliteStorage

        storage = SqliteStorage(path)
        vault = cls(storage, _outside(clock), Settings(storage_type="sqlite", **settings))
        kept = storage.fact("credentials")
        if kept is None:
            vault.root_token, vault.unseal_keys = set_up(vault.core)
            storage.set_fact("credentials", encode_record([vault.root_token, vault.unseal_keys]))
            return vault
        vault.root_token, shares = decode_record(kept)
        vault.unseal_keys = tuple(shares)
        vault.unseal_with(vault.unseal_keys[:3])
        return vault

    def request(
        self, method: str, path: str, json: Body | None = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Send one request in process; sends the given headers only."""
        self.tick()
        if self._failures:
            response = respond(self._failures.pop(0), {"errors": ["failure asked for with fail_next"]})
        else:
            outcome = self.handle(Request(method, path, headers or {}, json))
            while isinstance(outcome, Suspended):
                outcome = self.resume(outcome, self.surroundings.fetch(outcome.fetch))
            response = outcome
        self.calls.append(Call(method, path, response.status))
        return response

    def close(self) -> None:
        """Close the file of a vault that was opened from one; a vault in memory needs no closing."""
        close = getattr(self.core.storage, "close", None)
        if close is not None:
            close()

    def unseal_with(self, shares: tuple[str, ...]) -> None:
        """Give key shares (hex) to this node."""
        from labkit.vault.seal import unseal

        for share in shares:
            unseal(self.core, bytes.fromhex(share))

    def fail_next(self, status: int, times: int = 1) -> None:
        """Let the next requests fail with a status before they reach any handler."""
        self._failures.extend([status] * times)

    def advance(self, duration: str | int) -> None:
        """Move this vault's clock forward by a duration such as ``2h``, and do what falls due on the way."""
        from labkit.service.durations import parse_duration

        clock = self.surroundings.now
        if not isinstance(clock, ShiftedClock):
            raise ValueError("this vault's clock is its lab's: let time pass with lab.run(duration)")
        clock.shift_ns += parse_duration(duration)
        self.tick()

    def next_due(self) -> int | None:
        """Return when something falls due, in nanoseconds since the epoch; None for never (R5)."""
        return due.next_due(self.core)

    def tick(self) -> int:
        """Do what is due, each item a step of its own; return how many items that were."""
        return due.tick(self.core)

    def set_duty(self, duty: Duty) -> None:
        """Tell the node whether it is the active one, and under which leadership term."""
        core = self.core
        core.duty = duty
        core.next_due_ns = None
        core.sync, core.peers = None, {}
        core.journal.switch_off()
        core.follow_mode()

    def check_seal(self) -> None:
        """Take up a changed key ring; seal when this node's root key no longer opens it."""
        refresh_ring(self.core)

    def state(self) -> dict[str, Any]:
        """Return what is not in storage as plain values (R3)."""
        seal = self.core.seal
        return {
            "seal": (seal.root_key, seal.progress, seal.nonce),
            "ring": None if self.core.barrier is None else self.core.barrier.ring,
            "duty": tuple(self.core.duty),
            "journal": self.core.journal.state(),
            "serial": self.serial,
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Take up a saved state; the key ring is the one this node had, whatever the store holds by now."""
        core = self.core
        core.duty = Duty(*state["duty"])
        self.serial = state["serial"]
        if state["ring"] is not None:
            core.barrier = Barrier(tuple(KeyringTerm(*row) for row in state["ring"]))

    def _start(self, plain: Context, arguments: dict[str, Any]) -> Response | Suspended:
        """Begin a handler that asks the outside: its warnings so far and its arguments go into what is suspended."""
        self.serial += 1
        ctx = TapedContext(self.core, plain.request, plain.now)
        for name in ("found", "operation", "path", "body", "request_id", "caller", "headers", "kept", "creating"):
            setattr(ctx, name, getattr(plain, name))
        ctx.warnings.extend(plain.warnings)
        ctx.begin(plain.now)
        ctx.writes.update(plain.writes)
        waiting = Suspended(
            self.serial,
            plain.request,
            NOTHING,
            arguments,
            request_id=plain.request_id,
            warnings=tuple(plain.warnings),
            caller=plain.caller.digest if plain.caller else "",
        )
        return self._advance(ctx, walk.call(ctx, arguments), waiting)

    def _advance(self, ctx: TapedContext, generator: Any, waiting: Suspended) -> Response | Suspended:
        """Run a handler to its next fetch or its end, and commit that step."""
        try:
            fetch = generator.send(waiting.answers[-1] if waiting.answers else None)
        except StopIteration as end:
            response = walk.respond_with(ctx, end.value)
            walk.audit_response(ctx, response)
            self.core.commit(ctx.writes)
            return response
        self.core.commit(ctx.writes)
        self.core.live[waiting.number] = (ctx, generator)
        return waiting._replace(fetch=fetch, tape=tuple(ctx.tape))

    def _replay(self, suspended: Suspended) -> tuple[TapedContext, Any]:
        """Bring a handler back to where it waits, from its tape and the answers it had."""
        ctx = TapedContext(self.core, suspended.request, 0, suspended.tape)
        generator = walk.replay(ctx, suspended)
        ctx.begin(0)
        generator.send(None)
        for answer in suspended.answers:
            ctx.begin(0)
            generator.send(answer)
        ctx.replaying = False
        return ctx, generator


NOTHING = Fetch("", Request("", ""))


def no_outside(fetch: Fetch) -> Response:
    """Answer a fetch of a vault that stands alone: nobody is there."""
    return silence(f"{fetch.address} is not reachable: this vault stands alone")


def _outside(clock: Callable[[], int] | None) -> Surroundings:
    from labkit import real

    return Surroundings(ShiftedClock(clock or real.now), real.entropy, _unwatched, no_outside)


def _unwatched(kind: str, **fields: Any) -> None:
    """Observe nothing: nobody watches a vault that stands alone."""


def set_up(core: Core, shares: int = 5, threshold: int = 3) -> tuple[str, tuple[str, ...]]:
    """Initialise and unseal a new vault with the mounts of development mode; return root token and key shares."""
    from labkit.vault.initialise import initialise
    from labkit.vault.seal import unseal

    made = initialise(core, shares, threshold, DEV_MOUNTS)
    for share in made.keys[:threshold]:
        unseal(core, share)
    return made.root_token, tuple(share.hex() for share in made.keys)
