"""Drill: a way through the model of replication as a scenario file, where the lab can play it.

1. Writes, cuts and changes of an active node keep their order; which messages are on their way at each is the lab's
   business.  So the file plays what happened around the two sides, not each step of theirs.
2. A cut is a partition of the line, which loses what is on its way.  The lab's links hold back, lose and repeat no
   single message, so a way through another network has no file.
3. The smallest backlog of a lab is larger than that of most searches: each write stands for as many as make up for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from labkit.proof.bounds import Bounds
from labkit.proof.primary import SHARED
from labkit.proof.steps import CAUGHT, CUT, GAVE_UP, RESTARTED, TOOK_OVER, WROTE, Occurrence

MIN_BACKLOG = 8
PLAYABLE = ("ordered", "destroying")
CANNOT = "the lab cannot play it: its links hold back, lose and repeat no single message"

HEAD = """\
scenario: A way that a search found
about: >
  {why}.
seed: 7

lab:
  sites: [paris, tokyo]
  links:
    - {{between: [paris, tokyo], latency: 80ms}}
  clusters:
    paris: {{site: paris, backlog: {backlog}}}
    tokyo: {{site: tokyo, backlog: {backlog}}}

timeline:
  - {{do: replicate, primary: paris, secondary: tokyo, at: 1s}}
"""
"""The file up to its second step."""


def drill(way: Iterable[Occurrence], bounds: Bounds, why: str) -> str:
    """Return the text of a scenario file; empty where the lab cannot play the way."""
    if bounds.network not in PLAYABLE:
        return ""
    factor = max(1, -(-MIN_BACKLOG // bounds.backlog))
    head = HEAD.format(why=why[0].upper() + why[1:], backlog=factor * bounds.backlog)
    flat = [step for event in way for step in _flat(event)]
    steps = "".join(f"  - {step}\n" for step in _steps(flat, factor, bounds.network == "destroying"))
    return f"{head}{steps}settle: 30s\n\nexpect: {{}}\n"


def _flat(event: Occurrence) -> Iterator[Occurrence]:
    """Yield an event, and the cut that catches what it asks, as two."""
    if event.kind == CAUGHT:
        yield from _flat(event.about)
        yield Occurrence(CUT)
    else:
        yield event


def _steps(way: list[Occurrence], factor: int, cuts: bool) -> Iterator[str]:
    """Yield the steps of the timeline."""
    numbers = {"tokyo": 0, "paris": 0}
    written = 0
    for place, event in enumerate(way):
        if event.kind == WROTE:
            written += 1
            yield from _written(event, written, factor)
        elif event.kind == CUT and cuts:
            until_silence = any(later.kind == GAVE_UP for later in way[place:])
            yield "{do: partition, between: [paris, tokyo], after: 40ms}"
            yield f"{{do: heal, between: [paris, tokyo], after: {'20s' if until_silence else '1s'}}}"
        elif event.kind in (RESTARTED, TOOK_OVER):
            cluster = "tokyo" if event.kind == RESTARTED else "paris"
            numbers[cluster] += 1
            if numbers[cluster] < 3:
                yield f"{{do: crash, target: {cluster}-{numbers[cluster]}, after: 40ms}}"


def _written(event: Occurrence, number: int, factor: int) -> Iterator[str]:
    key, value = event.about
    name = "x" if key == SHARED else "y"
    path, body = f"secret/data/{name}", f"body: {{data: {{number: {number}}}}}"
    if value is None:
        yield f"{{do: ask, cluster: paris, method: DELETE, path: secret/metadata/{name}, after: 40ms}}"
    else:
        yield f"{{do: ask, cluster: paris, method: POST, path: {path}, {body}, after: 40ms}}"
    for _ in range(factor - 1):
        yield f"{{do: ask, cluster: paris, method: POST, path: secret/data/more, {body}, after: 1ms}}"
