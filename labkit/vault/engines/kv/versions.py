"""A secret's versions: their numbers, the state of each, what a write, a deletion or time changes, and pruning.

Pure functions over immutable records; nothing here reads a store or a clock.  Instants are nanoseconds since
the epoch.

1. Versions are numbered from 1 in the order of their writing; while the key's record lives no number comes twice.
2. A version's state follows from its facts and the time: destroyed once marked so, else deleted once its
   deletion time has come, else live.  Nothing has to run for a version to expire.
3. STATES names every move of a version.  Only pruning leads out of ``destroyed``, no event out of ``pruned``.
4. An event that leaves a version deleted or destroyed as it was leaves its deletion time as it was, too.
5. Versions are pruned only when one is added; all below the window are pruned then, in any state.
6. Check-and-set looks at the number of the current version, never at its state.
7. A key's limit on versions, where set, takes precedence over the engine's (spec, KV engine configuration); its time to
   deletion cannot exceed the engine's.
8. A key's record holds the facts of its newest versions, at most as many as are kept unless somebody says otherwise.
   Those of older ones leave it when a version is added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest
from labkit.service.fields import to_integer
from labkit.service.record import NamedTuple, new
from labkit.vault.storage.records import to_json

DEFAULT_LIMIT = MAX_RECENT = 10
NOTHING = range(0)

LIVE, DELETED, DESTROYED, PRUNED = "live", "deleted", "destroyed", "pruned"

STATES = {
    LIVE: {
        "delete": DELETED,
        "expire": DELETED,
        "undelete": LIVE,  # sets the time to deletion again
        "destroy": DESTROYED,
        "prune": PRUNED,
    },
    DELETED: {"delete": DELETED, "undelete": LIVE, "destroy": DESTROYED, "prune": PRUNED},
    DESTROYED: {"delete": DESTROYED, "undelete": DESTROYED, "destroy": DESTROYED, "prune": PRUNED},
    PRUNED: {},
}


class Config(NamedTuple):
    """One engine's settings; ``delete_after_s`` below zero switches deletion by time off for all of its keys."""

    max_versions: int = 0
    cas_required: bool = False
    delete_after_s: int = 0


class Version(NamedTuple):
    """The facts of one version, beside its data; ``deletion_ns`` is None where no deletion is due or done."""

    created_ns: int
    deletion_ns: int | None = None
    destroyed: bool = False


Facts = int | tuple[int, int | None, bool]
"""A version's facts in its key's record: where there is nothing but the instant of its writing, that instant.

It takes half the time of a record that is encoded as a whole, at each write of a key that has its ten versions.
"""


class Key(NamedTuple):
    """What is kept of a secret beside the data of its versions; ``recent``: facts of the newest ones, oldest first.

    ``recent_text`` is ``recent`` as it is stored, without its brackets, or empty where nobody wrote it yet: a write
    puts one instant behind the others, which takes a quarter of the time of writing ten again (5 % of a write).
    """

    created_ns: int
    updated_ns: int
    current: int = 0
    oldest: int = 0
    max_versions: int = 0
    cas_required: bool = False
    delete_after_s: int = 0
    custom_metadata: tuple[tuple[str, str], ...] = ()
    recent: tuple[Facts, ...] = ()
    recent_text: str = ""

    @property
    def numbers(self) -> range:
        """The numbers of the versions that are not pruned."""
        return range(max(self.oldest, 1), self.current + 1)

    @property
    def first_recent(self) -> int:
        """The number of the oldest version whose facts are in this record."""
        return self.current - len(self.recent) + 1

    def recent_version(self, number: int) -> Version | None:
        """Return the facts of a version that are in this record; None for another version."""
        behind = self.current - number
        if not 0 <= behind < len(self.recent):
            return None
        facts = self.recent[~behind]
        return Version(facts) if type(facts) is int else Version(*facts)  # type: ignore[misc]  # then it is a row

    def with_version(self, number: int, version: Version) -> Key:
        """Return the record with other facts of a version that it has."""
        place = number - self.first_recent
        recent = (*self.recent[:place], facts_of(version), *self.recent[place + 1 :])
        return self._replace(recent=recent, recent_text=text_of(recent))


def facts_of(version: Version) -> Facts:
    """Return a version's facts as its key's record has them."""
    created_ns, deletion_ns, destroyed = version
    return created_ns if deletion_ns is None and not destroyed else (created_ns, deletion_ns, destroyed)


def text_of(recent: tuple[Facts, ...]) -> str:
    """Return facts as the key's record has them, without brackets around them."""
    return to_json(recent)[1:-1]


def state_of(version: Version, now_ns: int) -> str:
    """Return the state that a version is in at an instant (rule 2)."""
    if version.destroyed:
        return DESTROYED
    if version.deletion_ns is not None and version.deletion_ns <= now_ns:
        return DELETED
    return LIVE


def is_live(version: Version, is_past: Callable[[int], bool]) -> bool:
    """Whether a version is neither deleted nor destroyed, by the function that says whether an instant is over."""
    return not version.destroyed and (version.deletion_ns is None or not is_past(version.deletion_ns))


def after(event: str, version: Version, now_ns: int, lifetime_s: int = 0) -> Version:
    """Return a version as ``delete``, ``undelete`` or ``destroy`` leaves it; the same object when nothing changes.

    A version brought back to life gets the lifetime that a new one would get now; 0 is without end.
    """
    state = state_of(version, now_ns)
    target = STATES[state][event]
    if target == LIVE:
        revived = version._replace(deletion_ns=deletion_time(now_ns, lifetime_s))
        return version if revived == version else revived
    if target == state:
        return version
    return version._replace(deletion_ns=now_ns) if target == DELETED else version._replace(destroyed=True)


def add_version(key: Key, config: Config, now_ns: int) -> tuple[Key, Version, range]:
    """Return the key with one version more, the facts of that version, and the numbers that are pruned for it."""
    created_ns, _, last, oldest, limit, cas_required, delete_after_s, custom_metadata, recent, text = key
    current, pruned = last + 1, NOTHING
    last_pruned = current - (limit or config.max_versions or DEFAULT_LIMIT)
    if last_pruned >= oldest:
        pruned = range(oldest or 1, last_pruned + 1)
        oldest = last_pruned + 1
    lives_s = lifetime_s(config, key) if delete_after_s or config.delete_after_s else 0
    version = new(Version, (now_ns, deletion_time(now_ns, lives_s) if lives_s else None, False))
    text = text or text_of(recent)
    leaving = len(recent) - (MAX_RECENT - 1 if current - oldest >= MAX_RECENT else current - oldest)
    if leaving > 0:
        is_instant, recent = leaving == 1 and type(recent[0]) is int, recent[leaving:]
        text = text[text.find(",") + 1 :] if is_instant and recent else text_of(recent)
    if lives_s:
        recent = (*recent, facts_of(version))
        text = text_of(recent)
    else:
        recent = (*recent, now_ns)
        text = f"{text},{now_ns}" if text else str(now_ns)
    settings = (limit, cas_required, delete_after_s, custom_metadata)
    return new(Key, (created_ns, now_ns, current, oldest, *settings, recent, text)), version, pruned


def lifetime_s(config: Config, key: Key) -> int:
    """Return how long a new version of a key lives; 0 is without end (spec, KV v2 engine, ``delete_version_after``)."""
    engines, keys = config.delete_after_s, key.delete_after_s
    if engines < 0:
        return 0
    return min(engines, keys) if engines and keys else engines or keys


def deletion_time(now_ns: int, lifetime_s: int) -> int | None:
    """Return the instant at which a lifetime that begins now is over; None for one without end."""
    return now_ns + lifetime_s * SECOND_NS if lifetime_s else None


def check_cas(options: Mapping[str, Any] | None, *, required: bool, current: int) -> None:
    """Raise BadRequest unless ``cas`` equals the current version's number, or is neither sent nor required."""
    if not options or "cas" not in options:
        if required:
            raise BadRequest("check-and-set parameter required for this call")
        return
    try:
        cas = to_integer(options["cas"])
    except ValueError:
        raise BadRequest("error parsing check-and-set parameter") from None
    if cas != current:
        raise BadRequest("check-and-set parameter did not match the current version")
