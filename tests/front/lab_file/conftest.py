"""A small lab, and its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit import Lab
from labkit.front.lab_file.lab_file import LabFile, packed
from labkit.lab.plan.blueprint import Blueprint, ClusterPlan
from labkit.lab.snapshot import Snapshot


@pytest.fixture(scope="session")
def small_snapshot() -> Snapshot:
    """One node that took a write."""
    plan = ClusterPlan(name="one", site="here", nodes=1, shares=1, threshold=1)
    lab = Lab(Blueprint(sites=("here",), clusters=(plan,), links=()), seed=7)
    lab.run("1s")
    lab["one"].post("secret/data/app", {"data": {"user": "ada"}})
    return lab.snapshot()


@pytest.fixture(scope="session")
def small_bytes(small_snapshot: Snapshot) -> bytes:
    """The bytes of its file."""
    return packed(LabFile(snapshot=small_snapshot, written_by="labkit"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test may write a file."""
    return tmp_path / "x.lab"
