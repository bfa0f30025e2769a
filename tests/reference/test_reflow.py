"""A page is as wide as the terminal; its words, code and lines stay what they are."""

from __future__ import annotations

import re

import pytest

from labkit.reference import TOPICS, entry, page
from labkit.reference.reflow import reflow

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


@pytest.mark.parametrize(
    ("text", "width", "wanted"),
    [
        ("a b", 20, "a b"),
        (
            f"{LONG}\nfifteen",
            40,
            "one two three four five six seven eight\nnine ten eleven twelve thirteen fourteen\nfifteen",
        ),
        (f"short\n{LONG[:30]}", 60, f"short\n{LONG[:30]}"),
        ("- " + LONG[:44], 30, "- one two three four five six\n  seven eight nine"),
        ("    --port N      " + LONG[:27], 40, "    --port N      one two three four\n                  five six"),
        ("    target: " + LONG[:40], 40, "    target: one two three four five six\n        seven eight"),
        ("**row**\n    " + LONG[:33], 30, "**row**\n    one two three four five\n    six seven"),
        ("scenario: a\nlab:\n  sites: [x]", 60, "scenario: a\nlab:\n  sites: [x]"),
        ("```\nlab.run(1)      # " + LONG[:27] + "\n```", 40, "```\n# one two three four five six\nlab.run(1)\n```"),
        (
            "```\nlab.run('a very long argument', other=1)\n```",
            20,
            "```\nlab.run('a very long argument', other=1)\n```",
        ),
        ("| a | b |\n| --- | --- |\n| x | one two three |", 15, "a\n    b\nx\n    one two\n    three"),
        ("| a | b |\n| --- | --- |", 60, "| a | b |\n| --- | --- |"),
    ],
)
def test_lines_are_wrapped_as_what_they_are(text: str, width: int, wanted: str) -> None:
    assert reflow(text, width) == wanted


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_page_fits_but_for_code_and_addresses(topic: str, width: int) -> None:
    text, in_code, wide = page(topic), False, []
    for line in reflow(text, width).split("\n"):
        in_code ^= line.startswith("```")
        if len(line) > width and not in_code and " " in line.strip():
            wide.append(line)

    assert wide == []
    if not re.search(r"^\||  # ", text, re.MULTILINE):
        assert reflow(text, width).split() == text.split()


def test_an_example_keeps_its_lines() -> None:
    text = entry("verbs", "crash")

    assert reflow(text, 80).partition("example.lab.yaml")[2] == text.partition("example.lab.yaml")[2]
