"""The page of scenario files: every key has an example, and the file that it begins with runs."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from labkit import Lab
from labkit.cli import main
from labkit.lab.hosts.cloud_host import OF_CLOUD
from labkit.lab.operations.kept_values import references
from labkit.reference import page
from labkit.scenario.expect_keys import OBSERVABLE

KEY = re.compile(r" *([a-z][a-z ]*)\*?: (.+)")
SHOWS_A_VALUE = re.compile(r"such as |unless given|one of |: constant, |equal or different|(true|false|fine|ok|done)\b")


def keys_without_an_example(text: str) -> list[str]:
    """The keys of a page of keys whose line shows no value, and that stand in none of its examples."""
    paragraphs = text.split("\n\n")
    lists = [part for part in paragraphs if part.startswith(("scenario*: ", "A step of the timeline has do"))]
    assert len(lists) == 2
    examples = "\n".join(part for part in paragraphs if part not in lists)
    found = []
    for line in "\n".join(lists).splitlines():
        key = KEY.fullmatch(line)
        if key is None or SHOWS_A_VALUE.search(key[2]):
            continue
        if not re.search(rf"(?m)^    (?:.*[{{ ,-])?{key[1]}: ?", examples):
            found.append(line.strip())
    return found


def test_every_key_of_a_scenario_file_has_an_example() -> None:
    text = page("scenario")

    assert keys_without_an_example(text) == []
    assert keys_without_an_example(text.replace("  through: front,", "").replace("through: front, ", "")) == [
        "through: a load balancer, when they know nothing else"
    ]


@pytest.mark.slow
def test_the_whole_file_on_the_page_of_scenario_files_runs_as_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "whole.lab.yaml"
    file.write_text(dedent(page("scenario").split("  A whole file:\n")[1].split("\n\n")[0]))

    assert main(["run", "-q", str(file)]) == 0
    assert "A region is lost: as expected" in capsys.readouterr().out


def test_every_name_of_observed_and_every_placeholder_is_listed() -> None:
    text = page("scenario")
    observed, cloud = text.split("observed of expect counts:\n")[1].split("\n\n", 1)
    of_cloud = cloud.split("what operators have of that:\n")[1]

    assert [name.strip() for name in observed.replace("\n", " ").split(",")] == list(OBSERVABLE)
    assert [name.strip() for name in of_cloud.replace("\n", " ").split(",")] == [
        f"$(cloud.{name})" for name in OF_CLOUD
    ]


def test_a_placeholder_of_the_page_is_one_of_files() -> None:
    lines = page("scenario").split("in the requests of steps:\n")[1].split("\nand, in a lab")[0].splitlines()
    listed = [name.replace("CLUSTER", "paris") for line in lines for name in references(line)]
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    known = set(lab.parts.console.values())

    assert listed == ["matrix.NAME", "NAME", "paris.root", "paris.share.1", "paris.former.root", "paris.former.share.1"]
    assert {"paris.root", "paris.share.1", "tokyo.former.root", "tokyo.former.share.1"} <= known
