"""How much work a call does, in function calls: growth tests compare these, as measured times vary with the machine.

    python tests/counting.py

prints through how many files a write to a secret goes in a lab, and how often it goes from one to another.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = f"{ROOT / 'labkit'}/"


COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""What is not counted as a function of its own: most are none from Python 3.12 on."""

RECORDS = f"{PACKAGE}service/record.py"
"""What each named tuple has is not counted either: in Python's own it stands in no file of labkit.  ``_replace`` is."""


def is_own(code: CodeType) -> bool:
    """Whether a call of this counts as one of labkit's own functions."""
    if not code.co_filename.startswith(PACKAGE) or code.co_name in COMPREHENSIONS:
        return False
    return code.co_filename != RECORDS or code.co_name == "_replace"


class FilesPassed(NamedTuple):
    """Which files of labkit a call went through, in the order in which it came to them, each time it came to one."""

    way: tuple[str, ...]

    @property
    def files(self) -> frozenset[str]:
        """The files."""
        return frozenset(self.way)

    def __repr__(self) -> str:
        return f"{len(self.way)} changes of file, {len(self.files)} files"


def calls_made(work: Callable[[], object]) -> int:
    """Return how many function calls ``work`` makes on this thread, those of built-in functions included."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    _profiled(work, count)
    return calls


def own_calls_made(work: Callable[[], object]) -> int:
    """Return how many calls of labkit's own functions ``work`` makes: the same on each Python, with each library."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call" and is_own(frame.f_code)

    _profiled(work, count)
    return calls


def files_passed(work: Callable[[], object]) -> FilesPassed:
    """Return the way that ``work`` takes through the files of labkit: into functions, and back out of them."""
    way: list[str] = []

    def note(frame: FrameType | None, event: str, argument: Any) -> None:
        if event == "return" and frame is not None:
            frame = frame.f_back
        elif event != "call":
            return
        file = frame.f_code.co_filename if frame is not None else ""
        if file.startswith(PACKAGE) and (not way or way[-1] != file[len(PACKAGE) :]):
            way.append(file[len(PACKAGE) :])

    _profiled(work, note)
    return FilesPassed(tuple(way))


def _profiled(work: Callable[[], object], note: Callable[[FrameType, str, Any], None]) -> None:
    before, collecting = sys.getprofile(), gc.isenabled()
    gc.disable()  # what is cleared away of earlier work is not counted to this
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()


def main() -> None:
    """Print the way of the first write to a new lab, of one after others, and of one that two secondaries follow."""
    sys.path.insert(0, str(ROOT))
    from labkit import Lab

    body = {"data": {"user": "ada"}}
    new, followed = Lab.pair(seed=7), Lab.triangle(seed=7)
    for secondary in ("tokyo", "lima"):
        followed.replicate("paris", secondary)
    for what, lab in (("the first write", new), ("a write", new), ("a write that two follow", followed)):
        for _ in range(2 if lab is followed else 0):
            lab["paris"].post("secret/data/app", body)
        print(f"{what:24} {files_passed(partial(lab['paris'].post, 'secret/data/app', body))!r}")


if __name__ == "__main__":
    main()
