"""Outside a lab: what a vault that stands alone has for clock, entropy and network, and the point it can go back to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from labkit.service.message import Fetch, Response, silence
from labkit.vault.core import Core, Environment, NamesOnly, Settings
from labkit.vault.identifiers import UUID_BYTES, uuid_texts
from labkit.vault.storage import Storage

if TYPE_CHECKING:
    from labkit.cloud.cloud_service import CloudService
    from labkit.cloud.key_store_service import KeyStoreService
    from labkit.front.cloud_link import CloudLink
    from labkit.seeded import DrawnOnce


class ShiftedClock:
    """A clock that can be moved forward, for a vault outside a lab."""

    __slots__ = ("base", "shift_ns")

    def __init__(self, base: Callable[[], int]) -> None:
        self.base, self.shift_ns = base, 0

    def __call__(self) -> int:
        """Return nanoseconds since the epoch."""
        return self.base() + self.shift_ns


class ResetPoint:
    """What a vault was when ``dev`` had made it, or at ``keep_for_reset``."""

    __slots__ = ("_drawn", "_shift_ns", "_stored", "state")

    def __init__(self, storage: Any, environment: Environment, state: dict[str, Any]) -> None:
        self._stored, self.state = storage.state(), state
        clock: Any = environment.now
        entropy: Any = environment.entropy
        self._shift_ns: int = clock.shift_ns
        self._drawn = entropy.drawn() if getattr(entropy, "is_seeded", False) else None

    def storage(self) -> Storage:
        """Return a store with what it held."""
        from labkit.vault.storage.memory import MemoryStorage

        return MemoryStorage.from_state(self._stored)

    def rewind(self, environment: Environment) -> None:
        """Set clock and seeded entropy back."""
        clock, entropy = environment.now, environment.entropy
        assert isinstance(clock, ShiftedClock)
        clock.shift_ns = self._shift_ns
        if self._drawn is not None:
            entropy.rewind(*self._drawn)  # type: ignore[attr-defined]  # that of a seed has it


def outside_lab(clock: Callable[[], int] | None, seed: int | None = None) -> Environment:
    """Return where time and entropy come from: the system, or a seed."""
    from labkit import real

    is_forked = real.fork_watch()
    if seed is not None:
        from labkit import seeded

        entropy = seeded.SeededEntropy(seed, "vault")
        return Environment(ShiftedClock(clock or seeded.start), entropy, _unwatched, no_outside, is_forked=is_forked)
    ids = _request_ids()
    return Environment(ShiftedClock(clock or real.now), real.entropy, _unwatched, no_outside, ids, is_forked=is_forked)


@cache
def _request_ids() -> Callable[[], str]:
    """Return what draws the ids of requests of all vaults in real time: many at once."""
    from labkit import real

    return real.many_at_once(uuid_texts, real.DRAWS * UUID_BYTES)


def cloud_link(
    core: Core, *, seed: int | None = None, given: CloudService | None = None, replaces: bool = False
) -> CloudLink:
    """Return the link to a cloud: the given one, or one that has a vault's clock, and its seed if it has one.

    A vault that variables of its environment configure is left to them.
    """
    from labkit.front.cloud_link import CloudLink

    now = core.now

    def make() -> CloudService:
        from labkit.front.cloud import Cloud

        return Cloud.beside(now, seed, drawn_once(core))

    if given is not None:
        from labkit.front.cloud import Cloud

        if isinstance(given, Cloud):  # that of a lab goes by the lab's clock
            given.follow(now)
    configures = not any(name.startswith("CLOUD_") for name in core.settings.environ)
    return CloudLink(make, given, replaces, configures)


def drawn_once(core: Core) -> DrawnOnce | None:
    """Return what a seeded vault has drawn once for all, which cloud and key store beside it share; else None."""
    found: DrawnOnce | None = getattr(core.entropy, "drawn_once", None)
    return found


class KeyStoreLink:
    """What gives a vault's store of external keys: the given one, or one that is made at the first call (R24)."""

    __slots__ = ("_given", "_made", "_make", "_make_kept")

    def __init__(self, make: Callable[[], KeyStoreService], given: KeyStoreService | None = None) -> None:
        self._make, self._given, self._made = make, given, given
        self._make_kept: Callable[[], KeyStoreService] | None = None

    def __call__(self) -> KeyStoreService:
        """Return the store."""
        if self._made is None:
            self._made = self._make() if self._make_kept is None else self._make_kept()
        return self._made

    @property
    def own(self) -> KeyStoreService | None:
        """The store, if there is one already, or one is kept, and it was not given; else None."""
        if self._made is None and self._make_kept is not None:
            self._made = self._make_kept()
        return None if self._made is self._given else self._made

    def begin_again(self, make_kept: Callable[[], KeyStoreService] | None = None) -> None:
        """Lead to a store that was kept, or to none that was made yet; one that was given stays."""
        self._made, self._make_kept = self._given, make_kept


def key_store(core: Core, seed: int | None = None, given: KeyStoreService | None = None) -> KeyStoreLink:
    """Return what gives the store of external keys."""

    def make() -> KeyStoreService:
        from labkit.front.keystore import KeyStore

        return KeyStore.beside(seed, drawn_once(core))

    return KeyStoreLink(make, given)


def settings_of(chosen: dict[str, Any]) -> Settings:
    """Return settings as chosen; the community edition's version has no ``+ent`` (decision C5)."""
    if "environ" in chosen:
        chosen = {**chosen, "environ": NamesOnly(chosen["environ"])}
    settings = Settings(**chosen)
    if settings.edition == "enterprise" or "version" in chosen:
        return settings
    return settings._replace(version=settings.version.removesuffix("+ent"))


def _unwatched(kind: str, **fields: Any) -> None:
    """Drop an observation: a vault outside a lab has no observer."""


def no_outside(fetch: Fetch) -> Response:
    """Answer a fetch of a vault outside a lab: no address is reachable."""
    return silence(f"{fetch.address} is not reachable: this vault has no network")
