"""Counter: a function that adds one while others add one too, judged in new vaults."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.attempts import is_blank
from labkit.lessons.overlooked import FIRST_REFUSAL, ignored_names
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.lessons.said import raised
from labkit.lessons.worlds import is_changing
from labkit.service.message import Response
from labkit.service.short_forms import ShortForms
from labkit.vault.calls import Call

COUNT = "secret/data/count"
BEGINS, INTERFERING, CROWD = 40, (0, 1, 2), 9
MAX_REQUESTS = 100


class TooManyRequests(Exception):
    """A function went on and on."""


class BusyVault(ShortForms):
    """A vault as a function sees it: after each of the first reads another writer adds one.

    Where it writes without a read, all others were there before.  ``came`` is how many there were, ``without_reading``
    how many writes were sent after another one with no read between.
    """

    def __init__(self, vault: Vault, others: int) -> None:
        self._vault, self._others = vault, others
        self.root_token = vault.root_token
        self.came, self.writes, self.without_reading = 0, list[Call](), 0
        self._left, self._wrote = MAX_REQUESTS, False

    def request(self, method: str, path: str, *given: Any, **how: Any) -> Response:
        """Pass a request on; another writer comes in after a read, as often as wanted."""
        self._left -= 1
        if self._left < 0:
            raise TooManyRequests(f"{MAX_REQUESTS} requests were not enough{self._in_vain()}")
        if is_changing(method) and not self.came:
            self._let_in(self._others)
        answer = self._vault.request(method, path, *given, **how)
        if is_changing(method):
            self.writes.append(self._vault.calls[-1])
            self.without_reading += self._wrote
        else:
            self._let_in(min(1, self._others - self.came))
        self._wrote = is_changing(method)
        return answer

    def _in_vain(self) -> str:
        """Say what so many writes were answered, where all of them were refused."""
        refused = sorted({call.status for call in self.writes})
        if not refused or refused[0] < FIRST_REFUSAL:
            return ""
        said = f": {len(self.writes)} writes were refused with {refused[-1]}"
        return f"{said}, {self.without_reading} of them sent without a new read" if self.without_reading else said

    def _let_in(self, others: int) -> None:
        for _ in range(others):
            count_up(self._vault)
        self.came += others


class Counted(NamedTuple):
    """What a function made of the count in one vault, beside so many other writers, and by which writes.

    ``refused`` is what its last write answered, where that was a refusal; ``ignored`` are names that it sent in vain.
    """

    others: int
    count: Any
    error: str
    named_cas: bool = False
    refused: int = 0
    ignored: tuple[str, ...] = ()

    @property
    def wanted(self) -> int:
        """What the count has to be when no update is lost."""
        return BEGINS + 1 + self.others

    @property
    def is_right(self) -> bool:
        """Whether everybody's update counts."""
        return bool(self.count == self.wanted)

    @property
    def gave_up_aloud(self) -> bool:
        """Whether it raised an error in place of its own update, and left those of others."""
        return self.error != "" and self.count == self.wanted - 1

    @property
    def gave_up_early(self) -> bool:
        """Whether it raised an error of its own where others were faster: its last write was refused, and was a try."""
        return self.others > 0 and self.named_cas and self.refused > 0 and self.gave_up_aloud and not self.is_endless

    @property
    def is_endless(self) -> bool:
        """Whether it was stopped."""
        return self.error.startswith(TooManyRequests.__name__)

    def __str__(self) -> str:
        return f"beside {_others(self.others)} it raised {self.error}"


def count_up(vault: Vault) -> None:
    """Add one as a careful writer does when no other is near."""
    found = vault.get(COUNT).data
    cas = found["metadata"]["version"]
    vault.post(COUNT, {"options": {"cas": cas}, "data": {"n": found["data"]["n"] + 1}})


def play(function: Callable[[Any], Any], others: int) -> Counted:
    """Let a function add one in a new vault, beside so many others."""
    vault = Vault.dev(seed=110 + others)
    vault.post(COUNT, {"data": {"n": BEGINS}})
    error, busy = "", BusyVault(vault, others)
    try:
        function(busy)
    except Exception as failure:  # the reader's own
        error = raised(failure)
    found, last = vault.get(COUNT), busy.writes[-1:]
    return Counted(
        busy.came,
        found.data["data"].get("n") if found.ok else None,
        error,
        any("options.cas" in call.names for call in busy.writes),
        sum(call.status for call in last if call.status >= FIRST_REFUSAL),
        tuple([name for call in last for name in ignored_names(vault, call)]),
    )


def look(function: Callable[[Any], Any]) -> tuple[Counted, ...]:
    """Play a function beside none, one and two other writers, and beside a crowd."""
    return tuple([play(function, others) for others in (*INTERFERING, CROWD)])


def untouched(function: Callable[[Any], Any]) -> bool:
    """Whether a function is blank, and changes nothing."""
    return is_blank(function) and play(function, 0).count == BEGINS


def _few(seen: tuple[Counted, ...]) -> tuple[Counted, ...]:
    return seen[: len(INTERFERING)]


def _counts_all(seen: tuple[Counted, ...]) -> bool:
    return all(one.is_right for one in _few(seen))


def _first_wrong(seen: tuple[Counted, ...]) -> Counted:
    return next((one for one in seen if not one.is_right), seen[0])


def _worst(seen: tuple[Counted, ...]) -> str:
    wrong = _first_wrong(seen)
    return f"beside {_others(wrong.others)} the count became {wrong.count}, and has to be {wrong.wanted}"


def _others(number: int) -> str:
    return "no other writer" if not number else f"{number} more writer{'s' if number > 1 else ''}"


def _in_vain(seen: tuple[Counted, ...]) -> str:
    said = f"{_worst(seen)}; no write named `cas` in its `options`"
    ignored = ", ".join(f"`{name}`" for name in seen[0].ignored)
    return f"{said}, and {ignored} was ignored" if ignored else said


def _left_so(seen: tuple[Counted, ...]) -> str:
    return f"{_worst(seen)}; your last write was refused with {_first_wrong(seen).refused}, and none came after it"


def until_it_passes(vault: Any) -> None:
    """Read number and version together, write with that version, and begin again when it was refused."""
    while True:
        found = vault.get("secret/data/count").data
        body = {"options": {"cas": found["metadata"]["version"]}, "data": {"n": found["data"]["n"] + 1}}
        if vault.post("secret/data/count", body).ok:
            return


def five_times_at_most(vault: Any) -> None:
    """The same with a limit, and an error for whoever calls it."""
    for _ in range(5):
        found = vault.get("secret/data/count").data
        body = {"options": {"cas": found["metadata"]["version"]}, "data": {"n": found["data"]["n"] + 1}}
        answer = vault.post("secret/data/count", body)
        if answer.status != 400:
            answer.raise_for_status()
            return
    raise RuntimeError("five other writers were faster")


def _read_and_write(vault: Any) -> None:
    found = vault.get(COUNT).data["data"]["n"]
    vault.post(COUNT, {"data": {"n": found + 1}})


def _so_often(tries: int) -> Callable[[Any], None]:
    """Return what tries so often, and then raises an error."""

    def add_one(vault: Any) -> None:
        for _ in range(tries):
            found = vault.get(COUNT).data
            body = {"options": {"cas": found["metadata"]["version"]}, "data": {"n": found["data"]["n"] + 1}}
            if vault.post(COUNT, body).ok:
                return
        raise RuntimeError

    return add_one


def _no_second_try(vault: Any) -> None:
    found = vault.get(COUNT).data
    vault.post(COUNT, {"options": {"cas": found["metadata"]["version"]}, "data": {"n": found["data"]["n"] + 1}})


def _never_written(vault: Any) -> None:
    vault.post(COUNT, {"options": {"cas": 0}, "data": {"n": BEGINS + 1}})


def _old_value(vault: Any) -> None:
    found = vault.get(COUNT).data
    cas = found["metadata"]["version"]
    while not vault.post(COUNT, {"options": {"cas": cas}, "data": {"n": found["data"]["n"] + 1}}).ok:
        cas += 1


def _version_afterwards(vault: Any) -> None:
    found = vault.get(COUNT).data["data"]["n"]
    cas = vault.get(COUNT).data["metadata"]["version"]
    vault.post(COUNT, {"options": {"cas": cas}, "data": {"n": found + 1}})


def _constant(vault: Any) -> None:
    vault.post(COUNT, {"data": {"n": BEGINS + 1}})


def _python_lock(vault: Any) -> None:
    with Lock():
        _read_and_write(vault)


def _cas_beside_data(vault: Any) -> None:
    found = vault.get(COUNT).data
    vault.post(COUNT, {"cas": found["metadata"]["version"], "data": {"n": found["data"]["n"] + 1}})


def _three_times_in_silence(vault: Any) -> None:
    for _ in range(3):
        found = vault.get(COUNT).data
        body = {"options": {"cas": found["metadata"]["version"]}, "data": {"n": found["data"]["n"] + 1}}
        if vault.post(COUNT, body).ok:
            return


def _for_ever(vault: Any) -> None:
    while not vault.post(COUNT, {"options": {"cas": 0}, "data": {"n": 1}}).ok:
        pass


def _asserts_afterwards(vault: Any) -> None:
    until_it_passes(vault)
    raise ValueError("the count is not what it was")


COUNTER = Exercise(
    name="counter",
    title="No update is lost",
    goal="a function that adds one to n of secret/data/count, beside up to two others who do the same, and loses no "
    "update; where more are faster it may give up, with an error.",
    look=look,
    takes=("a function of one vault",),
    untouched=untouched,
    conditions=(
        Condition(
            name="holds out",
            holds=lambda seen: not any(one.gave_up_early for one in _few(seen)),
            says=lambda seen: str(next(one for one in _few(seen) if one.gave_up_early)),
            asks=f"Beside up to {INTERFERING[-1]} other writers it has to succeed; only where more are faster it may "
            "give up.",
            hints=(
                "How often does it read and write before it gives up, and how often may others be faster?",
                "A refused write is not a failure yet: somebody was faster. Read again, and write with what you read.",
                f"`for _ in range({INTERFERING[-1] + 1}):` or more around read and write, and the error after the loop",
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="returns",
            holds=lambda seen: not any(one.error and not one.gave_up_early for one in _few(seen)),
            says=lambda seen: str(next(one for one in _few(seen) if one.error and not one.gave_up_early)),
            asks="The function has to end, without an error.",
            hints=(
                "Read the error. A read gives two parts, `data` and `metadata`; a refused write has `.errors`.",
                "A write that was refused is refused again as it stands: read again, and name that version.",
                "a loop: read, write with `cas` of what was read, and leave when `vault.post(...).ok`",
            ),
        ),
        Condition(
            name="adds one",
            holds=lambda seen: seen[0].is_right,
            says=_worst,
            asks="Where nobody else writes, it has to add one.",
            hints=(
                "Play it in a vault of your own: what does the write answer?",
                "`cas` is the version that you have seen; 0 is for a secret that was never written.",
                'read `data["metadata"]["version"]`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="names a version",
            holds=lambda seen: _counts_all(seen) or seen[0].named_cas,
            says=_in_vain,
            asks="Where others write between your read and your write, theirs and yours have to count.",
            hints=(
                "Think of a writer who comes right after your read: what does your write overwrite?",
                "A write that says which version you have seen is refused when there is a newer one.",
                '`{"options": {"cas": version}, "data": {"n": …}}` is the body of `post`',
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="tries again",
            holds=lambda seen: _counts_all(seen) or not _first_wrong(seen).refused,
            says=_left_so,
            asks="A write that was refused has changed nothing: yours is still to be done.",
            hints=(
                "Look at what your write answers when somebody was faster: its `.status` and `.errors`.",
                "A refused write tells you that what you read is old: read again.",
                "a loop: read, write with `cas`, and leave when the answer is `.ok`",
            ),
            for_its_sentence=True,
        ),
        Condition(
            name="loses none",
            holds=_counts_all,
            says=_worst,
            asks="Where others write between your read and your write, theirs and yours have to count.",
            hints=(
                "Which read is the number from that you write, and which read the version?",
                "Number and version have to come from one read, and both from a new one after a refusal.",
                "`found = vault.get(...).data` once in each round of the loop, and nothing kept from the round before",
            ),
        ),
        Condition(
            name="says so",
            holds=lambda seen: not _counts_all(seen) or seen[-1].is_right or seen[-1].gave_up_aloud,
            says=lambda seen: f"{_worst(seen[-1:])}; it gave up" + ("" if seen[-1].error else ", and raised no error"),
            asks="Where more writers are faster than it tries, whoever calls it has to hear that it gave up.",
            hints=(
                f"Let {CROWD} writers come in, one after each of your reads: how does your function end?",
                "A function that returns says that its work is done.",
                "`raise RuntimeError(...)` after the last try, or a loop without a limit",
            ),
        ),
    ),
    ways={"until it passes": until_it_passes, "five times at most": five_times_at_most},
    traps=(
        Trap(name="read, then write", act=_read_and_write, refused_by="names a version"),
        Trap(name="the version beside the data", act=_cas_beside_data, refused_by="names a version"),
        Trap(name="one try, and an error", act=_so_often(1), refused_by="holds out"),
        Trap(name="two tries, and an error", act=_so_often(2), refused_by="holds out"),
        Trap(name="refused, and left so", act=_no_second_try, refused_by="tries again"),
        Trap(name="three tries, and no word", act=_three_times_in_silence, refused_by="says so"),
        Trap(name="as if never written", act=_never_written, refused_by="adds one"),
        Trap(name="the old value again", act=_old_value, refused_by="loses none"),
        Trap(name="the version asked for afterwards", act=_version_afterwards, refused_by="loses none"),
        Trap(name="a constant", act=_constant, refused_by="names a version"),
        Trap(name="a lock in Python", act=_python_lock, refused_by="names a version"),
        Trap(name="for ever", act=_for_ever, refused_by="returns"),
        Trap(name="an error after the write", act=_asserts_afterwards, refused_by="returns"),
    ),
)
