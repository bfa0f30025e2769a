"""Run blocks: what one scenario file is played with, cut into parts that are tests of their own.

1. A file is read once; its combinations are known without its models, and each part checks the one that it plays.
2. The parts stand in the order in which they are written and are called alike in every process.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import NamedTuple

from labkit.scenario.documents.combination import Combination
from labkit.scenario.documents.matrix import combinations_of, named
from labkit.scenario.documents.shared_lab import with_shared_lab
from labkit.scenario.documents.yaml_positions import Document, read
from labkit.scenario.file_parts import MAX_SEEDS
from labkit.scenario.loading import interpret
from labkit.scenario.problems import ScenarioError
from labkit.scenario.scenario import Scenario

MAX_BLOCK_SEEDS = 50
SPANNING = ("sometimes", "covers")
"""What is judged over all seeds of a combination, which are one block then."""


class RunBlock(NamedTuple):
    """One combination of a file and some seeds; none for the file's own."""

    document: Document
    combination: Combination
    seeds: range | None

    @property
    def id(self) -> str:
        """What is beside the file's name in the name of a test: ``latency=80ms-nodes=3-seeds 0-49``."""
        return "-".join(part for part in (self.combination.id, self.seeds_text) if part)

    @property
    def seeds_text(self) -> str:
        """Its seeds: ``seeds 0-49``, ``seed 50``; empty for the file's own."""
        if self.seeds is None:
            return ""
        first, last = self.seeds[0], self.seeds[-1]
        return f"seed {first}" if first == last else f"seeds {first}-{last}"

    def scenario(self) -> Scenario:
        """Check the file with this combination; raise ScenarioError with everything that is wrong with it."""
        try:
            return interpret(self.document, self.combination)
        except ScenarioError as error:
            problems = {problem: [self.combination] for problem in error.problems}
            raise self.document.error(named(problems, 1, self.document)) from None


def run_blocks(path: str | PathLike[str], most_seeds: int | None = None) -> tuple[RunBlock, ...]:
    """Read a file and return its blocks, with at most so many seeds of each combination.

    ScenarioError says why its combinations or seeds cannot be known.
    """
    document = with_shared_lab(read(path))
    combinations, problems = combinations_of(document)
    if document.problems or problems:
        raise document.error([*document.problems, *problems])
    data = document.data if isinstance(document.data, dict) else {}
    written = data.get("seeds")
    count = written if type(written) is int and 1 <= written <= MAX_SEEDS else 0
    seeds = range(count if most_seeds is None else min(count, most_seeds))
    size = max(1, len(seeds)) if any(key in data for key in SPANNING) else MAX_BLOCK_SEEDS
    parts: list[range | None] = [*_parts(seeds, size)] or [None]
    return tuple([RunBlock(document, combination, part) for combination in combinations for part in parts])


def _parts(seeds: range, size: int) -> Iterator[range]:
    return (seeds[start : start + size] for start in range(0, len(seeds), size))
