"""The table of speed is made right: whatever the figures are, and whether a version before is there or not."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import pytest

from labkit import Vault
from tests.bench import bench_start, bench_vault, goals, lab_rows, other_services, side_by_side
from tests.bench.goals import GOALS
from tests.bench.side_by_side import Column, Measured, NotThere

BY_NAME = {goal.name: goal for goal in GOALS}
HOUR, IDLE, WRITE = BY_NAME["one hour of three busy clusters"], BY_NAME["an idle pair, one hour"], BY_NAME[goals.WRITE]


def asked(**given):
    return argparse.Namespace(**{"revision": "", "rows": "", "rounds": 3, **given})


@pytest.fixture
def clone(tmp_path):
    """A clone with two commits, of which the first has a tag."""
    folder = tmp_path / "clone"
    (folder / "labkit").mkdir(parents=True)
    run = [
        "git",
        "-C",
        str(folder),
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "-c",
        "commit.gpgsign=false",
    ]
    subprocess.run([*run, "init", "--quiet"], check=True)
    for number in (1, 2):
        (folder / "labkit/__init__.py").write_text(f"number = {number}\n")
        (folder / "beside.txt").write_text("not of the package\n")
        subprocess.run([*run, "add", "."], check=True)
        subprocess.run([*run, "commit", "--quiet", "--message", str(number)], check=True)
        if number == 1:
            subprocess.run([*run, "tag", "v1"], check=True)
    return folder


# ---- what a row says


@pytest.mark.parametrize(
    ("goal", "measured", "expected"),
    [
        (
            HOUR,
            Measured((331.4, 0.0), (200.0, 0.0), "–"),
            ("200 × real time", "331 × real time", "1.66", "≥ 330", "kept"),
        ),
        (
            HOUR,
            Measured((150.0, 0.0), (300.0, 0.0), "–"),
            ("300 × real time", "150 × real time", "0.50", "≥ 330", "MISSED"),
        ),
        (IDLE, Measured((0.25, 0.0), (0.5, 0.0), "–"), ("0.5 s", "0.25 s", "2.00", "≤ 0.25", "kept")),
        (IDLE, Measured((0.251, 0.0), None, "–"), ("–", "0.251 s", "–", "≤ 0.25", "MISSED")),
        (
            WRITE,
            Measured((5.5, 17.04), (8.1, 25.0), "–"),
            ("8.1 × (25.0 µs)", "5.5 × (17.0 µs)", "1.47", "≤ 5.5", "kept"),
        ),
    ],
)
def test_a_row_says_both_figures_what_was_gained_and_whether_the_goal_is_kept(goal, measured, expected):
    name, *rest, instead = side_by_side.cells(goal, measured)

    assert (name, instead) == (goal.name, "–")
    assert tuple(rest) == expected


def test_columns_are_as_wide_as_their_widest_text():
    lines = side_by_side.laid_out([side_by_side.HEADINGS, ("a long name", "1", "22", "3", "4", "kept", "none at all")])

    assert lines == [
        "row          before  today  gain  goal        instead",
        "a long name  1       22     3     4     kept  none at all",
    ]


def test_every_goal_has_a_name_of_its_own():
    assert len(BY_NAME) == len(GOALS) == 16
    assert {goal.name for goal in GOALS if goal.is_rate} == {HOUR.name, "failovers of 60 s in a second"}


# ---- samples by turns


def test_samples_are_taken_by_turns_and_the_table_has_their_medians(monkeypatch):
    taken = []

    figures = {"today": [4.0, 1.0, 3.0], "before": [9.0, 8.0, 7.0]}

    class Fake:
        def __init__(self, goal, column):
            self.name, self.left = column.name, figures[column.name]

        def sample(self):
            taken.append(self.name)
            return self.left.pop(0), 2.0

        def end(self):
            taken.append("end")

    monkeypatch.setattr(side_by_side, "Process", Fake)
    found = side_by_side.measured(IDLE, Path("elsewhere"), 3)

    assert taken == ["before", "today", "today", "before", "before", "today", "end", "end"]
    assert found == Measured((3.0, 2.0), (8.0, 2.0), "nothing else does it")


def test_a_long_row_has_one_sample(monkeypatch):
    figures = [(1.0, 0.0)]
    monkeypatch.setattr(side_by_side, "Process", lambda goal, column: argparse.Namespace(sample=figures.pop, end=int))
    side_by_side.measured(BY_NAME["60 busy minutes, no trace"], None, 9)

    assert figures == []


def test_an_older_version_that_cannot_be_measured_leaves_its_cell_empty(monkeypatch):
    def start(goal, column):
        if column.name == "before":
            raise NotThere("it has no such name")
        return argparse.Namespace(sample=lambda: (1.0, 0.0), end=int)

    monkeypatch.setattr(side_by_side, "Process", start)

    assert side_by_side.measured(IDLE, Path("elsewhere"), 1) == Measured((1.0, 0.0), None, "nothing else does it")


def test_a_process_measures_the_version_of_its_folder_and_says_when_it_ended(tmp_path, capfd):
    (tmp_path / "labkit").mkdir()
    (tmp_path / "labkit/__init__.py").write_text("raise SystemExit('another version')")

    with pytest.raises(NotThere, match="ended with 1"):
        side_by_side.Process(WRITE, Column("before", tmp_path))
    assert "another version" in capfd.readouterr().err


# ---- the version before


def test_the_version_before_is_the_newest_tag_before_this_commit_unless_one_is_named(clone, tmp_path):
    first = side_by_side.commit_before("", clone)

    assert side_by_side.commit_before("v1", clone) == side_by_side.commit_before("HEAD^", clone) == first
    assert side_by_side.commit_before("HEAD", clone) != first
    side_by_side.unpack(first, tmp_path / "before", clone)
    assert (tmp_path / "before/labkit/__init__.py").read_text() == "number = 1\n"
    assert [path.name for path in (tmp_path / "before").iterdir()] == ["labkit"]


def test_without_a_tag_it_is_the_commit_that_the_goals_were_set_at(clone):
    subprocess.run(["git", "-C", str(clone), "tag", "--delete", "v1"], check=True, stdout=subprocess.DEVNULL)

    with pytest.raises(NotThere, match=f"^this clone has no revision {side_by_side.GOALS_SET_AT}$"):
        side_by_side.commit_before("", clone)


def test_a_revision_that_is_not_there_is_said_and_of_a_shallow_clone_what_to_do(clone, tmp_path):
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", clone.as_uri(), str(shallow)], check=True)

    with pytest.raises(NotThere, match=r"^this clone has no revision nothing$"):
        side_by_side.commit_before("nothing", clone)
    with pytest.raises(NotThere, match="no revision v1: this clone is shallow, git fetch --unshallow gives it"):
        side_by_side.commit_before("v1", shallow)
    with pytest.raises(NotThere, match="this folder is no clone"):
        side_by_side.commit_before("", tmp_path)


def test_without_git_it_says_so(clone, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(NotThere, match="git is not installed"):
        side_by_side.commit_before("v1", clone)


# ---- the whole table


def test_the_table_has_a_line_for_each_chosen_row(monkeypatch, capsys):
    monkeypatch.setattr(side_by_side, "commit_before", lambda revision: "0123456789abcdef")
    monkeypatch.setattr(side_by_side, "unpack", lambda commit, folder: None)

    def measure(goal, before, rounds):
        assert before is not None
        assert rounds == 3
        return Measured((goal.goal, 0.0), (2.0 * goal.goal, 0.0), "x")

    assert side_by_side.compare(asked(revision="v1"), measure) == 0
    first, headings, *rows = capsys.readouterr().out.splitlines()
    assert first == "before: v1, 0123456789ab; today: this folder"
    assert headings.split() == ["row", "before", "today", "gain", "goal", "instead"]
    assert [row.split("  ")[0] for row in rows] == [goal.name for goal in GOALS]
    assert all(row.endswith("kept  x") for row in rows)


def test_without_a_version_before_the_table_says_why_and_shows_today(monkeypatch, capsys):
    def absent(revision):
        raise NotThere("this folder is no clone")

    monkeypatch.setattr(side_by_side, "commit_before", absent)

    assert side_by_side.compare(asked(rows="IDLE"), lambda goal, before, rounds: Measured((0.5, 0.0), None, "x")) == 0
    first, _, row = capsys.readouterr().out.splitlines()
    assert first == "before: not measured: this folder is no clone"
    assert row.split() == [*IDLE.name.split(), "–", "0.5", "s", "–", "≤", "0.25", "MISSED", "x"]


def test_a_word_that_no_row_has_is_an_error_that_lists_the_rows(capsys):
    assert side_by_side.compare(asked(rows="nothing")) == 1
    assert f"no row has 'nothing' in its name: {WRITE.name}; " in capsys.readouterr().err


@pytest.mark.parametrize("rounds", ["0", "-3"])
def test_rounds_are_one_or_more(rounds, capsys):
    with pytest.raises(SystemExit, match="2"):
        side_by_side.main(["--rounds", rounds])
    assert f"--rounds: expected a number from 1 up, got {rounds}" in capsys.readouterr().err


# ---- what is measured


@pytest.mark.parametrize("goal", [goal for goal in GOALS if goal.unit == "×"], ids=lambda goal: goal.name)
def test_a_ratio_is_one_of_labkits_work_to_the_least_work(goal, monkeypatch):
    worked = []

    def timed(work, count):
        worked.append(work())
        return count * (6_000 if len(worked) == 1 else 2_000)

    monkeypatch.setattr(goals, "timed", timed)
    monkeypatch.setattr(bench_vault, "NAMES", 10)

    assert goal.prepare(None)() == (3.0, 6.0)
    assert len(worked) == 2


@pytest.mark.slow
def test_labs_are_made_by_the_names_of_the_front_door(monkeypatch):
    monkeypatch.setattr(lab_rows, "timed", lambda work: (work() and 0.0) or 2.0)
    monkeypatch.setattr(lab_rows, "SAMPLE_S", 1)
    monkeypatch.setattr(lab_rows, "HOUR_S", 1)
    monkeypatch.setattr(lab_rows, "FAILOVERS", 1)
    monkeypatch.setattr(lab_rows, "BRANCHES", 1)
    monkeypatch.setattr(lab_rows, "resident_bytes", iter((5_000_000, 9_000_000)).__next__)
    assert lab_rows.hour()() == 0.5
    assert lab_rows.idle()() == 2.0
    assert lab_rows.failovers()() == 0.5
    assert lab_rows.branch(keys=90)() == 2_000.0
    assert lab_rows.star_join(3)() == 2.0
    assert lab_rows.pair_joins(10)() > 0
    assert lab_rows.memory(settling_min=1, busy_min=2)() == 2.0


@pytest.mark.slow
def test_the_busy_lab_writes_twenty_secrets_a_second_that_two_follow():
    lab = lab_rows.under_load(trace=False)
    before = len(lab.ledger.writes)
    lab.run("5s")

    assert len(lab.ledger.writes) - before == 100
    assert all(lab.lag("paris", name).entries < 20 for name in ("tokyo", "lima"))


def test_a_first_answer_is_that_of_the_labkit_of_a_folder(monkeypatch, tmp_path):
    ran = []

    def run(code, folder):
        ran.append((code, folder))
        return bench_start.Ran(0.5 if code == bench_start.FLOOR else 0.75, 9.0, "")

    monkeypatch.setattr(bench_start, "run", run)
    assert bench_start.first_answer(tmp_path)() == 1.5
    assert {folder for _, folder in ran} == {tmp_path}
    assert [code == bench_start.FLOOR for code, _ in ran] == [False, False, True]


def test_the_joins_of_a_lab_are_measured_one_by_one(monkeypatch):
    monkeypatch.setattr(lab_rows, "process_time", iter((0, 1, 1, 2, 2, 4, 4, 7, 7, 11, 11, 16)).__next__)
    built_s, took_s, growth = lab_rows.joined(lab_rows.pairs(10), [(number, number + 1) for number in range(0, 10, 2)])

    assert (built_s, took_s, growth) == (1, 15, 5.0)


def test_pairs_are_clusters_of_one_node_at_one_site():
    blueprint = lab_rows.pairs(4)

    assert [(cluster.site, cluster.nodes) for cluster in blueprint.clusters] == [("site", 1)] * 4
    assert len({cluster.name for cluster in blueprint.clusters}) == 4


def test_a_star_has_a_line_to_the_first_from_each():
    blueprint = lab_rows.star(4)

    assert [cluster.site for cluster in blueprint.clusters] == list(blueprint.sites)
    assert [link.between for link in blueprint.links] == [("site-0", f"site-{number}") for number in (1, 2, 3)]


# ---- what else there is


def test_what_is_not_installed_or_named_is_said(monkeypatch):
    monkeypatch.setattr(other_services, "find_spec", lambda name: None)
    assert other_services.MOTO.lacks() == "moto and boto3 not installed"
    assert other_services.SERVER.lacks() == "hvac not installed"
    monkeypatch.setattr(other_services, "find_spec", lambda name: True)
    monkeypatch.delenv(other_services.SERVER_URL, raising=False)
    assert other_services.MOTO.lacks() == ""
    assert other_services.SERVER.lacks() == "no --server"


@pytest.mark.parametrize(
    "goal", [goal for goal in GOALS if other_services.SERVER in goal.others], ids=lambda goal: goal.name
)
@pytest.mark.slow
def test_a_named_server_does_the_work_of_a_row(goal, monkeypatch):
    vault = Vault.dev(seed=7)
    with vault.serve() as url:
        monkeypatch.setenv(other_services.SERVER_URL, url)
        monkeypatch.setenv(other_services.SERVER_TOKEN, vault.root_token)
        work = other_services.SERVER.work(goal.name)
        before = len(vault.calls)
        assert work()
        assert len(vault.calls) == before + 1
