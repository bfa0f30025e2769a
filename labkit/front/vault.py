"""Vault: a secrets service to hold in the hand: one node, ready to use, with a cloud and a key store beside it.

1. Threads may share a vault: one is let in at a time.  A process that was forked from the vault's own is not let in,
   and waits for no thread that has the vault (C18).
2. ``calls`` and requested failures are no state: they are lost when a vault is saved.
3. What a request fetches is answered at once: by the cloud or the key store beside it.
"""

from __future__ import annotations

from _thread import RLock  # threading itself is not loaded (R24)
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from labkit.front.aiming import Aiming, Aims
from labkit.front.outside_lab import ResetPoint, ShiftedClock, cloud_link, key_store, outside_lab, settings_of
from labkit.service.errors import ServiceError, to_response
from labkit.service.message import Body, Fetch, Request, Response, Suspended, Unreadable
from labkit.service.record import new
from labkit.service.short_forms import ShortForms
from labkit.vault import scheduled_work
from labkit.vault.calls import Calls
from labkit.vault.core import Core, Environment, Settings
from labkit.vault.files import Files
from labkit.vault.storage import Storage
from labkit.vault.vault_node import VaultNode

if TYPE_CHECKING:
    from labkit.cloud.cloud_service import CloudService
    from labkit.cloud.key_store_service import KeyStoreService
    from labkit.doors.served_door import ServedDoor
    from labkit.doors.tls_files import TlsFiles
    from labkit.front.cloud import Cloud
    from labkit.front.cloud_link import CloudLink
    from labkit.front.kept_beside import KeptBeside
    from labkit.front.outside_lab import KeyStoreLink
    from labkit.vault.storage.large_values import LargeValues

NO_RESET = "only what Vault.dev() made can be reset; this vault's contents are a file's or a lab's"


class Vault(VaultNode, Aiming, ShortForms):
    """A secrets service of one node, which answers in process; ``serve`` opens a port for other programs."""

    def __init__(
        self,
        storage: Storage,
        environment: Environment,
        settings: Settings | None = None,
        state: Mapping[str, Any] | None = None,
        files: Files | None = None,
    ) -> None:
        super().__init__(storage, environment, settings, state, files)
        self._born: ResetPoint | None = None  # as ``dev`` made it
        self._beside: KeptBeside | None = None  # what stood beside it then, if anything did
        self._link: CloudLink | None = None
        self._make_link: Callable[[Core], CloudLink] | None = None  # to a cloud, where one is beside it
        self._branches = 0  # so that each draws under a label of its own (R7)
        self._keystore: KeyStoreLink | None = None  # to the one beside it
        self._lock = RLock()
        self._files_given = files
        self.root_token = ""
        self.unseal_keys: tuple[str, ...] = ()
        self.calls = Calls()
        self._aims, self._past_aims = Aims(), set()
        self._large: LargeValues | None = None  # of one that is served

    def __dir__(self) -> list[str]:
        from labkit.front.shown_names import shown

        return shown("Vault", super().__dir__())

    @classmethod
    def dev(
        cls,
        *,
        clock: Callable[[], int] | None = None,
        seed: int | None = None,
        cloud: CloudService | None = None,
        keystore: KeyStoreService | None = None,
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
            from labkit.front.vault_arguments import judge_settings  # a start without settings is light (R24)

            judge_settings(clock, settings, seed, cloud, keystore)
        vault = cls(MemoryStorage(), outside_lab(clock, seed), settings_of(settings))
        vault.root_token, vault.unseal_keys = set_up(vault.core, mounts=DEV_MOUNTS)
        vault._make_link = lambda core: cloud_link(core, seed=seed, given=cloud)
        vault._keystore = key_store(vault.core, seed, keystore)
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
        from labkit.front.file_credentials import unseal_stored
        from labkit.front.vault_arguments import judge_path, judge_settings
        from labkit.vault.sealing.initialise import DEV_MOUNTS
        from labkit.vault.storage.sqlite import SqliteStorage

        judge_path(path)
        judge_settings(clock, settings)
        storage = SqliteStorage(path)
        try:
            vault = cls(storage, outside_lab(clock), settings_of({"storage_type": "sqlite", **settings}))
            vault.root_token, vault.unseal_keys = unseal_stored(vault.core, storage, DEV_MOUNTS)
            vault._make_link = lambda core: cloud_link(core, replaces=True)
            vault._keystore = key_store(vault.core)
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
        timeout: str | float | None = None,
    ) -> Response:
        """Send one request in process; sends the given headers only.

        The answer comes at once, unless ``delay_next`` or the cloud has it wait: Silence is raised where that is longer
        than ``timeout``, and the clock stands there.
        """
        if self.environment.is_forked():
            return to_response(self.forked())
        if self._aims.left or timeout is not None:
            met = self._met(Request(method, path, headers or {}, json, remote_address), timeout)
            if met is not None:
                return met
        with self._lock:
            core = self.core
            now_ns = core.now()
            if core.next_due_ns != 0 and scheduled_work.may_be_due(core, now_ns):
                self.tick()
                now_ns = core.now()
            self.resolved = client_timeout = None
            outcome = self.handle(new(Request, (method, path, headers or {}, json, remote_address)), now_ns)
            if isinstance(outcome, Suspended):
                from labkit.front import waiting_requests  # few requests wait (R24)

                client_timeout = waiting_requests.ClientTimeout(self.environment.now, timeout)
                outcome = waiting_requests.finish(self, self._lock, self._fetch, outcome, client_timeout)
            self.calls.add(method, path, json, self.resolved, outcome)
        if client_timeout is not None:
            client_timeout.check(f"{method} {path.partition('?')[0]}")
        return outcome

    def try_request(
        self, method: str, path: str, json: Body | None, headers: Mapping[str, str], *, remote_address: str
    ) -> Response | None:
        """Send one request as ``request`` does, or None: one is let in, work is due, or what is read is large."""
        if self.environment.is_forked():
            return to_response(self.forked())
        if not self._lock.acquire(blocking=False):
            return None
        try:
            if self.core.next_due_ns != 0 and scheduled_work.is_due(self.core):
                return None
            if self._large is not None and self._large.may_be_led_to(path):
                return None
            return self.request(method, path, json, headers, remote_address=remote_address)
        finally:
            self._lock.release()

    def look_ahead(self) -> None:
        """Find out what takes long to find out, so that no request waits for it: what falls due, what is large."""
        from labkit.vault.storage.large_values import LargeValues

        with self._alone():
            super().next_due()
            self._large = LargeValues(self.core.storage)
            self.core.on_commit = self._large.note

    def judge_large(self, request: Request) -> Unreadable | None:
        """Return what stands for a large body whose sender may not send one; None for one that is to be read."""
        with self._alone():
            return super().judge_large(request)

    def status(self, request: Request) -> Response:
        """Answer a look at the node's state, whoever is let in."""
        return to_response(self.forked()) if self.environment.is_forked() else super().status(request)

    @property
    def cloud(self) -> Cloud:
        """The simulated cloud whose machines log in here; asking for it configures ``auth/cloud/`` for it."""
        with self._alone():
            link = self._cloud_link
            if link is None:
                raise ValueError("this vault has no cloud beside it: Vault.dev() and Vault.open() have, and a lab has")
            cloud: Cloud = link.connect(self.handle, self.root_token)
            return cloud

    @property
    def keystore(self) -> KeyStoreService:
        """The simulated store of the external keys that managed keys name."""
        self._refuse_forked()
        if self._keystore is None:
            raise ValueError("this vault has no key store beside it: Vault.dev() and Vault.open() have")
        return self._keystore()

    def serve(self, port: int = 0, *, control: bool = False, tls: TlsFiles | None = None) -> ServedDoor:
        """Return a door on a loopback port, for a ``with`` that gives its URL: a real server, on a thread.

        With ``control`` it has the control interface too, for whoever has its key; with ``tls`` it speaks TLS.
        """
        from labkit.doors.served_door import ServedDoor
        from labkit.doors.server_thread import DoorSettings

        self._refuse_forked()
        settings = DoorSettings(tls=tls, max_request_bytes=self.core.settings.max_request_bytes, control=control)
        return ServedDoor(self, port, settings)

    def close(self) -> None:
        """Close the file of a vault that was opened from one; a vault in memory, or of a child, needs no closing."""
        close = getattr(self.core.storage, "close", None)
        if close is not None and not self.environment.is_forked():
            with self._alone():
                if not self.sealed:
                    with suppress(ServiceError):  # the counts are a little too low then, as after a crash
                        scheduled_work.store_nonce_counts(self.core)
                close()

    def use_files(self, files: Files) -> None:
        """Keep files there from now on, also after ``reset``."""
        with self._alone():
            self._files_given = files
            super().use_files(files)

    def _use_own_files(self, files: Files) -> None:
        """Keep files there until ``reset``."""
        super().use_files(files)

    def unseal_with(self, shares: tuple[str, ...]) -> None:
        """Give key shares (hex) to this node."""
        with self._alone():
            super().unseal_with(shares)

    def reset(self) -> None:
        """Go back to how ``dev`` made it: contents, keys, files, clock and calls; a seed begins again.

        Its own cloud and key store are made again too: ask ``cloud`` for its machines again.  What it was given stays
        as it is.
        """
        born = self._born
        if born is None:
            raise ValueError(NO_RESET)
        with self._alone():
            born.rewind(self.environment)  # before it is built, which goes by the clock, and after it, which draws
            self._build(born.storage(), self.core.settings, born.state, self._files_given or Files())
            self.calls, self._link, self._branches = Calls(), None, 0
            if self._keystore is not None:
                self._keystore.begin_again()
            if self._beside is not None:
                self._beside.restore(self)
            aims, self._aims = self._aims, Aims()
            aims.end()
            born.rewind(self.environment)
            super().next_due()  # as whoever serves it does
            if self._large is not None:
                self.look_ahead()

    def branch(self, name: str) -> Vault:
        """Make a vault that goes on from here with other keys and nonces; branches share none, whatever their names.

        It is in memory, with its own contents, clock, files, cloud and key store, and holds what this one's hold now.
        It has no calls and no failures asked for, and ``reset`` brings it back to its beginning.
        """
        from labkit.front.vault_branch import branch_of
        from labkit.service.arguments import text

        text("name", "a name for the branch", name)
        with self._alone():
            self._branches += 1
            branch: Vault = branch_of(self, self._branches, name)
            return branch

    def keep_for_reset(self) -> None:
        """Let ``reset`` come back to what is there now: contents, keys, clock, files, its own cloud and key store.

        From there it begins at once: ask ``cloud`` for its machines again.
        """
        from labkit.front.kept_beside import KeptBeside

        with self._alone():
            if self._born is None:
                raise ValueError(NO_RESET)
            self._born = ResetPoint(self.core.storage, self.environment, self.state())
            self._beside = KeptBeside(self)
            self.reset()

    def advance(self, duration: str | float) -> None:
        """Move this vault's clock forward by a duration such as ``2h``, or seconds, and do once what is due by then."""
        from labkit.front.vault_arguments import advance_ns

        clock = self.environment.now
        if not isinstance(clock, ShiftedClock):
            raise ValueError("this vault's clock is its lab's: let time pass with lab.run(duration)")
        with self._alone():
            clock.shift_ns += advance_ns(duration)
            self.tick()

    def next_due(self) -> int | None:
        """Return when something falls due, in nanoseconds since the epoch; None for never (R5)."""
        with self._alone():
            return super().next_due()

    def tick(self) -> int:
        """Do what is due, each item a step of its own; return how many items that were."""
        with self._alone():
            return super().tick()

    def reload_keyring(self) -> None:
        """Install a changed keyring; seal when this node's root key does not decrypt it."""
        with self._alone():
            super().reload_keyring()

    def _alone(self) -> RLock:
        """Return what lets one thread in, where it may be waited for."""
        self._refuse_forked()
        return self._lock

    def _refuse_forked(self) -> None:
        """Raise the refusal of a process that was forked from the vault's own."""
        if self.environment.is_forked():
            raise self.forked()

    def _fetch(self, fetch: Fetch) -> Response:
        """Answer what a request fetches: from the cloud beside this vault, or from wherever its environment leads.

        Nothing sleeps until a fetch is due, or while it takes: the clock of a vault outside a lab is moved on.
        """
        clock, outside, link = self.environment.now, self.environment.fetch, self._cloud_link
        if isinstance(clock, ShiftedClock):
            clock.shift_ns += max(fetch.not_before_ns - clock(), 0)
        if self._keystore is not None:
            from labkit.service.key_store_address import KEY_STORE_ADDRESS

            if fetch.address == KEY_STORE_ADDRESS:
                return self.keystore.answer(fetch)
        if link is None:
            return outside(fetch)
        answer = link.fetch(fetch, outside)
        if isinstance(clock, ShiftedClock):
            clock.shift_ns += link.takes_ns(fetch)
        return answer

    @property
    def _cloud_link(self) -> CloudLink | None:
        if self._link is None and self._make_link is not None:
            self._link = self._make_link(self.core)
        return self._link
