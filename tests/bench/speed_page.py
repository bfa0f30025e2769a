"""Speed page: measures where time goes, and writes picture, profile and figures of ``labkit help speed`` again.

    python tests/bench/speed_page.py [--keep]

A timer interrupts the work each few milliseconds of the processor and notes which file of labkit is at work; what the
standard library or a primitive does counts for the file that called it.  Files are added up to parts.  With
``--keep`` no time is measured: what is kept is drawn again, and the counts are written into the page, those of the
tests and those of ``least_work``.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import process_time
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit.front import gallery, speed_chart
from labkit.front.speed_chart import Profiled
from tests.bench import least_work
from tests.bench.lab_rows import under_load
from tests.bench.part_names import OF_A_LAB, OF_A_REQUEST, part_of
from tests.house import test_lab_work, test_work

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = f"{CHECKOUT / 'labkit'}/"
PAGE = CHECKOUT / "labkit" / "reference" / "speed.md"
SAMPLED_S, INTERVAL_S, SLICE, TIMED = 8.0, 0.001, 200, 9
REQUESTS = ("KV write", "KV read", "transit encrypt", "token create", "login")
WRITE = "a replicated write"


def file_of(frame: FrameType | None) -> str:
    """Return the file of the package that is at work in a frame, or asked for it; empty for none."""
    while frame is not None and not frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename[len(PACKAGE) :] if frame is not None else ""


def sampled(work: Callable[[], int], seconds: float) -> tuple[Counter[str], float]:
    """Do some work again and again; return the samples by file, and the least microseconds of one."""
    samples: Counter[str] = Counter()

    def note(number: int, frame: FrameType | None) -> None:
        samples[file_of(frame)] += 1

    each_s = min([_each_s(work) for _ in range(TIMED)])
    before = signal.signal(signal.SIGPROF, note)
    ends = process_time() + seconds
    signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)
    try:
        while process_time() < ends:
            work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return samples, each_s * 1e6


def _each_s(work: Callable[[], int]) -> float:
    began = process_time()
    done = work()
    return (process_time() - began) / done


def shares(samples: Counter[str], parts: dict[str, tuple[str, ...]]) -> tuple[tuple[str, int], ...]:
    """Return the shares of the parts in per mille, the largest first; what belongs to none is left out."""
    found: Counter[str] = Counter()
    for file, count in samples.items():
        found[part_of(file, parts)] += count
    found.pop("", None)
    total = sum(found.values())
    return tuple([(part, round(count * 1_000 / total)) for part, count in found.most_common()])


def measured(seconds: float) -> tuple[Profiled, ...]:
    """Measure all kinds of work."""
    rows = []
    for name in REQUESTS:
        ask = test_work.prepared(name)

        def slice_of(ask: Callable[[], object] = ask) -> int:
            for _ in range(SLICE):
                ask()
            return SLICE

        slice_of()
        samples, each_us = sampled(slice_of, seconds)
        rows.append(Profiled("requests to a vault", name, round(each_us, 1), shares(samples, OF_A_REQUEST)))
    lab = under_load()

    def run_on() -> int:
        before = len(lab.ledger.writes)
        lab.run("10s")
        return len(lab.ledger.writes) - before

    samples, each_us = sampled(run_on, 2 * seconds)
    return (*rows, Profiled("in a lab of three busy clusters", WRITE, round(each_us, 1), shares(samples, OF_A_LAB)))


def counts() -> str:
    """Return the counts that the tests hold as a table."""
    lines = ["| work | calls | keys written | encrypted | decrypted |", "| --- | --: | --: | --: | --: |"]
    for name, work in test_work.WRITTEN_DOWN.items():
        numbers = (work.calls, work.written + work.deleted, work.encrypted, work.decrypted)
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    lines += [f"| {name} | {calls:,} | – | – | – |" for name, calls in test_lab_work.WRITTEN_DOWN.items()]
    return "\n".join(lines)


def with_part(page: str, heading: str, text: str) -> str:
    """Return a page whose fenced text or table below a heading is another."""
    before, found, after = page.partition(f"\n## {heading}\n")
    if not found:
        raise ValueError(f"the page has no heading {heading!r}")
    fence = "```" in text
    lines = after.split("\n")
    begins = [number for number, line in enumerate(lines) if line.startswith("```" if fence else "|")]
    first = begins[0]
    last = begins[1] if fence else next(n for n in range(first, len(lines)) if not lines[n].startswith("|")) - 1
    return before + found + "\n".join([*lines[:first], text, *lines[last + 1 :]])


def written(page: str) -> str:
    """Return the page with what is kept of profile and counts."""
    twin = f"```\n{speed_chart.as_text(speed_chart.read())}\n```"
    return with_part(with_part(page, "where the time goes", twin), "counted calls", counts())


def with_least(page: str) -> str:
    """Return the page with what requests and labs take at least, counted now."""
    page = with_part(page, "what a request takes at least", least_work.request_table())
    return with_part(page, "what a lab takes at least", least_work.lab_table())


def main(arguments: list[str]) -> None:
    """Measure unless what is kept is wanted; write profile, picture and page."""
    parser = argparse.ArgumentParser(description="Measure where time goes, and write the page of speed again.")
    parser.add_argument("--keep", action="store_true", help="measure no time: draw and count what is kept again")
    if not parser.parse_args(arguments).keep:
        speed_chart.write(measured(SAMPLED_S))
    gallery.keep(gallery.FOLDER)
    PAGE.write_text(with_least(written(PAGE.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
