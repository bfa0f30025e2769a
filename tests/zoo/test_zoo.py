"""The zoo: each mistake breaks its rule in a small file and the shipped code in none; rates and sizes are kept.

Campaigns are too long for a test: ``make zoo`` plays them.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab
from labkit.hunt.findings import EXCEPTION
from labkit.hunt.world import World
from labkit.lab.invariants import STANDING, rules
from labkit.lab.nodes import replication_link
from labkit.proof.planted_bugs import PLANTED_BUGS
from labkit.vault.replication.sync import on
from tests.zoo import measuring
from tests.zoo.measuring import Ended, Played, grown, pinned
from tests.zoo.mistakes import CONTROLS, ZOO
from tests.zoo.planting import EXPLORE, FILE, PROVE, planted

FILES = Path(__file__).with_name("files")
BUSY = FILES / "busy.yaml"
IN_A_FILE = [name for name, mistake in ZOO.items() if mistake.finder != PROVE]
QUICK = ("version-reused", "streams-shared", "tokens-observed")
TABLE: dict[str, dict[str, Any]] = json.loads(measuring.TABLE.read_text())


def file_of(name: str) -> Path:
    """The file that shows a mistake: its own, or the one for all."""
    own = FILES / f"{name}.yaml"
    return own if own.exists() else BUSY


def played(path: Path, rule: str = "") -> Lab:
    """The lab of a file, played until a rule breaks, else to its end."""
    lab = Lab.load(str(path))
    run: Any = lab.scenario
    lab.run(until=lambda lab: rule in lab.invariants.broken or run.ended)
    return lab


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in IN_A_FILE]
)
def test_a_mistake_breaks_its_rule_in_a_file(name: str):
    rule = ZOO[name].rule
    with planted(ZOO[name]):
        broken = played(file_of(name), rule).invariants.broken

    assert rule in broken


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FILES.glob("*.yaml")), ids=lambda path: path.name.partition(".")[0])
def test_the_shipped_code_keeps_every_rule_in_it(path: Path):
    lab = played(path)
    rule = rules.CATCHING_UP if path == BUSY else ZOO[path.name.partition(".")[0]].rule

    assert lab.invariants.broken == {}
    assert lab.invariants.applies(rule)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CONTROLS if name != "clean"])
def test_a_control_breaks_nothing(name: str):
    with planted(CONTROLS[name]):
        assert played(BUSY).invariants.broken == {}


def test_the_zoo_and_the_bugs_of_prove_are_one_list():
    assert len(ZOO) >= 30
    assert len(CONTROLS) == 5
    assert set(PLANTED_BUGS) <= set(ZOO) | set(CONTROLS)
    of_prove = {name for name, mistake in ZOO.items() if mistake.finder == PROVE}
    assert of_prove <= set(PLANTED_BUGS)
    assert all(ZOO[name].about == bug.about for name, bug in PLANTED_BUGS.items() if name in ZOO)


def test_every_entry_has_its_rule_and_every_rule_that_a_service_can_break_its_entry():
    assert all(ZOO[name].rule in STANDING for name in IN_A_FILE)
    unbroken = {rules.WITHIN_LAG, rules.ONLY_LEADER}  # the first by none alone, the second by a store without fencing
    assert {ZOO[name].rule for name in IN_A_FILE} == set(STANDING) - unbroken
    assert all(control.harmless for control in CONTROLS.values())
    assert Counter(mistake.finder for mistake in ZOO.values()).keys() == {PROVE, EXPLORE, FILE}


def test_nothing_stays_planted():
    with planted(ZOO["gives-up"]):
        assert replication_link.__dict__["on"] is not on
    assert replication_link.__dict__["on"] is on


def test_the_table_has_a_row_for_each_and_its_sizes_are_those_of_the_rates():
    assert set(TABLE) == {*ZOO, *CONTROLS}
    for name, row in TABLE.items():
        assert row["pinned"] == pinned(row["found"], row["seeds"])
        assert row["found"] <= row["differ"] <= row["seeds"]
        assert (row["found"] > 0) == (row["first"] >= 0)
        if name in ZOO and ZOO[name].finder == EXPLORE:
            assert row["found"], f"{name} is not found by a campaign"
            assert row["first"] < row["pinned"], f"{name} is found only after its pinned number of schedules"
    assert all(TABLE[name]["other rules"] == [] for name in CONTROLS)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, mistake in ZOO.items() if mistake.finder == EXPLORE])
def test_the_first_seed_of_the_table_finds_a_mistake_today(name: str):
    assert ZOO[name].rule in measuring.play(TABLE[name]["first"], name).broken


@pytest.mark.parametrize(("found", "seeds", "size"), [(0, 100, 0), (100, 100, 1), (50, 100, 6), (1, 100, 1_694)])
def test_a_size_is_that_of_the_lower_bound(found: int, seeds: int, size: int):
    assert pinned(found, seeds) == size


QUIET, LOUD, OTHER = Played((), False), Played((rules.VERSION_ORDER, rules.ROOTS), True), Played((), True)


def test_a_row_is_gone_on_with():
    first = grown("version-reused", range(2), [QUIET, OTHER], {})
    second = grown("version-reused", range(2, 4), [QUIET, LOUD], first)

    assert (first["first"], second["first"]) == (-1, 3)
    assert (second["seeds"], second["found"], second["differ"]) == (4, 1, 2)
    assert second["other rules"] == [rules.ROOTS]
    assert grown("version-reused", range(4, 5), [LOUD], second)["first"] == 3


def test_only_seeds_that_are_not_measured_are_played_unless_schedules_or_code_are_others(tmp_path: Path, monkeypatch):
    table = tmp_path / "rates.json"
    seeds_played: list[int] = []

    def play(seed: int, name: str, clean: Ended) -> Played:
        seeds_played.append(seed)
        return QUIET

    monkeypatch.setattr(measuring, "TABLE", table)
    monkeypatch.setattr(measuring, "play", play)
    clean = [Ended("", "")] * 3

    for seeds in (range(2), range(3), range(3)):
        measuring.measured("version-reused", seeds, clean, 1)
    assert seeds_played == [0, 1, 2]

    table.write_text(table.read_text().replace(measuring.schedules(3), "others"))
    measuring.measured("version-reused", range(3), clean, 1)
    assert seeds_played == [0, 1, 2] * 2

    monkeypatch.setattr(measuring, "code", lambda: "others")
    measuring.measured("version-reused", range(3), clean, 1)
    assert seeds_played == [0, 1, 2] * 3


@pytest.mark.parametrize(("raised", "broken"), [(TimeoutError, ()), (KeyError, (EXCEPTION,))])
def test_a_run_that_does_not_end_is_no_exception_of_labkit(
    raised: type[Exception], broken: tuple[str, ...], monkeypatch
):
    def run(world: World, **how: Any) -> None:
        raise raised

    monkeypatch.setattr(World, "run", run)

    assert measuring.play(0, "version-reused") == Played(broken, True)


def test_a_run_is_compared_with_that_of_the_clean_build():
    ended = measuring.play_clean(0)

    assert measuring.play(0, "clean", ended) == Played((), differs=False)
    assert measuring.play(0, "clean", ended._replace(stored="other")).differs
    assert measuring.play(0, "clean", ended._replace(trace="other")).differs
    assert measuring.play(0, "tokens-observed", ended) == Played((rules.CLEAR_TEXT,), differs=True)
