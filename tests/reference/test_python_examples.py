"""The examples of names: each runs by itself, uses its name, and says what comes of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from labkit import Cloud, Lab, Vault
from labkit.lab.snapshot import Snapshot
from labkit.reference.examples import EXAMPLES as FILES
from labkit.reference.python_examples import CLUSTER, EXAMPLES, LAB, MEASURES, ON_PAGE, REQUESTS, VAULT
from tests.reference import snippets

SLOW = ("Lab", "Measures", "Vault", "Cloud", "Cluster")


@pytest.fixture(scope="module")
def replicating() -> Snapshot:
    """The lab of the examples."""
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    lab.run("2s")
    return lab.snapshot()


def names(replicating: Snapshot) -> dict[str, Any]:
    """What the examples have at hand."""
    lab, vault = Lab.restore(replicating), Vault.dev(seed=7)
    of_lab = {"cluster": lab["paris"], "secondary": lab["tokyo"], "ledger": lab.ledger, "measures": lab.measures}
    beside = {"vault": vault, "cloud": vault.cloud, "picture": lab.map()}
    return {"Lab": Lab, "Vault": Vault, "Cloud": Cloud, "lab": lab, **of_lab, **beside}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow if kind in SLOW else ()) for kind in EXAMPLES]
)
def test_each_example_runs_by_itself(
    kind: str, replicating: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drill.lab.yaml").write_text(FILES["replicate"].text)

    assert [wrong for text in EXAMPLES[kind].values() for wrong in snippets.run([text], names(replicating))] == []


@pytest.mark.parametrize("kind", EXAMPLES)
def test_an_example_uses_its_name(kind: str) -> None:
    holders = {
        "Lab": r"(?:Lab|lab|fresh)",
        "Cluster": r"(?:cluster|secondary|\])",
        "Vault": "[Vv]ault",
        "Cloud": "[Cc]loud",
    }
    holder = holders.get(kind, kind.lower())

    assert [name for name, text in EXAMPLES[kind].items() if not re.search(rf"{holder}\.{name}\b", text)] == []


def test_every_class_stands_on_one_page() -> None:
    assert sorted(kind for kinds in ON_PAGE.values() for kind in kinds) == sorted(EXAMPLES)


def test_requests_are_those_of_whatever_answers() -> None:
    assert set(REQUESTS) < set(CLUSTER)
    assert set(REQUESTS) < set(VAULT)
    assert not set(REQUESTS) & {*LAB, *MEASURES}
