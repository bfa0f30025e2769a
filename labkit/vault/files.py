"""Files: what a service writes beside its store, such as audit lines; never on the disk of the machine it runs on."""

from __future__ import annotations

from collections.abc import Mapping


class Files:
    """Simulated files by path, each a list of lines."""

    __slots__ = ("lines",)

    def __init__(self, lines: Mapping[str, tuple[bytes, ...]] | None = None) -> None:
        self.lines: dict[str, list[bytes]] = {path: list(written) for path, written in (lines or {}).items()}

    def append(self, path: str, line: bytes) -> None:
        """Add a line to a file; a missing file is created."""
        self.lines.setdefault(path, []).append(line)

    def state(self) -> dict[str, tuple[bytes, ...]]:
        """Return the files as plain values."""
        return {path: tuple(lines) for path, lines in self.lines.items()}
