"""Exit codes: what each means, which of several counts, and how a command refuses what it was given."""

from __future__ import annotations

import sys
from collections.abc import Sequence

AS_EXPECTED, NOT_AS_EXPECTED, BAD_FILE, UNKNOWN, BUG, STOPPED = 0, 1, 2, 3, 4, 130

MEANINGS = {
    AS_EXPECTED: "as expected",
    NOT_AS_EXPECTED: "not as expected",
    BAD_FILE: "a file or an argument that cannot be used",
    UNKNOWN: "unknown: there was no occasion to judge",
    BUG: "a bug of labkit",
    STOPPED: "stopped by Ctrl-C",
}
WORST_FIRST = (STOPPED, BUG, BAD_FILE, NOT_AS_EXPECTED, UNKNOWN, AS_EXPECTED)


def worst(codes: Sequence[int]) -> int:
    """Return the worst of several exit codes."""
    return next(code for code in WORST_FIRST if code in codes)


def listed() -> str:
    """All exit codes with their meanings, in one sentence."""
    return "Exit codes: " + ", ".join(f"{code} {meaning}" for code, meaning in MEANINGS.items()) + "."


def refuse(text: str) -> int:
    """Print why something cannot be used, and return the code for it."""
    complain(text)
    return BAD_FILE


def report_bug(error: Exception, doing: str) -> int:
    """Print one line about an exception that nothing expected, and return the code for it."""
    text = " ".join(str(error).split())
    complain(
        f"{doing}: a bug of labkit: {type(error).__name__}: {text}; report it with this command and its file "
        "(LABKIT_TRACEBACK=1 in the environment shows where it happened)"
    )
    return BUG


def complain(text: str) -> None:
    """Print a text on the stream for errors; a name of a file in it controls no terminal."""
    from labkit.commands.terminal import columns, fitted
    from labkit.scenario.problems import printable

    print(fitted("\n".join(map(printable, text.split("\n"))), columns()), file=sys.stderr)
