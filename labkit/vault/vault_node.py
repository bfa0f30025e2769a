"""Vault: one node of the secrets service, and the steps of every request through it.

1. ``handle`` never waits: it returns a Response, or a Suspended that ``resume`` continues.
2. A refusal is raised where it is found and turned into a Response in one place; of the request's writes only those
   that R4 names are committed.
3. ``state`` returns what has to be saved beside storage and files.  Caches, ``calls`` and requested failures are lost;
   the sync is saved by the lab, as no vault outside a lab replicates.
4. Threads may share a vault: one is let in at a time.  ``handle`` and ``resume`` are for a lab, which has one thread.
"""

from __future__ import annotations

from _thread import RLock  # threading itself is not loaded (R24)
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from labkit.service.errors import ServiceError
from labkit.service.key_store_address import KEY_STORE_ADDRESS
from labkit.service.message import Body, Fetch, Request, Response, Suspended, copied, respond
from labkit.service.record import new
from labkit.service.short_forms import ShortForms
from labkit.vault import scheduled_work
from labkit.vault.calls import Calls
from labkit.vault.context import Context
from labkit.vault.core import Core, Environment, Leadership, SealKeys, Settings
from labkit.vault.due_times import DueTimes
from labkit.vault.files import Files
from labkit.vault.mounts import ResolvedRoute
from labkit.vault.outside_lab import ResetPoint, ShiftedClock, cloud_link, key_store, outside_lab, settings_of
from labkit.vault.quotas import copied_counts
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.sealing.seal import reload_keyring
from labkit.vault.storage import Storage
from labkit.vault.storage.fencing import StaleTerm
from labkit.vault.storage.nonce_counts import NonceCounts
from labkit.vault.walk import clearances, request_answer, request_route, request_walk

if TYPE_CHECKING:
    from labkit.cloud.cloud import Cloud
    from labkit.cloud.key_store import KeyStore
    from labkit.doors.server import ServedDoor
    from labkit.vault.cloud_link import CloudLink
    from labkit.vault.mount_caches import CacheCounts


class Vault(ShortForms):
    """One node of the secrets service: a Request in, a Response out."""

    def __init__(
        self,
        storage: Storage,
        environment: Environment,
        settings: Settings | None = None,
        state: Mapping[str, Any] | None = None,
        files: Files | None = None,
    ) -> None:
        self.environment = environment
        self._born: ResetPoint | None = None  # as ``dev`` made it
        self._link: CloudLink | None = None
        self._make_link: Callable[[], CloudLink] | None = None  # to a cloud, where one is beside it
        self._keystore: Callable[[], KeyStore] | None = None  # makes the one beside it at the first call
        self._lock = RLock()
        self._files_given = files
        self._build(storage, settings or Settings(), state, files or Files())

    def _build(self, storage: Storage, settings: Settings, state: Mapping[str, Any] | None, files: Files) -> None:
        environment = self.environment
        keys = SealKeys.from_state(state["keys"]) if state else None
        journal = Journal.from_state(storage, state["journal"]) if state else Journal(storage, settings.backlog_entries)
        self.core = Core(storage, journal, environment, settings, keys)
        self.serial, self.root_token = 0, ""
        self.files = files
        self.core.use_files(self.files)
        self.unseal_keys: tuple[str, ...] = ()
        self.calls = Calls()
        self._resolved: ResolvedRoute | None = None  # of the request that is answered, for its call
        self._failures: list[int] = []
        if state:
            self.core.leadership = Leadership(*state["leadership"])
            self.serial = state["serial"]
            self.core.waiting, self.core.damaged = dict(state["waiting"]), dict.fromkeys(state["damaged"])
            self.core.nonce_counts = NonceCounts(state["nonce_counts"])
            self.core.rate_counts = copied_counts(state["rate_counts"])
            self.core.due_times = None if state["due_times"] is None else DueTimes(state["due_times"])

    def __repr__(self) -> str:
        return f"Vault({self.core.settings.node}, {'sealed' if self.sealed else 'unsealed'})"

    def now(self) -> int:
        """Return this node's wall clock in nanoseconds since the epoch."""
        return self.environment.now()

    @property
    def sealed(self) -> bool:
        """Whether the node holds no keys."""
        return self.core.keys.sealed

    def handle(self, request: Request) -> Response | Suspended:
        """Answer a request, or return it suspended with the fetch that it waits for."""
        core = self.core
        ctx = Context(core, request, core.now())
        try:
            if core.storage.deciding_writes != core.caches.keyring_as_of:
                reload_keyring(core)
            preflight = request_walk.check_request(ctx)
            if preflight is not None:
                return preflight
            if clearances.take(ctx):
                self._resolved = ctx.resolved
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
        ctx.end()
        return response

    def _is_judged(self, ctx: Context) -> bool:
        """Judge route, node and caller of a request that was not cleared; False: its handler fetches, and judges it."""
        request_route.find_route(ctx)
        self._resolved = ctx.resolved
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

    def resume(self, suspended: Suspended, answer: Response) -> Response | Suspended:
        """Go on with a suspended request, now that its fetch was answered (status 0: silence)."""
        from labkit.vault.walk import suspension

        reload_keyring(self.core)
        return suspension.resume(self.core, suspended, answer)

    @classmethod
    def dev(
        cls,
        *,
        clock: Callable[[], int] | None = None,
        seed: int | None = None,
        cloud: Cloud | None = None,
        keystore: KeyStore | None = None,
        **settings: Any,
    ) -> Vault:
        """Make a vault of one node in memory, initialised and unsealed: secret/ (KV v2), transit/, auth/cloud/.

        ``clock`` gives nanoseconds since the epoch (by default the wall clock); ``settings`` are, among others,
        ``edition``, ``version``, ``fips`` and ``environ`` (all in ``Settings``).  ``root_token`` and ``unseal_keys``
        (five shares, three open it) are attributes of the result.
        With a ``seed`` the same requests get the same answers every time, for lessons and tests, never for secrets:
        entropy comes from the seed, and the clock begins in 2030 and moves by ``advance`` only.  ``cloud`` is that in
        which machines log in, ``keystore`` that of managed keys, each one of its own unless given.
        """
        from labkit.vault.sealing.initialise import DEV_MOUNTS, set_up
        from labkit.vault.storage.memory import MemoryStorage

        if settings or any(given is not None for given in (clock, seed, cloud, keystore)):
            from labkit.vault.vault_arguments import judge_settings  # a start without settings is light (R24)

            judge_settings(clock, settings, seed, cloud, keystore)
        vault = cls(MemoryStorage(), outside_lab(clock, seed), settings_of(settings))
        vault.root_token, vault.unseal_keys = set_up(vault.core, mounts=DEV_MOUNTS)
        vault._make_link = lambda: cloud_link(vault.core, seed=seed, given=cloud)
        vault._keystore = key_store(seed, keystore)
        if cloud is not None:
            assert vault.cloud
        vault._born = ResetPoint(vault.core.storage, vault.environment, vault.state())
        return vault

    @classmethod
    def open(cls, path: str, *, clock: Callable[[], int] | None = None, **settings: Any) -> Vault:
        """Open a vault stored in an SQLite file, set up as ``dev`` does when the file is new.

        The file holds the key shares and the root token beside the data, so that the vault unseals itself: it is for
        practice only.  It is this vault's until ``close`` or the end of the process.  StoreError, which names the
        file, says why one cannot be opened: in use, damaged, not to be written, no space left, another program's.
        """
        from labkit.vault.credentials import unseal_stored
        from labkit.vault.sealing.initialise import DEV_MOUNTS
        from labkit.vault.storage.sqlite import SqliteStorage
        from labkit.vault.vault_arguments import judge_path, judge_settings

        judge_path(path)
        judge_settings(clock, settings)
        storage = SqliteStorage(path)
        try:
            vault = cls(storage, outside_lab(clock), settings_of({"storage_type": "sqlite", **settings}))
            vault.root_token, vault.unseal_keys = unseal_stored(vault.core, storage, DEV_MOUNTS)
            vault._make_link = lambda: cloud_link(vault.core, replaces=True)
            vault._keystore = key_store()
        except BaseException:
            storage.close()
            raise
        return vault

    def request(
        self,
        method: str,
        path: str,
        json: Body | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        remote_address: str = "127.0.0.1",
    ) -> Response:
        """Send one request in process; sends the given headers only."""
        with self._lock:
            if self.core.next_due_ns != 0:  # 0: nothing ever falls due
                self.tick()
            self._resolved = None
            if self._failures:
                response = respond(self._failures.pop(0), {"errors": ["failure asked for with fail_next"]})
            else:
                outcome = self.handle(new(Request, (method, path, headers or {}, json, remote_address)))
                while isinstance(outcome, Suspended):
                    outcome = self.resume(outcome, self._fetch(outcome.fetch))
                response = outcome
            self.calls.add(method, path, json, self._resolved, response)
        return response

    @property
    def cloud(self) -> Cloud:
        """The simulated cloud whose machines log in here; asking for it configures ``auth/cloud/`` for it."""
        with self._lock:
            link = self._cloud_link
            if link is None:
                raise ValueError("this vault has no cloud beside it: Vault.dev() and Vault.open() have, and a lab has")
            cloud: Cloud = link.connect(self.handle, self.root_token)
            return cloud

    @property
    def keystore(self) -> KeyStore:
        """The simulated store of the external keys that managed keys name."""
        if self._keystore is None:
            raise ValueError("this vault has no key store beside it: Vault.dev() and Vault.open() have")
        return self._keystore()

    def serve(self, port: int = 0, *, control: bool = False) -> ServedDoor:
        """Return a door on a loopback port, for a ``with`` that gives its URL: a real server, on a thread.

        With ``control`` it has the control interface too, for whoever has its key.
        """
        from labkit.doors.server import ServedDoor
        from labkit.doors.server_thread import DoorSettings

        settings = DoorSettings(max_request_bytes=self.core.settings.max_request_bytes, control=control)
        return ServedDoor(self, port, settings)

    def close(self) -> None:
        """Close the file of a vault that was opened from one; a vault in memory needs no closing."""
        close = getattr(self.core.storage, "close", None)
        if close is not None:
            with self._lock:
                if not self.sealed:
                    with suppress(ServiceError):  # the counts are a little too low then, as after a crash
                        scheduled_work.store_nonce_counts(self.core)
                close()

    def use_files(self, files: Files) -> None:
        """Keep files there from now on, also after ``reset``."""
        with self._lock:
            self._files_given = self.files = files
            self.core.use_files(files)

    def unseal_with(self, shares: tuple[str, ...]) -> None:
        """Give key shares (hex) to this node."""
        from labkit.vault.sealing.seal import unseal

        with self._lock:
            unseal(self.core, *map(bytes.fromhex, shares))

    def reset(self) -> None:
        """Go back to how ``dev`` made it: contents, keys, files, clock and calls; a seed begins again.

        Its own cloud is made again too: ask ``cloud`` for its machines again.  One that it was given stays as it is.
        """
        born = self._born
        if born is None:
            raise ValueError("only what Vault.dev() made can be reset; this vault's contents are a file's or a lab's")
        with self._lock:
            root_token, unseal_keys = self.root_token, self.unseal_keys
            self._build(born.storage(), self.core.settings, born.state, self._files_given or Files())
            self.root_token, self.unseal_keys = root_token, unseal_keys
            born.rewind(self.environment)
            self._link = None

    def fail_next(self, status: int, times: int = 1) -> None:
        """Let the next ``request`` calls fail with a status before they reach a handler."""
        from labkit.vault.vault_arguments import judge_failures

        judge_failures(status, times)
        self._failures.extend([status] * times)

    def advance(self, duration: str | int) -> None:
        """Move this vault's clock forward by a duration such as ``2h``, and do what is due by then."""
        from labkit.vault.vault_arguments import advance_ns

        clock = self.environment.now
        if not isinstance(clock, ShiftedClock):
            raise ValueError("this vault's clock is its lab's: let time pass with lab.run(duration)")
        with self._lock:
            clock.shift_ns += advance_ns(duration)
            self.tick()

    def next_due(self) -> int | None:
        """Return when something falls due, in nanoseconds since the epoch; None for never (R5)."""
        with self._lock:
            return scheduled_work.next_due(self.core)

    def tick(self) -> int:
        """Do what is due, each item a step of its own; return how many items that were."""
        with self._lock:
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
        with self._lock:
            reload_keyring(self.core)

    def state(self) -> dict[str, Any]:
        """Return what is not in storage as plain values (R3)."""
        core = self.core
        return {
            "keys": core.keys.state(),
            "leadership": tuple(core.leadership),
            "journal": core.replica.journal.state(),
            "serial": self.serial,
            "waiting": dict(core.waiting),
            "damaged": tuple(core.damaged),
            "nonce_counts": core.nonce_counts.state(),
            "rate_counts": copied_counts(core.rate_counts),
            "due_times": None if core.due_times is None else core.due_times.state(),
        }

    def _fetch(self, fetch: Fetch) -> Response:
        """Answer what a request fetches: from the cloud beside this vault, or from wherever its environment leads.

        Nothing sleeps until a fetch is due: the clock of a vault outside a lab is moved on.
        """
        clock, outside, link = self.environment.now, self.environment.fetch, self._cloud_link
        if isinstance(clock, ShiftedClock):
            clock.shift_ns += max(fetch.not_before_ns - clock(), 0)
        if self._keystore is not None and fetch.address == KEY_STORE_ADDRESS:
            return self.keystore.answer(fetch)
        return outside(fetch) if link is None else link.fetch(fetch, outside)

    @property
    def _cloud_link(self) -> CloudLink | None:
        if self._link is None and self._make_link is not None:
            self._link = self._make_link()
        return self._link

    def _start(self, ctx: Context) -> Response | Suspended:
        """Begin a request whose handler fetches."""
        from labkit.vault.walk import suspension  # few requests do (R24)

        self.serial += 1
        request = ctx.request
        ctx.request = request._replace(headers=dict(request.headers), body=copied(request.body))  # nobody else's (R3)
        return suspension.start(self.core, ctx, self.serial)
