"""The demo is a first look: terms are explained, the outage is shown as clients saw it, and it ends as expected."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace

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
from labkit.lab.lab import Lab
from labkit.trace import Trace


@pytest.fixture(scope="module")
def played(checkout: Path) -> Lab:
    """The lab of the demo after its end."""
    return Lab.load(checkout / "scenarios" / DEMO).run()


def test_the_demo_is_as_expected_and_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    output = capsys.readouterr()

    for word in ("crash paris", "promote tokyo", "recovery point (RPO)", "as expected", "try next:"):
        assert word in output.out
    for meaning in (*IN_THE_LOG.values(), *IN_THE_VERDICT.values()):
        assert meaning in " ".join(output.out.replace("|", " ").split())
    assert len(output.err.splitlines()) == 1


def test_a_term_is_explained_once_where_it_first_appears() -> None:
    lines = list(explained(["1 s  paris-1 leads paris", "2 s  crash paris", "3 s  crash tokyo", "4 s  tokyo-1 leads"]))

    assert [number for number, line in enumerate(lines) if "|" not in line] == [0, 2, 4, 5]
    assert lines[1].lstrip(" |").startswith("Of a cluster's nodes")


def test_the_outage_is_shown_as_clients_saw_it(played: Lab) -> None:
    before, outage, after, unknown = clients_view(played)

    assert "paris answers" in before
    assert "tokyo answers" in after
    assert "no answer for 3." in outage
    assert before.split(" to ")[1].split(" s")[0] == outage.split(" s")[0].strip().rjust(8)
    assert unknown == "    no operations ended without any answer"


def test_the_longest_time_without_an_answer_is_the_outage() -> None:
    trace = Trace()
    for started_s, ended_s, cluster, outcome, attempts in (
        *((1, 2, "paris", "answered", 9), (2, 3, "paris", "answered", 1), (1, 4, "", "unknown", 5)),
        *(
            (3, 8, "tokyo", "answered", 4),
            (4, 8, "tokyo", "answered", 1),
            (8, 8, "tokyo", "answered", 1),
            (8, 9, "tokyo", "answered", 2),
        ),
    ):
        times = (started_s * 10**9, ended_s * 10**9)
        trace.record(("outcome", *times, "shop-1", "put-secret", "secret/data/a", cluster, outcome, 200, attempts))
    _, outage, _, unknown = clients_view(SimpleNamespace(trace=trace))  # type: ignore[arg-type]  # all that it looks at

    assert outage.endswith("no answer for 5s: 2 operations wait, each tries again, up to 4 times")
    assert unknown == "    1 operation ended without any answer"


def test_the_lost_writes_are_named(played: Lab) -> None:
    lost = played.ledger.lost()
    lines = list(lost_writes(played))

    assert len(lost) == len(lines) - 1 > 0
    assert [line.split()[2].rstrip(",") for line in lines[:-1]] == [write.path for write in lost]


def test_a_lab_without_clients_has_no_view_and_no_loss(checkout: Path) -> None:
    lab = Lab.load(checkout / "scenarios/first/refusals.lab.yaml").run()

    assert list(clients_view(lab)) == ["    no answer"]
    assert list(lost_writes(lab)) == ["    none this time: nothing was on its way to tokyo when paris was lost"]


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
