"""run --report: one run in one file, with player, verdict, losses and why; what cannot be written is refused first."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

import pytest

from labkit import Lab
from labkit.cli import main
from labkit.commands.playing import judged
from labkit.commands.why import causes
from labkit.lab.invariants import STANDING
from tests.browser import BROWSER, Browser, in_a_browser
from tests.commands.test_why import SPLIT

Written = Callable[[str, str], str]

MATRIX = (
    SPLIT.replace("lab:", "matrix:\n  until: [3500ms, 6s]\nseeds: 2\nlab:", 1)
    .replace("until: 6s", "until: $(matrix.until)")
    .replace("  refused: {at least: 1}\n", "")
)
"""Of its runs the first two write nothing while the line is cut, so nothing is lost."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    assert BROWSER is not None
    with Browser(BROWSER) as opened:
        yield opened


def test_a_page_has_player_verdict_losses_and_why(written: Written) -> None:
    path = written("x.lab.yaml", SPLIT)
    assert main(["run", "-q", "--report", "out.html", path]) == 1

    page = Path("out.html").read_text(encoding="utf-8")
    lab = Lab.load(path).run()
    verdict = judged(lab)
    assert verdict.summary in page
    assert f'<p class="faint">{verdict.word}; seed ' in page
    for row in verdict.rows:
        cells = (row.measured, row.status) if row.key in STANDING else (row.expected, row.measured, row.status)
        said = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        assert re.search(
            rf"<th scope='row'>{re.escape(escape(row.what))}(?:<p.*?</p>)*</th>{re.escape(said)}<td>", page
        )
    order = ["Verdict", "Why", "Acknowledged writes that are lost", "What happened", "Rules"]
    places = [page.index(f"<h2>{heading}") for heading in order]
    assert places == sorted(places), "what is looked up stands last"
    assert lab.trace.digest()[:16] in page
    assert all(loss.path in page for loss in lab.ledger.lost())
    assert causes(lab, verdict)[0].splitlines()[0] in page
    assert "<title>Two primaries</title>" in page


def test_data_says_the_same(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    path = written("x.lab.yaml", SPLIT)
    assert main(["run", "--report", "out.json", path]) == 1

    said = json.loads(Path("out.json").read_text(encoding="utf-8"))
    lab = Lab.load(path).run()
    verdict = judged(lab)
    assert said["verdict"]["summary"] == verdict.summary
    assert [row["status"] for row in said["verdict"]["rows"]] == [row.status for row in verdict.rows]
    assert said["verdict"]["rpo"]["writes"] == lab.ledger.rpo().writes == len(said["losses"]) > 0
    assert said["why"] == causes(lab, verdict)
    assert len(said["messages"]) == len(lab.trace.select("message"))
    assert verdict.summary in capsys.readouterr().out, "what is printed stays"


@pytest.mark.slow
def test_of_many_runs_it_is_the_first_that_is_not_as_expected(written: Written) -> None:
    path = written("x.lab.yaml", MATRIX)
    assert main(["run", "-q", "--report", "out.json", path]) == 1

    said = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert said["verdict"]["word"] == "not as expected"
    assert said["seed"] == 0
    assert "until: 6s" in said["verdict"]["summary"]
    assert main(["run", "-q", "--report", "out.json", "--only", "until=3500ms", path]) == 0
    said = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert (said["verdict"]["word"], said["seed"]) == ("as expected", 0)
    assert said["losses"] == []


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("out.txt", "--report: expected a file that ends in .html or .json, got 'out.txt'"),
        ("out", "--report: expected a file that ends in .html or .json, got 'out'"),
        ("nowhere/out.html", "--report: expected a folder that exists, got 'nowhere'; make it first"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_run(
    target: str, said: str, written: Written, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--report", target, written("x.lab.yaml", SPLIT)]) == 2

    output = capsys.readouterr()
    assert output.err == f"{said}\n"
    assert output.out == ""


def test_several_files_have_no_report(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    names = [written(name, SPLIT) for name in ("x.lab.yaml", "y.lab.yaml")]
    assert main(["run", "--report", "out.html", *names]) == 2

    assert "expected one file to run, got 2" in capsys.readouterr().err
    assert not Path("out.html").exists()


def test_a_file_that_cannot_be_written_is_said_and_counts(written: Written, capsys: pytest.CaptureFixture[str]) -> None:
    Path("out.html").mkdir()

    assert main(["run", "-q", "--report", "out.html", written("x.lab.yaml", SPLIT)]) == 2
    assert "--report: out.html cannot be written: Is a directory" in capsys.readouterr().err


@in_a_browser
@pytest.mark.slow
def test_the_page_plays_from_disk(written: Written, browser: Browser) -> None:
    main(["run", "-q", "--report", "out.html", written("x.lab.yaml", SPLIT)])
    address = Path("out.html").resolve().as_uri()
    browser.look(1280, 900)
    browser.open(address)
    browser.evaluate("document.getElementById('time').focus()")
    browser.press("PageDown", 5)

    assert browser.evaluate("player.at()") > 0
    assert browser.requested() == [address]
    assert browser.complaints() == []
