"""Questions: how many seeds pass a drill of which nothing is expected, and one of which too much is."""

from __future__ import annotations

from typing import Any

from labkit.front.lab import Lab
from labkit.lessons.failing_drill.drills import SEEDS, verdict
from labkit.lessons.plan import Question


def lacks_runs(labs: Any) -> str:
    """Say what is missing before runs can be counted."""
    if not isinstance(labs, list) or len(labs) != SEEDS or not all(isinstance(lab, Lab) for lab in labs):
        return f"Hand in the {SEEDS} runs of the cell above."
    if any(lab.scenario is None for lab in labs):
        return "These labs played no drill: hand in the runs of the cell above."
    return ""


def lacks_expectation(labs: Any) -> str:
    """Say what is missing before runs of the drill that expects no loss can be counted."""
    lacking = lacks_runs(labs)
    if not lacking and not any(row.key == "lost" and row.expected for row in verdict(labs[0]).rows):
        return "Of these runs it is not expected that nothing is lost: hand in those of the cell above."
    return lacking


def passed(labs: list[Lab]) -> int:
    """Return how many runs are as expected."""
    return sum(verdict(lab).exit_code == 0 for lab in labs)


def losing(labs: list[Lab]) -> int:
    """Return how many runs lost an acknowledged write."""
    return sum(lab.ledger.rpo().writes > 0 for lab in labs)


def why_all_pass(labs: list[Lab]) -> str:
    """Explain what a drill without expectations says."""
    return (
        f"{passed(labs)} of {len(labs)} runs are as expected, and {'some' if losing(labs) else 'none'} of them lost an "
        "acknowledged write. Of the loss nothing was expected, so nothing could be otherwise; and the rules of every "
        "lab hold, as losing what was on the line breaks none. A drill that cannot fail shows nothing."
    )


def why_luck(labs: list[Lab]) -> str:
    """Explain what decides whether nothing is lost."""
    return (
        f"{losing(labs)} of {len(labs)} runs lost one write or more: whether one was on the line in the instant of the "
        "fault is luck, and another seed has other luck. Who plays one seed learns about that seed. An expectation "
        "that is right leaves room for luck, and none for the fault that it is to find."
    )


EMPTY = Question(
    name="empty",
    asks=f"The drill crashes paris while clients write, and promotes tokyo. Nothing is written under `expect`. It is "
    f"played with {SEEDS} seeds. How many of the {SEEDS} runs pass?",
    least=0,
    most=SEEDS,
    measure=passed,
    needs=lacks_runs,
    takes_runs=True,
    why=why_all_pass,
    replies={
        0: "None would pass if a lost region were a failure by itself. A drill judges only what it expects.",
        19: "One would fail if luck decided. Luck decides what is lost, and nobody asked about that.",
    },
    otherwise="Think of what could make such a run fail: somebody has to expect something.",
)
STRICT = Question(
    name="strict",
    asks=f"Now the drill says `expect: {{lost: 0}}`. One write comes each 100 ms. Its acknowledgement needs 15 ms to "
    f"lisbon, its copy 40 to 160 ms to tokyo. With how many of {SEEDS} seeds does it pass, give or take two?",
    least=0,
    most=SEEDS,
    near=2,
    measure=passed,
    needs=lacks_expectation,
    takes_runs=True,
    why=why_luck,
    replies={
        SEEDS: "All would pass if a promotion waited for what is on the line. Its sender has no power any more.",
        0: "None would pass if there always were a write on the line. Now and then there is a gap.",
        10: "Half of them would pass if a write were on the line half of the time. It is there for longer.",
    },
    otherwise="A write can be lost from its acknowledgement, 15 ms after it, until its copy arrives. Compare that with "
    "how long it is until the next write.",
)
