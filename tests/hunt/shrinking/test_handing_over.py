"""Handing over: a file that breaks again when it is loaded, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from labkit.cli import main
from labkit.hunt.drawing import drawn
from labkit.hunt.exploration import Exploration
from labkit.hunt.findings import Signature, findings_of
from labkit.hunt.labs import lab_data
from labkit.hunt.shrinking.handing_over import breaks_again, file_name, hand_over
from labkit.hunt.world import read, world_of
from labkit.lab.plan.blueprint import pair

SPLIT = Signature("one primary", "operator", "request", ("survivor",))


def text_of(careless: Exploration) -> str:
    files = [file for file in careless.files if file is not None and "one-primary" in file.name]
    return files[0].text


@pytest.mark.slow
def test_the_file_says_by_whom_it_was_found_and_what_was_on(careless: Exploration):
    first, second, *_ = text_of(careless).split("\n")

    assert first.startswith("# labkit explore, careless operator, seed ")
    assert second == "# on: all on"


def test_a_found_file_is_not_as_expected_until_the_fault_is_mended(careless: Exploration, tmp_path: Path, capsys):
    path = tmp_path / "found.lab.yaml"
    path.write_text(text_of(careless))

    assert main(["run", "--quiet", str(path)]) == 1
    assert "one primary" in capsys.readouterr().out


def test_it_breaks_again_and_with_another_signature_it_does_not(careless: Exploration):
    text = text_of(careless)

    assert breaks_again(text, SPLIT)
    assert not breaks_again(text, SPLIT._replace(what="flap"))
    assert not breaks_again(text.replace("do: promote", "do: reindex"), SPLIT)


@pytest.mark.parametrize(
    "wrong",
    [
        "  - {do: demote, cluster: tokyo, fails: true}\n",  # it is done
        "  - {do: heal}\n",  # changes nothing
    ],
)
def test_a_step_that_is_not_as_written_is_not_handed_over(careless: Exploration, wrong: str):
    assert not breaks_again(text_of(careless) + wrong, SPLIT)


@pytest.mark.parametrize(
    ("signature", "name"),
    [
        (SPLIT, "one-primary-request-survivor.lab.yaml"),
        (
            Signature("tokens outlive a promotion", "fault", "cloud outage"),
            "tokens-outlive-a-promotion-cloud-outage.lab.yaml",
        ),
        (Signature("exception of labkit", "ValueError", "sync.on"), "exception-of-labkit-sync-on.lab.yaml"),
        (Signature("../x\n", "fault", "y"), "x-y.lab.yaml"),
    ],
)
def test_the_name_of_a_file(signature: Signature, name: str):
    assert file_name(signature) == name


def test_a_step_that_is_needed_though_it_is_refused_says_that_it_is():
    timeline = [
        {"do": "replicate", "primary": "paris", "secondary": "tokyo", "at": "1s", "late": "ok"},
        {"do": "crash-in-commit", "target": "paris", "at": "10s", "fails": "maybe", "idle": "fine"},
        {"do": "ask", "cluster": "paris", "method": "POST", "path": "auth/token/create", "at": "11s", "fails": "maybe"},
    ]
    data = {"scenario": "x", "seed": 0, "lab": lab_data(pair()), "timeline": timeline, "end": "60s"}
    data["always"] = [{"name": "none waits", "in doubt": 0, "from": "55s"}]
    finding = findings_of(world_of(read(data)).run("60s"), 0)[0]

    found = hand_over(replace(drawn(0, "careless"), data=data), finding, "careless")

    assert found is not None
    assert "path: auth/token/create, at: 11s, fails: true}" in found.text
    assert all(mark not in found.text for mark in ("maybe", "late:", "idle:"))
