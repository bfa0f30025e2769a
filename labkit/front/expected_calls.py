"""Expected calls: what a program is to ask of a vault, compared with what it asked (``Vault.expect``).

1. An expectation is a text: method, path and, where it matters, the status of the answer: ``GET secret/data/app 404``,
   a class of them such as ``2xx``, or ``dropped`` for a request that was dropped before it was carried out.  In a path
   ``*`` stands for any text.  POST and PUT are one method, and a listing is LIST, however it was sent.
2. All calls in between count, in their order, unless ``in_order`` or ``others`` say otherwise.  What was expected and
   what came stand side by side, aligned as well as they match; so they do in a note of another error that ends it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.front.aimed_failures import METHODS, aimed_path, folded, path_pattern
from labkit.service.arguments import flag, one_of, shown
from labkit.vault.calls import DROPPED

if TYPE_CHECKING:
    from labkit.vault.calls import Call, Calls

MAX_EXPECTED = 1_000
MAX_SHOWN_ROWS = 40
MAX_COLUMN = 60
_STATUS = re.compile(r"[1-5](?:[0-9]{2}|xx)|" + DROPPED, re.ASCII)


class Expectation(NamedTuple):
    """One call that is expected; ``status`` is empty where any will do."""

    method: str
    path: str
    status: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.status}".rstrip()

    def is_met(self, call: Call) -> bool:
        """Whether a call is the expected one."""
        if folded(self.method) != folded(call.method) or not path_pattern(self.path).fullmatch(call.path):
            return False
        came = call.answered
        return self.status in ("", came, f"{came[0]}xx")


class ExpectedCalls:
    """For a ``with``: raises AssertionError at its end unless the calls in it were the expected ones.

    ``entered`` is called with it when the ``with`` begins.
    """

    def __init__(
        self,
        calls: Callable[[], Calls],
        expected: Sequence[Expectation],
        entered: Callable[[ExpectedCalls], None],
        *,
        in_order: bool = True,
        others: bool = False,
    ) -> None:
        self._calls, self._expected, self._entered = calls, expected, entered
        self._in_order, self._others = flag("in_order", in_order), flag("others", others)
        self._mark: object = None

    def __repr__(self) -> str:
        first = f"{self._expected[0]}, …" if self._expected else "nothing"
        return f"expect({first}) is for a with: nothing was compared"

    def __enter__(self) -> ExpectedCalls:
        self._entered(self)
        self._mark = self._calls().mark()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        __tracebackhide__ = True  # of pytest: what differs is said whole
        came = self._calls().since(self._mark)  # others than before, where the vault was reset
        problem = difference(self._expected, came, in_order=self._in_order, others=self._others)
        if problem and error is not None:
            error.add_note(f"until then, {problem}")
        elif problem:
            raise AssertionError(problem)


def read_expectations(expected: Any) -> list[Expectation]:
    """Return expectations as they were written; ValueError says which is wrong."""
    example = "such as ['GET secret/data/app 404']"
    if isinstance(expected, str) or not isinstance(expected, Sequence):
        raise ValueError(f"expect: expected a list of calls {example}, got {shown(expected)}")
    if len(expected) > MAX_EXPECTED:
        raise ValueError(f"expect: expected a list of at most {MAX_EXPECTED} calls {example}, got {len(expected)}")
    return [_read(number, written) for number, written in enumerate(expected, 1)]


def _read(number: int, written: Any) -> Expectation:
    parts = written.split() if isinstance(written, str) else []
    if len(parts) not in (2, 3) or (len(parts) == 3 and not _STATUS.fullmatch(parts[2])):
        shape = f"a method, a path and, if it matters, a status, 2xx or {DROPPED}, such as 'GET secret/data/app 404'"
        raise ValueError(f"expect: call {number}: expected {shape}, got {str(written)[:MAX_COLUMN]!r}")
    one_of(f"expect: call {number}", "a method", parts[0], METHODS)
    return Expectation(parts[0], aimed_path(parts[1]), parts[2] if len(parts) == 3 else "")


def difference(
    expected: Sequence[Expectation], came: Sequence[Call], *, in_order: bool = True, others: bool = False
) -> str:
    """Return what differs as a table; nothing when all is as expected."""
    rows = (aligned if in_order else paired)(expected, came)
    wrong = [place for place, (one, call) in enumerate(rows) if call is None or (one is None and not others)]
    if not wrong:
        return ""
    begin = max(wrong[0] - 3, 0)
    shown = [_row(one, call, others) for one, call in rows[begin : begin + MAX_SHOWN_ROWS]]
    width = max(len(row[1]) for row in [*shown, ("", "expected", "")])
    lines = [f"{sign} {left:{width}}  {right}".rstrip() for sign, left, right in [(" ", "expected", "came"), *shown]]
    left_out = len(rows) - begin - len(shown)
    notes = [f"  the first {begin} are as expected"] * (begin > 0)
    more = [f"  and {left_out} more"] * (left_out > 0)
    calls = "1 call was" if len(expected) == 1 else f"{len(expected)} calls were"
    marks = "- marks those missing" + ("" if others else ", + those not expected")
    counted = f"{calls} expected{'' if in_order else ', in any order,'} and {len(came)} came; {marks}"
    return "\n".join([counted, *notes, *lines, *more])


def aligned(expected: Sequence[Expectation], came: Sequence[Call]) -> list[tuple[Expectation | None, Call | None]]:
    """Pair expectations with calls so that as many as possible are met, in order; None stands where there is none."""
    begin = 0
    while begin < min(len(expected), len(came)) and expected[begin].is_met(came[begin]):
        begin += 1
    head: list[tuple[Expectation | None, Call | None]] = [*zip(expected[:begin], came[:begin], strict=True)]
    left, right = expected[begin:], came[begin:]
    if len(left) * len(right) > MAX_EXPECTED**2:
        return [*head, *_each_to_the_first(left, right)]
    met = _met_counts(left, right)
    row = column = 0
    while row < len(left) or column < len(right):
        if row < len(left) and column < len(right) and left[row].is_met(right[column]):
            head.append((left[row], right[column]))
            row, column = row + 1, column + 1
        elif column == len(right) or (row < len(left) and met[row + 1][column] >= met[row][column + 1]):
            head.append((left[row], None))
            row += 1
        else:
            head.append((None, right[column]))
            column += 1
    return head


def _each_to_the_first(
    expected: Sequence[Expectation], came: Sequence[Call]
) -> list[tuple[Expectation | None, Call | None]]:
    """Pair each expectation with the first call that meets it after that of the one before: all, where all can be."""
    rows: list[tuple[Expectation | None, Call | None]] = []
    row = behind = 0
    for call in came:
        is_met = row < len(expected) and expected[row].is_met(call)
        rows.append((expected[row] if is_met else None, call))
        if is_met:
            row, behind = row + 1, len(rows)
    return [*rows[:behind], *[(one, None) for one in expected[row:]], *rows[behind:]]


def _met_counts(expected: Sequence[Expectation], came: Sequence[Call]) -> list[list[int]]:
    """Return how many can be met of what stands from each place on: the longest common subsequence."""
    met = [[0] * (len(came) + 1) for _ in range(len(expected) + 1)]
    for row in range(len(expected) - 1, -1, -1):
        for column in range(len(came) - 1, -1, -1):
            is_met = expected[row].is_met(came[column])
            met[row][column] = max(
                met[row + 1][column], met[row][column + 1], met[row + 1][column + 1] + 1 if is_met else 0
            )
    return met


def paired(expected: Sequence[Expectation], came: Sequence[Call]) -> list[tuple[Expectation | None, Call | None]]:
    """Pair expectations with calls so that as many as possible are met, in any order: by augmenting paths."""
    places: dict[tuple[str, str, int], list[int]] = {}
    for place, call in enumerate(came):
        places.setdefault((call.method, call.path, call.status), []).append(place)
    meets_of = {one: sorted(_places_that_meet(one, came, places.values())) for one in {*expected}}
    meets = [meets_of[one] for one in expected]
    row_at: dict[int, int] = {}
    place_of: dict[int, int] = {}
    for row in range(len(expected)):
        _find_place(row, meets, row_at, place_of)
    met = [(expected[row_at[place]] if place in row_at else None, call) for place, call in enumerate(came)]
    return [*met, *[(one, None) for row, one in enumerate(expected) if row not in place_of]]


def _places_that_meet(one: Expectation, came: Sequence[Call], places: Iterable[list[int]]) -> Iterator[int]:
    """Yield the places of the calls that meet an expectation; ``places`` are those of calls that are alike."""
    for alike in places:
        if one.is_met(came[alike[0]]):
            yield from alike


def _find_place(row: int, meets: list[list[int]], row_at: dict[int, int], place_of: dict[int, int]) -> None:
    """Give a row a place; rows that have one move on to others where that makes room."""
    reached_from: dict[int, int] = {}
    rows = [row]
    for reached in rows:
        for place in meets[reached]:
            if place in reached_from:
                continue
            reached_from[place] = reached
            if place in row_at:
                rows.append(row_at[place])
                continue
            free: int | None = place
            while free is not None:
                mover = reached_from[free]
                before = place_of.get(mover)
                row_at[free], place_of[mover] = mover, free
                free = before
            return


def _row(expectation: Expectation | None, call: Call | None, others: bool) -> tuple[str, str, str]:
    sign = (" " if others else "+") if expectation is None else "-" if call is None else " "
    left = "" if expectation is None else _short(str(expectation))
    right = "" if call is None else _short(str(call))
    return sign, left, right


def _short(text: str) -> str:
    return text if len(text) <= MAX_COLUMN else text[: MAX_COLUMN - 1] + "…"
