"""The system's groups: each loaded when it is asked for, and no path twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from labkit.service.errors import NotFound, Unsupported
from labkit.vault.system.table import TABLE


def test_every_group_answers_under_its_own_segment() -> None:
    for route in TABLE.routes:
        assert route.pattern.split("/")[0] in TABLE.modules, route
    patterns = [(route.operation, route.pattern) for route in TABLE.routes]
    assert len(set(patterns)) == len(patterns)
    assert {route.pattern.split("/")[0] for route in TABLE.routes} == set(TABLE.modules)


def test_a_path_of_no_group_is_not_supported() -> None:
    with pytest.raises(NotFound, match="unsupported path"):
        TABLE.match("read", "nonsense")
    with pytest.raises(NotFound, match="unsupported path"):
        TABLE.match("read", "mounts/")
    with pytest.raises(Unsupported):
        TABLE.match("patch", "mounts")


def test_only_the_group_that_is_asked_for_is_loaded(checkout: Path) -> None:
    code = (
        "import sys\nfrom labkit.vault.system.table import TABLE\nTABLE.match('read', 'health')\n"
        "print(*(name for name in sys.modules if name.startswith('labkit.vault.system.')))"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["labkit.vault.system.table", "labkit.vault.system.health"]


def test_the_answer_says_so(service) -> None:
    unknown = service.get("sys/nonsense")
    assert (unknown.status, unknown.errors) == (404, ["1 error occurred:\n\t* unsupported path\n\n"])
    assert service.list("sys/mounts").status == 404
    assert service.delete("sys/mounts").status == 405


def test_a_refusal_that_is_kept_gathers_no_frames(service) -> None:
    def frames() -> int:
        (kept,) = (found for key, (found, _) in service.core.caches.routes.items() if key.endswith("sys/nonsense"))
        trace, count = kept.match.__traceback__, 0
        while trace is not None:
            trace, count = trace.tb_next, count + 1
        return count

    service.get("sys/nonsense")
    once = frames()
    for _ in range(5):
        service.get("sys/nonsense")
    assert frames() == once
