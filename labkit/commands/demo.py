"""demo: plays the first scenario and explains it: a first look at what labkit is for.

Each term is explained where it first appears; then comes what the clients saw, which writes were lost, the verdict,
and what to try next.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from textwrap import fill
from typing import TYPE_CHECKING

from labkit.commands.exit_codes import STOPPED, refuse
from labkit.commands.own_name import own_name
from labkit.commands.playing import introduce, judged, run_lab, scenario_of, show
from labkit.commands.terminal import columns
from labkit.service.durations import MILLISECOND_NS, in_seconds

if TYPE_CHECKING:
    from labkit.front.lab import Lab
    from labkit.trace import OutcomeEvent

DEMO = "first/failover.lab.yaml"
MAX_SHOWN_WRITES = 5

# A word of the log, and what a reader should know when it first appears.
IN_THE_LOG = {
    "leads": "Of a cluster's nodes one is active and serves; the others are standbys, and one of them takes over when "
    "it is lost. A new leader has a new term.",
    "replicate": "Replication: the primary serves clients, and each of its writes goes to the secondary, which serves "
    "none. It is for disasters: another region, ready to take over.",
    "merkle-diff": "The secondary finds out what it lacks: both keep a Merkle tree, hashes of hashes of everything "
    "stored, and compare it from the top.",
    "stream-wals": "From here on every write follows at once. Clients do not wait for that: they have their answer "
    "some 80 ms before tokyo has the write.",
    "crash": "The whole region is lost: three nodes and what was in their memory, writes on their way too.",
    "promote": "An operator makes tokyo the primary. That takes an operation token, made from three of five key "
    "shares, the parts of a key that different people hold.",
    "isolate": "Fencing: the old primary believes that it is primary still. It is cut off before it starts, so that "
    "two clusters never accept writes of one set.",
    "unseal": "A node starts sealed: it cannot decrypt its storage before it is given key shares.",
    "demote": "The old primary becomes a secondary, without a primary to follow yet.",
    "repoint": "It follows tokyo now: it gets what it missed, and what tokyo never received disappears.",
}

IN_THE_VERDICT = {
    "writes acknowledged": "the clients got an answer that says: stored",
    "of them lost": "acknowledged by paris, never received by tokyo; a ledger apart from the servers counts them",
    "operations in doubt": "no answer in time: it may have happened or not",
    "recovery point (RPO)": "how many lost writes came before the crash, and how far back they reach",
    "recovery time (RTO)": "from the crash to the first write that tokyo acknowledged",
    "roots": "the tops of the two Merkle trees; equal roots mean equal contents",
    "one primary": "this and the rows below it are invariants: what has to hold at every instant, whatever happens",
}

# What to try next: the arguments of a command, and what it is for.
NEXT = {
    "demo --seed 8": "the same with other delays: how many writes are lost this time?",
    "scenarios --copy drills": "the shipped drills, to read, change and run",
    "run drills/first/split-brain.lab.yaml": "what happens without fencing",
    "new scenario my-drill": "a drill of your own, to begin with",
    "lessons": "ten minutes in a notebook: a vault, a disaster, going back in time",
    "help verbs": "what else can be done to a lab",
}


def demo(given: argparse.Namespace) -> int:
    """Run the first scenario, explain what happened and return its exit code."""
    from labkit import places
    from labkit.front.lab import Lab
    from labkit.scenario.event_log import event_log

    try:
        path = places.scenarios() / DEMO
    except FileNotFoundError as error:
        return refuse(str(error))
    lab = Lab.load(path, given.seed)
    introduce(scenario_of(lab).scenario)
    stopped = run_lab(lab, quiet=False)
    verdict = judged(lab)
    show("what happened, in lab time:", *explained([str(line) for line in event_log(lab.trace)]))
    show("", "what the clients saw:", *clients_view(lab))
    show("", "which writes were lost:", *lost_writes(lab))
    show("", verdict.text(columns()), "", "what the rows mean:")
    show(*(f"    {name:<22}  {meaning}" for name, meaning in IN_THE_VERDICT.items()))
    show("", f"the same seed gives the same run: its trace has the digest {lab.trace.digest()[:16]}")
    show("", "try next:", *(f"    {own_name()} {command:<38}  {about}" for command, about in NEXT.items()))
    return STOPPED if stopped else verdict.exit_code


def explained(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a log, and below the first one with a term what it means."""
    left = dict(IN_THE_LOG)
    for line in lines:
        yield line
        for word in [word for word in left if word in line.split() or f"{word}," in line.split()]:
            yield fill(
                left.pop(word),
                min(110, columns() or 110),
                initial_indent=" " * 14 + "| ",
                subsequent_indent=" " * 14 + "| ",
            )


def clients_view(lab: Lab) -> Iterator[str]:
    """Yield what clients saw before, during and after the longest time without an answer."""
    from labkit.scenario.value_types import write_duration
    from labkit.trace import OutcomeEvent

    outcomes = [event for event in lab.trace if isinstance(event, OutcomeEvent)]
    answered = [event for event in outcomes if event.outcome == "answered"]
    if len(answered) < 2:
        yield "    no answer"
        return
    gaps = [(later.at_ns - earlier.at_ns, number) for number, (earlier, later) in enumerate(pairwise(answered))]
    gap_ns, number = max(gaps, key=lambda gap: (gap[0], -gap[1]))
    before, after = answered[: number + 1], answered[number + 1 :]
    waited = sum(event.started_ns < after[0].at_ns <= event.at_ns for event in outcomes)
    tried = max(event.attempts for event in outcomes if event.at_ns >= after[0].at_ns)
    yield _answers(before)
    yield (
        f"  {_at(before[-1].at_ns)} to {_at(after[0].at_ns)}  no answer for {write_duration(gap_ns)}: {waited} "
        f"operations wait, each tries again, up to {tried} times"
    )
    yield _answers(after)
    unknown = sum(event.outcome == "unknown" for event in outcomes)
    yield f"    {unknown or 'no'} operation{'' if unknown == 1 else 's'} ended without any answer"


def _answers(events: list[OutcomeEvent]) -> str:
    clusters = " and ".join(sorted({event.cluster for event in events}))
    middle_ns = median(event.at_ns - event.started_ns for event in events)
    return (
        f"  {_at(events[0].at_ns)} to {_at(events[-1].at_ns)}  {clusters} answers {len(events):,} operations, "
        f"half of them within {middle_ns / MILLISECOND_NS:.0f} ms"
    )


def lost_writes(lab: Lab) -> Iterator[str]:
    """Yield the writes that were acknowledged and lost, and why."""
    lost = lab.ledger.lost()
    for write in lost[:MAX_SHOWN_WRITES]:
        yield f"  {_at(write.at_ns)}  {write.path}, acknowledged to {write.client}"
    if len(lost) > MAX_SHOWN_WRITES:
        yield f"    and {len(lost) - MAX_SHOWN_WRITES} more"
    if lost:
        yield "    They were on their way to tokyo when paris was lost; a planned failover waits for such writes."
    else:
        yield "    none this time: nothing was on its way to tokyo when paris was lost"


def _at(at_ns: int) -> str:
    return f"{in_seconds(at_ns):>8} s"
