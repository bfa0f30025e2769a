"""Counter: a function that adds one while others add one too, judged in new vaults."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

from labkit.front.vault import Vault
from labkit.lessons.plan import Condition, Exercise, Trap
from labkit.service.message import Response
from labkit.service.short_forms import ShortForms

COUNT = "secret/data/count"
BEGINS, INTERFERING = 40, (0, 1, 2)
MAX_REQUESTS = 100


class TooManyRequests(Exception):
    """A function went on and on."""


class BusyVault(ShortForms):
    """A vault as a function sees it: after each of the first reads another writer adds one."""

    def __init__(self, vault: Vault, others: int) -> None:
        self._vault, self._others = vault, others
        self.root_token = vault.root_token
        self._left = MAX_REQUESTS

    def request(self, method: str, path: str, *given: Any, **how: Any) -> Response:
        """Pass a request on; another writer comes in after a read, as often as wanted."""
        self._left -= 1
        if self._left < 0:
            raise TooManyRequests(f"{MAX_REQUESTS} requests were not enough")
        answer = self._vault.request(method, path, *given, **how)
        if method == "GET" and self._others:
            self._others -= 1
            count_up(self._vault)
        return answer


class Counted(NamedTuple):
    """What a function made of the count in one vault, beside so many other writers."""

    others: int
    count: Any
    error: str

    @property
    def wanted(self) -> int:
        """What the count has to be when no update is lost."""
        return BEGINS + 1 + self.others


def count_up(vault: Vault) -> None:
    """Add one as a careful writer does when no other is near."""
    found = vault.get(COUNT).data
    cas = found["metadata"]["version"]
    vault.post(COUNT, {"options": {"cas": cas}, "data": {"n": found["data"]["n"] + 1}})


def play(function: Callable[[Any], Any], others: int) -> Counted:
    """Let a function add one in a new vault, beside so many others."""
    vault = Vault.dev(seed=110 + others)
    vault.post(COUNT, {"data": {"n": BEGINS}})
    error = ""
    try:
        function(BusyVault(vault, others))
    except Exception as raised:  # the reader's own
        error = f"{type(raised).__name__}: {raised}"
    found = vault.get(COUNT)
    return Counted(others, found.data["data"].get("n") if found.ok else None, error)


def look(function: Callable[[Any], Any]) -> tuple[Counted, ...]:
    """Play a function beside none, one and two other writers."""
    return tuple([play(function, others) for others in INTERFERING])


def untouched(function: Callable[[Any], Any]) -> bool:
    """Whether a function does nothing yet."""
    seen = play(function, 0)
    return seen.count == BEGINS and not seen.error and function.__code__.co_names == ()


def _worst(seen: tuple[Counted, ...]) -> str:
    wrong = next((one for one in seen if one.count != one.wanted), seen[0])
    beside = "no other writer" if not wrong.others else f"{wrong.others} more writer{'s' if wrong.others > 1 else ''}"
    return f"beside {beside} the count became {wrong.count}; that many people would say {wrong.wanted}"


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


def _for_ever(vault: Any) -> None:
    while not vault.post(COUNT, {"options": {"cas": 0}, "data": {"n": 1}}).ok:
        pass


def _asserts_afterwards(vault: Any) -> None:
    until_it_passes(vault)
    raise ValueError("the count is not what it was")


COUNTER = Exercise(
    name="counter",
    title="No update is lost",
    goal="a function that adds one to n of secret/data/count, and loses no update of others who do the same.",
    look=look,
    takes=("a function of one vault",),
    untouched=untouched,
    conditions=(
        Condition(
            name="returns",
            holds=lambda seen: not any(one.error for one in seen),
            says=lambda seen: next(one.error for one in seen if one.error),
            asks="The function has to end, without an error.",
            hints=(
                "Read the error: which request led to it?",
                "Whoever tries again needs a reason to stop: the answer to the write is one.",
                "`vault.post(...).ok` says whether the write passed",
            ),
        ),
        Condition(
            name="adds one",
            holds=lambda seen: seen[0].count == seen[0].wanted,
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
            name="loses none",
            holds=lambda seen: all(one.count == one.wanted for one in seen),
            says=_worst,
            asks="Where others write between your read and your write, theirs and yours have to count.",
            hints=(
                "Think of a writer who comes right after your read: which number do you write?",
                "A refused write tells you that what you read is old. Number and version have to come from one read.",
                "`options: {cas: …}` in the body of `post`, and another read when it is refused",
            ),
        ),
    ),
    ways={"until it passes": until_it_passes, "five times at most": five_times_at_most},
    traps=(
        Trap(name="read, then write", act=_read_and_write, refused_by="loses none"),
        Trap(name="refused, and left so", act=_no_second_try, refused_by="loses none"),
        Trap(name="as if never written", act=_never_written, refused_by="adds one"),
        Trap(name="the old value again", act=_old_value, refused_by="loses none"),
        Trap(name="the version asked for afterwards", act=_version_afterwards, refused_by="loses none"),
        Trap(name="a constant", act=_constant, refused_by="loses none"),
        Trap(name="a lock in Python", act=_python_lock, refused_by="loses none"),
        Trap(name="for ever", act=_for_ever, refused_by="returns"),
        Trap(name="an error after the write", act=_asserts_afterwards, refused_by="returns"),
    ),
)
