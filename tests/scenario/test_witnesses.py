"""A fault that meets nothing is said, and makes the verdict unknown; one that has an effect is not."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from labkit.front.lab import Lab
from labkit.lab.fault_table import DECIDED, FAULTS
from labkit.reference.examples import EXAMPLES
from labkit.scenario.loading import load
from labkit.scenario.running import Run
from labkit.scenario.verb import FAULT
from labkit.scenario.verbs import VERBS
from labkit.scenario.verdict import Verdict
from labkit.scenario.witnesses import EFFECTS, NO_EFFECT, NONE_OF, NOTHING_DECIDED

Judged = Callable[[Lab], Verdict]
INERT = sorted(Path(__file__).with_name("inert").glob("*.yaml"))


def no_effect(verdict: Verdict) -> list[str]:
    return [f"{row.what}: {row.measured}" for row in verdict.rows if row.measured.startswith(NO_EFFECT)]


def played(path: Path, trace: bool) -> Lab:
    scenario = load(path)
    lab = Lab(scenario.blueprint, scenario.seed, trace=trace)
    lab.scenario = Run(lab.parts, lab.faults, lab.invariants, scenario)
    return lab


def test_there_are_ten_inert_files() -> None:
    assert len(INERT) >= 10


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("path", INERT, ids=lambda path: path.stem)
def test_a_fault_without_effect_is_said(path: Path, trace: bool, judged: Judged) -> None:
    lab = played(path, trace).run()
    verdict = judged(lab)
    said = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")

    assert no_effect(verdict) == [said]
    assert (verdict.exit_code, verdict.word) == (3, "unknown")
    assert lab.scenario is not None
    line = f"{path}:{verdict_line(path, said)}:"
    assert f"{said}; expected an effect, or idle: fine (unknown)" in verdict.report(lab.scenario.scenario, lab.trace)
    assert line in verdict.report(lab.scenario.scenario, lab.trace)


def verdict_line(path: Path, said: str) -> int:
    """The line of the step that a sentence names."""
    number = int(said.split(":")[0].removeprefix("step "))
    lines = path.read_text(encoding="utf-8").splitlines()
    return [at for at, line in enumerate(lines, 1) if line.startswith("  - {do: ")][number - 1]


@pytest.mark.parametrize("path", INERT, ids=lambda path: path.stem)
def test_a_file_may_allow_it(path: Path, scenario_file: Callable[..., Path], judged: Judged) -> None:
    text = path.read_text(encoding="utf-8")
    lines = [line.replace("}", ", idle: fine}") if line.startswith("  - {do: ") else line for line in text.splitlines()]
    allowed = [line.replace(", idle: fine, idle: fine", ", idle: fine") for line in lines]
    allowed = [line.replace(", idle: fine", "") if "replicate" in line else line for line in allowed]
    verdict = judged(Lab.load(scenario_file("\n".join(allowed))).run())

    assert verdict.exit_code == 0
    assert text.partition("\n")[0].removeprefix("# ") in no_effect(verdict)


@pytest.mark.parametrize("name", [verb.name for verb in VERBS.values() if verb.kind == FAULT])
def test_an_example_of_a_fault_shows_its_effect(name: str, scenario_file: Callable[..., Path], judged: Judged) -> None:
    verdict = judged(Lab.load(scenario_file(EXAMPLES[name].text)).run())

    assert no_effect(verdict) == []


SKEW = "  - {do: skew, target: paris, by: 90s, at: 4s}\n"
TOKEN = "  - {do: ask, cluster: paris, method: POST, path: auth/token/create, body: {ttl: 91s}, at: 3s}\n"
CRASH = "  - {do: crash, target: paris, at: 5s}"


@pytest.mark.parametrize(
    ("steps", "decided"),
    [
        (CRASH + "\n" + SKEW.replace("4s", "6s"), False),
        (SKEW + CRASH, False),  # writes are stamped with it, and nothing is decided
        (TOKEN + SKEW + CRASH, True),
        (SKEW + TOKEN.replace("3s", "4500ms") + CRASH, False),  # it is to end later
    ],
    ids=["nobody reads it", "it is read", "a token ends by it", "a token would end by it"],
)
@pytest.mark.parametrize("cut", [False, True])
def test_a_clock_by_which_nothing_is_decided_is_listed_and_not_judged(
    steps: str, decided: bool, cut: bool, vary: Callable[..., str], scenario_file: Callable[..., Path], judged: Judged
) -> None:
    lab = Lab.load(scenario_file(vary((CRASH, steps.rstrip()), ("lost: 0", "lost: {at most: 9}"))))
    verdict = judged(Lab.restore(pickle.loads(pickle.dumps(lab.run("8s").snapshot()))).run() if cut else lab.run())
    rows = [(row.what.partition(": ")[2], row.status) for row in verdict.rows if row.measured == NOTHING_DECIDED]

    assert rows == ([] if decided else [("skew paris by 1m30s", "")])
    assert verdict.exit_code == 0, str(verdict)


@pytest.mark.parametrize("path", [None, *INERT[:3]], ids=lambda path: "flap" if path is None else path.stem)
def test_the_count_goes_on_after_a_cut(path: Path | None, scenario_file: Callable[..., Path], judged: Judged) -> None:
    path = scenario_file(EXAMPLES["flap"].text) if path is None else path
    whole = Lab.load(path).run()
    for part in range(1, 9, 2):
        lab = Lab.load(path).run(f"{whole.now * part // 9}ns")
        cut = Lab.restore(pickle.loads(pickle.dumps(lab.snapshot()))).run()

        assert cut.network.effects.state() == whole.network.effects.state()
        assert judged(cut) == judged(whole)


def test_each_effect_has_its_words() -> None:
    assert {fault.effect for fault in FAULTS} == {*NONE_OF, DECIDED}
    assert set(EFFECTS) == {verb.name for verb in VERBS.values() if verb.kind == FAULT}
