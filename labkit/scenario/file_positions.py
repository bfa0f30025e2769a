"""File positions: where in its file each expectation, each step and each condition over time of a scenario is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from labkit.scenario.documents.yaml_positions import Document, parse
from labkit.scenario.expect_keys import BY_NAME, WORDS
from labkit.scenario.problems import FilePosition
from labkit.scenario.timed.timed_sections import timed_positions


class FilePositions(Mapping[str, FilePosition]):
    """Where each of them is in these lines, which are read again for it: a run that passes asks for none."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self._lines = lines

    @cached_property
    def _found(self) -> dict[str, FilePosition]:
        return dict(_positions(parse("\n".join(self._lines).encode(), "")))

    def __getitem__(self, key: str) -> FilePosition:
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _positions(document: Document) -> Iterator[tuple[str, FilePosition]]:
    """Yield where each expectation and each step is."""
    expect = document.data.get("expect", {})
    for key, value in expect.items():
        inner = value if key in (*WORDS, *BY_NAME, "observed", "invariants", "steps") else ()
        for name in inner:
            yield (
                f"{key} {name}" if key in (*WORDS, *BY_NAME, "steps") else name,
                document.key_position(("expect", key, name)),
            )
        if not inner:
            yield key, document.key_position(("expect", key))
    for index in range(len(document.data.get("timeline", []))):
        yield f"step {index + 1}", document.position(("timeline", index))
        yield f"step {index + 1} at", document.position(("timeline", index, "at"))
    yield from timed_positions(document)
