"""Experiments: what a file is played as: one for each choice of values, checked before anything is played.

An experiment is text that a worker on any machine can play: a file that shares a lab has that in it, and values are
put in.  Its digest is that of what is played, of its values and of this labkit, so the same digest means the same runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from labkit.hunt.sweeping.settings import Setting, UnusableSetting, Values, value_at, values_of, with_values
from labkit.hunt.writing import written
from labkit.scenario.documents.combination import NO_COMBINATION, Combination
from labkit.scenario.documents.matrix import MATRIX, checked, combinations_of, is_use, named, put_in
from labkit.scenario.documents.shared_lab import with_shared_lab
from labkit.scenario.documents.yaml_positions import Document, read
from labkit.scenario.loading import interpret, loads
from labkit.scenario.problems import ScenarioError
from labkit.scenario.scenario import Scenario

DIGEST_BYTES = 10
TITLE = "scenario"
NOT_PLAYED = (TITLE, "about", "lesson", "seed", "seeds", MATRIX)
"""Keys of a file that change no run."""

MAX_EXPERIMENTS = 256


class TooManyExperiments(ValueError):
    """More choices of values than one sweep plays."""


class Experiment(NamedTuple):
    """What is played with many seeds: its title, its values, its text, and the digest of all that decides a run."""

    title: str
    values: Values
    text: str
    digest: str

    @property
    def combination(self) -> Combination:
        """Its values as a combination, which knows how they are written."""
        return Combination(self.values)

    def scenario(self, seed: int) -> Scenario:
        """Return the scenario with a seed."""
        return replace(loads(self.text.encode(), self.title), seed=seed, seeds=0)


def experiments_of(path: str, settings: tuple[Setting, ...] = ()) -> tuple[Experiment, ...]:
    """Read a file, and check it with every choice of values; ScenarioError says what is wrong.

    Raise UnusableSetting where a setting leads nowhere in the file.
    """
    document = with_shared_lab(read(path))
    if settings and document.problems:
        raise document.error(document.problems)
    _refuse_places_of_the_matrix(document, settings)
    count = prod(len(setting.values) for setting in settings) * len(combinations_of(document).found)
    if count > MAX_EXPERIMENTS:
        raise TooManyExperiments(f"expected at most {MAX_EXPERIMENTS} choices of values, got {count:,}")
    found: list[Experiment] = []
    for values in values_of(settings):
        found += _with(replace(document, data=with_values(document.data, values)), values)
    return tuple(found)


def digest_of(*parts: Any) -> str:
    """Return the digest of plain values."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()


@lru_cache(1)
def code_digest() -> str:
    """Return the digest of this labkit: of every module and table of it, for each of them may change a run."""
    folder = Path(__file__).resolve().parents[2]
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".txt"))
    found = blake2b(digest_size=DIGEST_BYTES)
    for path in files:
        found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def _refuse_places_of_the_matrix(document: Document, settings: tuple[Setting, ...]) -> None:
    """Refuse a setting in whose place the matrix puts its values: rows would have these, and none would be played."""
    has_matrix = isinstance(document.data, dict) and document.data.get(MATRIX) is not None
    for setting in settings if has_matrix else ():
        before = value_at(document.data, setting.place)
        if is_use(before):
            text = f"expected a place that the matrix leaves alone, got that of {before}; change the values there"
            raise UnusableSetting(f"--set: {setting.place}: {text}")


def _with(document: Document, values: Values) -> Iterator[Experiment]:
    """Yield the experiments of a document: one for each combination of its matrix."""
    document, combinations = checked(document)
    for combination in combinations:
        try:
            title = interpret(document, combination).title
        except ScenarioError as error:
            chosen = Combination((*values, *combination.values))
            problems = {problem: [chosen if chosen.values else NO_COMBINATION] for problem in error.problems}
            raise document.error(named(problems, 1, document)) from None
        played = {key: value for key, value in put_in(document, combination).data.items() if key != MATRIX}
        text = written(played)
        all_values = (*values, *combination.values)
        kept = {key: value for key, value in played.items() if key not in NOT_PLAYED}
        yield Experiment(title, all_values, text, digest_of(kept, all_values, code_digest()))
