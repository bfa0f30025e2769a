"""No test measures time: a machine that is busy makes it another, and such a test fails for nothing.

What grows too fast is found by counting: calls (``tests/counting.py``), statements, bytes, records.  How long something
takes is measured in ``tests/bench``; a test that waits for a real server in ``tests/doors`` has a deadline.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

CLOCKS = {
    *("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"),
    *("process_time", "process_time_ns", "thread_time", "thread_time_ns", "clock_gettime", "clock_gettime_ns"),
}

MAY_READ_CLOCKS = {
    "tests/bench": "measures",
    "tests/doors": "waits for real servers",
    "tests/conftest.py": "guards the clocks",
    "tests/house/test_guard.py": "tries that guard",
    "tests/mutants/__main__.py": "prints how long it took",
    "tests/hunt/test_shrinking.py": "prints how long shrinking took",
    "tests/torture/test_served_door.py": "waits for a real server",
    "tests/test_real.py": "sets the real clock against the system's",
}


def test_no_test_measures_time(checkout: Path) -> None:
    found = []
    for path in sorted((checkout / "tests").rglob("*.py")):
        name = path.relative_to(checkout).as_posix()
        if not any(name == place or name.startswith(f"{place}/") for place in MAY_READ_CLOCKS):
            found += [f"{name}:{line}: reads {clock}; count calls instead" for line, clock in clocks(path.read_text())]
    assert found == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from time import sleep, perf_counter as now", [(1, "perf_counter")]),
        ("import time\nsleep = time.sleep\nbegan = time.monotonic_ns()", [(3, "monotonic_ns")]),
        ("import time as clock\nclock.time()", [(2, "time")]),
        ("import timeit", [(1, "timeit")]),
        ("from timeit import timeit", [(1, "timeit")]),
        ("import time\nvault.time()", []),
        ("name = 'time.time'", []),
    ],
)
def test_a_clock_is_found_however_it_is_named(text: str, found: list[tuple[int, str]]) -> None:
    assert clocks(text) == found


def clocks(text: str) -> list[tuple[int, str]]:
    """The clocks that a module reads, each with its line."""
    if not re.search(r"^\s*(import|from) .*\btime", text, re.MULTILINE):
        return []
    found, modules = [], set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, "timeit") for alias in node.names if alias.name == "timeit"]
            modules |= {alias.asname or alias.name for alias in node.names if alias.name == "time"}
        elif isinstance(node, ast.ImportFrom) and node.module in ("time", "timeit"):
            found += [(node.lineno, alias.name) for alias in node.names if alias.name in {*CLOCKS, "timeit"}]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            found += [(node.lineno, node.attr)] if node.attr in CLOCKS else []
    return found
