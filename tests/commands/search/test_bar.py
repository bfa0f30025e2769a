"""Bar: it is shown on a terminal and nowhere else, and ends with the work."""

from __future__ import annotations

import io
import sys

import pytest

from labkit.commands.search.bar import bar


class Terminal(io.StringIO):
    """A stream that says that a reader sees it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "shown"), [(Terminal(), True), (io.StringIO(), False)])
def test_only_a_terminal_shows_it(stream: io.StringIO, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with bar(4, "sweeping", "run") as grow:
        grow()
        grow(3)

    assert ("sweeping" in stream.getvalue()) == shown
