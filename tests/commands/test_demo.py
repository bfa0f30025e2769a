"""The demo is a first look: terms are explained, the outage is shown as clients saw it, and it ends as expected."""

from __future__ import annotations

import shlex
import signal
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from labkit import places
from labkit.cli import main, parser
from labkit.commands.demo import (
    DEMO,
    IN_THE_LOG,
    IN_THE_VERDICT,
    NEXT,
    clients_view,
    explained,
    lost_writes,
)
from labkit.commands.own_name import own_name
from labkit.front.lab import Lab
from labkit.lab.faults import LabFaults
from labkit.scenario.event_log import event_log
from labkit.trace import Trace

LOAD = Lab.load


class Demo(NamedTuple):
    """The exit status of the demo, what it printed to either stream, and its lab."""

    status: int
    out: str
    err: str
    lab: Lab


@pytest.fixture(scope="module")
def shown() -> Demo:
    """The demo, played once."""
    out, err, labs = StringIO(), StringIO(), []

    def load(path: Path, seed: int | None) -> Lab:
        assert path.as_posix().endswith(f"scenarios/{DEMO}")
        labs.append(LOAD(path, seed))
        return labs[-1]

    with redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patched:
        patched.setattr(Lab, "load", load)
        status = main(["demo"])
    (lab,) = labs
    return Demo(status, out.getvalue(), err.getvalue(), lab)


@pytest.fixture(scope="module")
def played(shown: Demo) -> Lab:
    """The lab of the demo after its end."""
    return shown.lab


def test_the_demo_is_as_expected_and_explains_itself(shown: Demo) -> None:
    status, out, err, _ = shown

    assert status == 0
    for word in ("crash paris", "promote tokyo", "recovery point (RPO)", "as expected", "try next:"):
        assert word in out
    for meaning in (*IN_THE_LOG.values(), *IN_THE_VERDICT.values()):
        assert meaning in " ".join(out.replace("|", " ").split())
    assert len(err.splitlines()) == 1


def test_the_parts_of_the_demo_follow_one_another(played: Lab, shown: Demo) -> None:
    lines = shown.out.splitlines()
    log = list(explained([str(line) for line in event_log(played.trace)]))
    beginning = ["what happened, in lab time:", *"\n".join(log).splitlines(), "", "what the clients saw:"]
    ending = [
        *(f"    {name:<22}  {meaning}" for name, meaning in IN_THE_VERDICT.items()),
        "",
        f"the same seed gives the same run: its trace has the digest {played.trace.digest()[:16]}",
        *("", "try next:"),
        *(f"    {own_name()} {command:<38}  {about}" for command, about in NEXT.items()),
    ]

    assert lines[:2] == ["Losing a region", "==============="]
    start = lines.index(beginning[0])
    middle = [*beginning, *clients_view(played), "", "which writes were lost:", *lost_writes(played), ""]
    assert lines[start : start + len(middle)] == middle
    assert lines[-len(ending) - 2 :] == ["", "what the rows mean:", *ending]


@pytest.mark.slow
def test_a_demo_that_is_stopped_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(LabFaults, "crash", lambda *_: signal.raise_signal(signal.SIGINT))

    assert main(["demo"]) == 130
    assert capsys.readouterr().err.startswith("stopped at 20.05s of lab time, ")


def test_a_term_is_explained_once_where_it_first_appears() -> None:
    lines = list(explained(["1 s  paris-1 leads paris", "2 s  crash paris", "3 s  crash tokyo", "4 s  tokyo-1 leads"]))

    assert [number for number, line in enumerate(lines) if "|" not in line] == [0, 2, 4, 5]
    assert lines[1].lstrip(" |").startswith("Of a cluster's nodes")


def test_an_explanation_is_indented_and_no_wider_than_the_log() -> None:
    log, explanation = explained(["36.256 s  step 9     repoint, and the rest"])
    first, *others = (*explained(["1 s  paris-1 leads paris"]),)[1].splitlines()

    assert log == "36.256 s  step 9     repoint, and the rest"
    assert explanation == f"{' ' * 14}| {IN_THE_LOG['repoint']}"
    assert all(line.startswith(f"{' ' * 14}| ") for line in (first, *others))
    assert 100 < len(first) <= 110


def test_the_outage_is_shown_as_clients_saw_it(played: Lab) -> None:
    before, outage, after, unknown = clients_view(played)

    assert "paris answers" in before
    assert "tokyo answers" in after
    assert "no answer for 3." in outage
    assert before.split(" to ")[1].split(" s")[0] == outage.split(" s")[0].strip().rjust(8)
    assert unknown == "    no operations ended without any answer"


def seen(*outcomes: tuple[int, int, str, str, int]) -> list[str]:
    """What is said of operations that began and ended at these seconds, at a cluster, with so many attempts."""
    trace = Trace()
    for started_s, ended_s, cluster, outcome, attempts in outcomes:
        times = (started_s * 10**9, ended_s * 10**9)
        trace.record(("outcome", *times, "shop-1", "put-secret", "secret/data/a", cluster, outcome, 200, attempts))
    return list(clients_view(SimpleNamespace(trace=trace)))  # type: ignore[arg-type]  # all that it looks at


def test_the_longest_time_without_an_answer_is_the_outage() -> None:
    outcomes = (
        *((1, 2, "paris", "answered", 9), (2, 3, "paris", "answered", 1), (1, 4, "", "unknown", 5)),
        *((3, 8, "tokyo", "answered", 4), (4, 8, "tokyo", "answered", 1)),
        *((8, 8, "tokyo", "answered", 1), (8, 9, "tokyo", "answered", 2)),
    )

    assert seen(*outcomes) == [
        "     2.000 s to    3.000 s  paris answers 2 operations, half of them within 1000 ms",
        "     3.000 s to    8.000 s  no answer for 5s: 2 operations wait, each tries again, up to 4 times",
        "     8.000 s to    9.000 s  tokyo answers 4 operations, half of them within 2500 ms",
        "    1 operation ended without any answer",
    ]


def test_two_answers_have_a_time_between_them_and_one_has_not() -> None:
    first, last = (1, 2, "paris", "answered", 1), (3, 4, "tokyo", "answered", 1)

    assert seen(first) == ["    no answer"]
    assert len(seen(first, last)) == 4


def test_the_lost_writes_are_named(played: Lab) -> None:
    lost = played.ledger.lost()
    lines = list(lost_writes(played))

    assert len(lost) == len(lines) - 1 > 0
    assert [line.split()[2].rstrip(",") for line in lines[:-1]] == [write.path for write in lost]


@pytest.mark.parametrize(("count", "named", "more"), [(5, 5, []), (7, 5, ["    and 2 more"])])
def test_of_many_lost_writes_the_first_are_named(count: int, named: int, more: list[str]) -> None:
    writes = [SimpleNamespace(at_ns=at_s * 10**9, path=f"secret/{at_s}", client="shop-1") for at_s in range(count)]
    lab: Any = SimpleNamespace(ledger=SimpleNamespace(lost=lambda: writes))

    assert list(lost_writes(lab)) == [
        *(f"  {float(at_s):>8.3f} s  secret/{at_s}, acknowledged to shop-1" for at_s in range(named)),
        *more,
        "    They were on their way to tokyo when paris was lost; a planned failover waits for such writes.",
    ]


def test_a_lab_without_clients_has_no_view_and_no_loss(checkout: Path) -> None:
    lab = Lab.load(checkout / "scenarios/first/refusals.lab.yaml").run()

    assert list(clients_view(lab)) == ["    no answer"]
    assert list(lost_writes(lab)) == ["    none this time: nothing was on its way to tokyo when paris was lost"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["8", "9", "10"])
def test_other_seeds_are_as_expected_too(seed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--seed", seed]) == 0


@pytest.mark.parametrize("command", NEXT)
def test_what_to_try_next_can_be_tried(command: str) -> None:
    assert parser().parse_args(shlex.split(command))


def test_a_copy_without_scenarios_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing() -> Path:
        raise FileNotFoundError("no folder of them")

    monkeypatch.setattr(places, "scenarios", missing)

    assert main(["demo"]) == 2
    assert capsys.readouterr().err == "no folder of them\n"
