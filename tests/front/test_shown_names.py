"""Completion offers what the pages list, and nothing else: a new name is shown, or said to be for builders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from labkit import Cloud, Lab, Vault
from labkit.reference.python_examples import EXAMPLES

OWN = {
    "Lab": "",
    "Cluster": "judge_large",
    "Vault": """act carry_out core environment forked handle is_for_active_node judge_large look_ahead meet next_due
        reload_keyring resolved resume route_of serial set_leadership state status take_aim tick try_request
        use_files""",
    "Cloud": "answer beside clock delay_ns failures filled follow handle observe parts state takes_ns use",
    "Ledger": """awaited commit end failed_asks first_after histories outages outcomes read_log state tokens unknown
        waiting""",
    "Measures": "",
    "Picture": "columns count elements index rows",
}
"""{class: the names without an underscore that are not for users}."""


@pytest.fixture(scope="module")
def held() -> dict[str, Any]:
    """One of each thing."""
    lab, vault = Lab.pair(seed=7), Vault.dev(seed=7)
    of_lab = {"Cluster": lab["paris"], "Ledger": lab.ledger, "Measures": lab.measures, "Picture": lab.map()}
    return {"Lab": lab, "Vault": vault, "Cloud": Cloud.dev(), **of_lab}


def public(names: Iterable[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_name_is_shown_or_no_users(kind: str, held: dict[str, Any]) -> None:
    assert public(object.__dir__(held[kind])) == {*EXAMPLES[kind], *OWN[kind].split()}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_completion_offers_what_the_pages_list(kind: str, held: dict[str, Any]) -> None:
    offered = dir(held[kind])

    assert public(offered) == {*EXAMPLES[kind]}
    assert "__class__" in offered


@pytest.mark.parametrize("kind", [kind for kind in EXAMPLES if kind not in ("Measures", "Picture")])
def test_what_is_private_is_not_listed_either(kind: str, held: dict[str, Any]) -> None:
    assert [name for name in dir(held[kind]) if name.startswith("_") and not name.endswith("__")] == []
