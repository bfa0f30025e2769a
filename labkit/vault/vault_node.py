"""Vault node: one node of the secrets service, and the steps of every request through it.

1. ``handle`` never waits: it returns a Response, or a Suspended that ``resume`` continues.
2. A refusal is raised where it is found and turned into a Response in one place; of the request's writes only those
   that R4 names are committed.
3. ``state`` returns what has to be saved beside storage and files.  Caches are lost; the sync is saved by the lab, as
   no vault outside a lab replicates.
4. A process that was forked from the node's own is refused (C18): what it would answer holds there no more.
5. One thread at a time: a lab has one, and whoever shares a node among threads lets them in by turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from labkit.service.errors import Forked, ServiceError, to_response
from labkit.service.message import Request, Response, Suspended, Unreadable, copied
from labkit.vault import scheduled_work
from labkit.vault.context import Context
from labkit.vault.core import Core, Environment, Leadership, Settings
from labkit.vault.due_times import DueTimes
from labkit.vault.files import Files
from labkit.vault.mounts import ResolvedRoute
from labkit.vault.seal_keys import SealKeys
from labkit.vault.sealing.seal import reload_keyring
from labkit.vault.storage import StaleTerm, Storage
from labkit.vault.storage.nonce_counts import NonceCounts
from labkit.vault.walk import clearances, request_answer, request_route, request_walk

if TYPE_CHECKING:
    from labkit.vault.mount_caches import CacheCounts


class VaultNode:
    """One node of the secrets service: a Request in, a Response out; it starts with all state that it is given."""

    def __init__(
        self,
        storage: Storage,
        environment: Environment,
        settings: Settings | None = None,
        state: Mapping[str, Any] | None = None,
        files: Files | None = None,
    ) -> None:
        self.environment = environment
        self._build(storage, settings or Settings(), state, files or Files())

    def _build(self, storage: Storage, settings: Settings, state: Mapping[str, Any] | None, files: Files) -> None:
        keys = SealKeys.from_state(state["keys"]) if state else None
        self.core = Core(storage, self.environment, settings, keys, state["journal"] if state else None)
        self.serial = 0
        self.files = files
        self.core.use_files(files)
        self.resolved: ResolvedRoute | None = None  # of the request that was answered last
        if state:
            self.core.leadership = Leadership(*state["leadership"])
            self.serial = state["serial"]
            self.core.waiting, self.core.damaged = dict(state["waiting"]), dict.fromkeys(state["damaged"])
            self.core.nonce_counts = NonceCounts(state["nonce_counts"])
            self.core.rate_counts = _copied_counts(state["rate_counts"])
            self.core.login_failures = dict(state["login_failures"])
            self.core.due_times = None if state["due_times"] is None else DueTimes(state["due_times"])
            # Found again it might be another: the node that leads by now may have deleted that record
            self.core.next_due_ns = known_ns = state.get("next_due_ns")  # not there in files of earlier versions
            if known_ns not in (None, 0, *(state["due_times"] or {}).values()):
                raise ValueError(f"expected a record that falls due at {known_ns!r:.40} ns")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.core.settings.node}, {'sealed' if self.sealed else 'unsealed'})"

    def now(self) -> int:
        """Return this node's wall clock in nanoseconds since the epoch."""
        return self.environment.now()

    @property
    def sealed(self) -> bool:
        """Whether the node holds no keys."""
        return self.core.keys.sealed

    def handle(self, request: Request, now_ns: int | None = None) -> Response | Suspended:
        """Answer a request, or return it suspended with the fetch that it waits for.

        ``now_ns``: the present instant, of whoever looked at it just now, and whether the process was forked.
        """
        core = self.core
        if now_ns is None and self.environment.is_forked():
            return to_response(self.forked())
        ctx = Context(core, request, core.now() if now_ns is None else now_ns)
        try:
            if core.storage.deciding_writes != core.caches.keyring_as_of:
                reload_keyring(core)
            preflight = request_walk.check_request(ctx)
            if preflight is not None:
                return preflight
            if clearances.take(ctx):
                self.resolved = ctx.resolved
            elif not self._is_judged(ctx):
                return self._start(ctx)
            arguments = request_walk.authorise(ctx)
            if not ctx.is_quiet:
                if request_walk.fetches_now(ctx, arguments):
                    return self._start(ctx)
                request_walk.audit_request(ctx)
            answer = request_walk.call(ctx, arguments)
            response = request_answer.respond_with(ctx, answer)
            if ctx.devices:
                request_walk.audit_response(ctx, response)
            if ctx.writes:
                entry_number = core.commit(ctx.writes)
                if entry_number:
                    request_walk.name_entry(ctx, response, entry_number)
            if ctx.after_commit is not None:
                ctx.after_commit()
        except ServiceError as error:
            return request_walk.refuse(ctx, error)
        except StaleTerm:
            return request_walk.step_down(ctx)
        ctx.mount_storage = None  # as ``end`` does
        return response

    def _is_judged(self, ctx: Context) -> bool:
        """Judge route, node and caller of a request that was not cleared; False: its handler fetches, and judges it."""
        request_route.find_route(ctx)
        self.resolved = ctx.resolved
        request_walk.check_node(ctx)
        fetches = request_walk.fetches(ctx)
        if not fetches:
            request_walk.authenticate(ctx)
        if ctx.new_route is not None:
            request_route.keep_route(ctx)
        if fetches:
            return False
        clearances.give(ctx)
        return True

    def is_for_active_node(self, request: Request) -> bool:
        """Whether this node is an unsealed standby that forwards such a request (decision C16)."""
        core = self.core
        if core.leadership.active:
            return False
        reload_keyring(core)
        return not self.sealed and request_route.is_for_active_node(core, request)

    def route_of(self, request: Request) -> ResolvedRoute | None:
        """Return where a request leads now; None for one whose headers or path cannot be read."""
        ctx = Context(self.core, request, self.core.now())
        try:
            request_walk.read_headers(ctx)
            request_route.find_route(ctx)
        except ServiceError:
            return None
        return ctx.resolved

    def judge_large(self, request: Request) -> Unreadable | None:
        """Return what stands for a large body whose sender may not send one; None for one that is to be read (C22)."""
        from labkit.vault.walk import large_bodies

        return large_bodies.judge(self.core, request)

    def status(self, request: Request) -> Response:
        """Answer health, seal-status or leader; it reads only, so another thread may be let in meanwhile."""
        ctx = Context(self.core, request, self.core.now())
        try:
            request_walk.read_headers(ctx)
            request_route.find_route(ctx)
            request_walk.check_node(ctx)
            return request_answer.respond_with(ctx, request_walk.call(ctx, request_walk.authorise(ctx)))
        except ServiceError as error:
            return to_response(error)

    def resume(self, suspended: Suspended, answer: Response) -> Response | Suspended:
        """Go on with a suspended request, now that its fetch was answered (status 0: silence)."""
        from labkit.vault.walk import suspension

        if self.environment.is_forked():
            return to_response(self.forked())
        reload_keyring(self.core)
        return suspension.resume(self.core, suspended, answer)

    def forked(self) -> ServiceError:
        """Return the refusal of a process that was forked from the node's own."""
        storage = self.core.storage
        return storage.forked() if hasattr(storage, "forked") else Forked("this vault was made")

    def use_files(self, files: Files) -> None:
        """Keep files there from now on."""
        self.files = files
        self.core.use_files(files)

    def unseal_with(self, shares: tuple[str, ...]) -> None:
        """Give key shares (hex) to this node."""
        from labkit.vault.sealing.seal import unseal

        unseal(self.core, *map(bytes.fromhex, shares))

    def next_due(self) -> int | None:
        """Return when something falls due, in nanoseconds since the epoch; None for never (R5)."""
        return scheduled_work.next_due(self.core)

    def tick(self) -> int:
        """Do what is due, each item a step of its own; return how many items that were."""
        return scheduled_work.tick(self.core)

    @property
    def cache_counts(self) -> tuple[CacheCounts, ...]:
        """What the caches of the mounts with a ``cache-config`` in force hold, and how often they served (T14)."""
        from labkit.vault.mount_caches import cache_counts  # few mounts have one

        return cache_counts(self.core)

    def set_leadership(self, leadership: Leadership) -> None:
        """Make the node the active one, or a standby, under a leadership term."""
        self.core.set_leadership(leadership)

    def reload_keyring(self) -> None:
        """Install a changed keyring; seal when this node's root key does not decrypt it."""
        reload_keyring(self.core)

    def state(self) -> dict[str, Any]:
        """Return what is not in storage as plain values (R3)."""
        core = self.core
        return {
            "keys": core.keys.state(),
            "leadership": tuple(core.leadership),
            "journal": core.replica.journal_state(),
            "serial": self.serial,
            "waiting": dict(core.waiting),
            "damaged": tuple(core.damaged),
            "nonce_counts": core.nonce_counts.state(),
            "rate_counts": _copied_counts(core.rate_counts),
            "login_failures": dict(core.login_failures),
            "due_times": None if core.due_times is None else core.due_times.state(),
            "next_due_ns": core.next_due_ns,
        }

    def _start(self, ctx: Context) -> Response | Suspended:
        """Begin a request whose handler fetches."""
        from labkit.vault.walk import suspension  # few requests do (R24)

        self.serial += 1
        request = ctx.request
        ctx.request = request._replace(headers=dict(request.headers), body=copied(request.body))  # nobody else's (R3)
        return suspension.start(self.core, ctx, self.serial)


def _copied_counts(counted: Mapping[str, Any]) -> dict[str, Any]:
    """Copy what rate limits counted: by a limit's name what it is, and what it counted by address."""
    return {name: (rule, dict(clients)) for name, (rule, clients) in counted.items()}
