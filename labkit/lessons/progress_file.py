"""Progress file: what a reader predicted and did, in a small file beside the notebooks, without any clock time.

1. It is written whole, beside the old one first, so that it is never found half written.
2. One that cannot be read is kept under another name, and begun again; where nothing can be written, what is new is
   remembered until the kernel ends.  Both are said, and stop nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAME = ".labkit-lessons.json"
UNREADABLE = ".labkit-lessons.unreadable.json"
SEEN, WITH_HELP, ALONE, AGAIN = "seen", "with help", "alone", "again later"

_unwritten: dict[Path, dict[str, Any]] = {}


class ProgressFile:
    """The records of one folder by key, such as ``06/check/fence``; ``trouble`` says what went wrong with the file."""

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / NAME
        self.trouble = ""

    def __repr__(self) -> str:
        return f"ProgressFile({self.path})"

    def read(self) -> dict[str, dict[str, Any]]:
        """Return all records."""
        kept = _unwritten.get(self.path.absolute())
        if kept is not None:
            return kept
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            if isinstance(found, dict) and all(isinstance(row, dict) for row in found.values()):
                return found
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            pass
        self._put_aside()
        return {}

    def get(self, key: str) -> dict[str, Any]:
        """Return one record, empty where there is none."""
        return dict(self.read().get(key, {}))

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Write one record."""
        self.write({**self.read(), key: record})

    def write(self, records: dict[str, dict[str, Any]]) -> None:
        """Write all records, in place of those there were."""
        beside = self.path.with_suffix(".new")
        try:
            beside.write_text(json.dumps(records, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            beside.replace(self.path)
        except OSError as error:
            _unwritten[self.path.absolute()] = records
            self.trouble = f"{self.path} cannot be written ({error.strerror}): this is remembered until the kernel ends"

    def _put_aside(self) -> None:
        try:
            self.path.replace(self.path.with_name(UNREADABLE))
            self.trouble = f"{self.path} could not be read: it is now called {UNREADABLE}, and a new one is begun"
        except OSError as error:
            self.trouble = f"{self.path} cannot be read ({error.strerror})"
