"""Expected calls: what a program is to ask of a vault, in order, compared with what it asked (``Vault.expect``).

1. An expectation is a text: method, path and, where it matters, the status of the answer: ``GET secret/data/app 404``.
   In a path ``*`` stands for any text.
2. All calls in between count.  What was expected and what came stand side by side, aligned as well as they match.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.front.aimed_failures import METHODS, path_pattern

if TYPE_CHECKING:
    from labkit.vault.calls import Call, Calls

MAX_EXPECTED = 1_000
MAX_SHOWN_ROWS = 40
MAX_COLUMN = 60


class Expectation(NamedTuple):
    """One call that is expected; ``status`` is None where any will do."""

    method: str
    path: str
    status: int | None

    def __str__(self) -> str:
        return f"{self.method} {self.path}{'' if self.status is None else f' {self.status}'}"

    def is_met(self, call: Call) -> bool:
        """Whether a call is the expected one."""
        is_asked = self.method == call.method and path_pattern(self.path).fullmatch(call.path) is not None
        return is_asked and self.status in (None, call.status)


class ExpectedCalls:
    """For a ``with``: raises AssertionError at its end unless the calls in it were the expected ones."""

    def __init__(self, calls: Callable[[], Calls], expected: Sequence[Expectation]) -> None:
        self._calls, self._expected = calls, expected
        self._mark: object = None

    def __enter__(self) -> ExpectedCalls:
        self._mark = self._calls().mark()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            came = self._calls().since(self._mark)  # others than before, where the vault was reset
            problem = difference(self._expected, came)
            if problem:
                raise AssertionError(problem)


def read_expectations(expected: Any) -> list[Expectation]:
    """Return expectations as they were written; ValueError says which is wrong."""
    if isinstance(expected, str) or not isinstance(expected, Sequence) or len(expected) > MAX_EXPECTED:
        raise ValueError(f"expect: expected a list of at most {MAX_EXPECTED} calls such as ['GET secret/data/app']")
    return [_read(number, written) for number, written in enumerate(expected, 1)]


def _read(number: int, written: Any) -> Expectation:
    parts = written.split() if isinstance(written, str) else []
    status = parts[2] if len(parts) == 3 else ""
    is_number = status.isascii() and status.isdigit() and len(status) == 3
    if len(parts) not in (2, 3) or parts[0] not in METHODS or (len(parts) == 3 and not is_number):
        shape = "a method, a path and, if it matters, a status, such as 'GET secret/data/app 404'"
        raise ValueError(f"expect: call {number}: expected {shape}, got {str(written)[:MAX_COLUMN]!r}")
    return Expectation(parts[0], parts[1].lstrip("/").removeprefix("v1/"), int(status) if is_number else None)


def difference(expected: Sequence[Expectation], came: Sequence[Call]) -> str:
    """Return what differs as a table; nothing when all is as expected."""
    rows = aligned(expected, came)
    wrong = [place for place, (one, call) in enumerate(rows) if one is None or call is None]
    if not wrong:
        return ""
    begin = max(wrong[0] - 3, 0)
    shown = [_row(one, call) for one, call in rows[begin : begin + MAX_SHOWN_ROWS]]
    width = max(len(row[1]) for row in [*shown, ("", "expected", "")])
    lines = [f"{sign} {left:{width}}  {right}".rstrip() for sign, left, right in [(" ", "expected", "came"), *shown]]
    left_out = len(rows) - begin - len(shown)
    notes = [f"  the first {begin} are as expected"] * (begin > 0)
    more = [f"  and {left_out} more"] * (left_out > 0)
    counted = f"{len(expected)} calls were expected and {len(came)} came; - marks those missing, + those not expected"
    return "\n".join([counted, *notes, *lines, *more])


def aligned(expected: Sequence[Expectation], came: Sequence[Call]) -> list[tuple[Expectation | None, Call | None]]:
    """Pair expectations with calls so that as many as possible are met, in order; None stands where there is none."""
    begin = 0
    while begin < min(len(expected), len(came)) and expected[begin].is_met(came[begin]):
        begin += 1
    head: list[tuple[Expectation | None, Call | None]] = [*zip(expected[:begin], came[:begin], strict=True)]
    left, right = expected[begin:], came[begin:]
    if len(left) * len(right) > MAX_EXPECTED**2:
        return [*head, *[(one, None) for one in left], *[(None, call) for call in right]]
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


def _row(expectation: Expectation | None, call: Call | None) -> tuple[str, str, str]:
    sign = "+" if expectation is None else "-" if call is None else " "
    left = "" if expectation is None else _short(str(expectation))
    right = "" if call is None else _short(f"{call.method} {call.path} {call.status}")
    return sign, left, right


def _short(text: str) -> str:
    return text if len(text) <= MAX_COLUMN else text[: MAX_COLUMN - 1] + "…"
