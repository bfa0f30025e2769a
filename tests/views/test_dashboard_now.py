"""What makes no sense with what is chosen is named with its reason; nothing else is."""

from __future__ import annotations

import pytest

from labkit import Lab
from labkit.scenario.acts import ACTS
from labkit.views.acts_now import acts_now
from labkit.views.dashboard_now import BETWEEN_SITES, CONTROLS, PAST, Chosen, not_now, reasons_of
from labkit.views.dashboard_words import WORDS

CHOSEN = Chosen("paris", "paris", "tokyo", "paris", "tokyo", "restart", "restore")


@pytest.fixture
def lab() -> Lab:
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    return lab


def reasons(lab: Lab, **chosen: str) -> dict[str, str]:
    return not_now(acts_now(lab.queries), CHOSEN._replace(**chosen))


def test_every_control_is_one_of_the_dashboard_and_every_verb_one_of_the_lab() -> None:
    assert {*CONTROLS, *BETWEEN_SITES} <= set(WORDS)
    for verb, pairs in CONTROLS.values():
        assert {parameter for parameter, _ in pairs} <= {parameter.name for parameter in ACTS[verb].parameters}
        assert {field for _, field in pairs} <= set(Chosen._fields)


def test_roles_decide(lab: Lab) -> None:
    found = reasons(lab)
    assert found["promote"] == "not for paris, but for tokyo"
    assert found["replicate"] == "every cluster replicates already or has no leader"
    assert {"demote", "failover", "crash", "seal"} & found.keys() == set()
    assert reasons(lab, cluster="tokyo", other="paris")["failover"] == "not for tokyo, but for paris"
    assert "promote" not in reasons(lab, cluster="tokyo")
    assert "repoint" not in reasons(lab, cluster="tokyo", other="paris")


def test_states_of_nodes_decide(lab: Lab) -> None:
    assert reasons(lab)["restart"] == reasons(lab)["undo node fault"] == "no node is down"
    lab.crash("paris")
    found = reasons(lab, target="paris-1")
    assert found["crash"].startswith("not for paris-1, but for tokyo, tokyo-1, tokyo-2, …")
    assert {"restart", "undo node fault"} & found.keys() == set()


def test_lines_decide(lab: Lab) -> None:
    assert reasons(lab)["heal"] == reasons(lab)["heal all"] == "no line is cut"
    assert reasons(lab)["undo line fault"] == "no line is under a fault"
    lab.partition("paris", "tokyo")
    assert {"heal", "heal all", "partition"} & reasons(lab).keys() == set()
    assert reasons(lab, there="paris")["partition"] == "choose two sites"


def test_reasons_are_listed_and_acts_are_named_before() -> None:
    shown = reasons_of({"now": "it is <now>", "restart": "no node is down"})

    assert "<summary>Not now: Restart</summary>" in shown
    assert "<li>Now: it is &lt;now&gt;</li>" in shown
    assert "<li>Restart: no node is down</li>" in shown
    assert reasons_of({}) == ""
    assert reasons_of({"restart": PAST, "crash": PAST}) == f"<p>Not now: {PAST}</p>", "one reason is said once"
