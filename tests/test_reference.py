"""The reference pages: every rule and decision has its entry, every verb and key of a scenario file is described."""

from __future__ import annotations

import re

import pytest

from labkit import reference
from labkit.lab.invariants import STANDING
from labkit.reference import TOPICS, UnknownTopic, entries, entry, page
from labkit.scenario.client_parts import WorkPart
from labkit.scenario.file_parts import ClusterPart, FilePart, fields_of
from labkit.scenario.verbs import VERBS

NUMBERED = {"R": 25, "C": 23, "K": 6, "T": 17, "A": 13, "D": 23}


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_is_a_page_of_plain_lines(topic: str) -> None:
    text = page(topic)

    assert len(text.splitlines()) > 10
    assert all(line == line.rstrip() for line in text.splitlines())
    assert [line for line in text.splitlines() if len(line) > 130 and not line.startswith("|")] == []


def test_every_rule_and_decision_has_an_entry_and_no_other_is_there() -> None:
    expected = {f"{letter}{number}" for letter, last in NUMBERED.items() for number in range(1, last + 1)}
    numbered = {name for name in entries("rules") if name[1:].isdigit()}

    assert numbered == expected


def test_an_entry_ends_where_the_next_heading_begins() -> None:
    assert entry("rules", "R25").startswith("R25 Only a bug ends a run\n\n")
    assert "#" not in entry("rules", "R25")
    assert "D23" not in entry("rules", "D22")


@pytest.mark.parametrize(("topic", "name"), [("rules", "r4"), ("api", "limits"), ("verbs", "Crash")])
def test_an_entry_is_found_in_any_case(topic: str, name: str) -> None:
    assert entry(topic, name).lower().startswith(name.lower())


@pytest.mark.parametrize(
    ("topic", "name", "said"),
    [
        ("rule", None, "no topic is called 'rule'; did you mean rules?"),
        (
            "xyz",
            None,
            "no topic is called 'xyz'; "
            "known: vault, lab, scenario, verbs, situations, invariants, regions, files, serve, testing, teaching, "
            "differences, words, coverage, speed, pictures, explore, when, sweep, proof, api, rules, architecture",
        ),
        ("verbs", "crsh", "no entry of verbs is called 'crsh'; did you mean crash?"),
        ("scenario", "xyz", "no entry of scenario is called 'xyz'; known: none"),
    ],
)
def test_what_does_not_exist_is_refused_with_a_hint(topic: str, name: str | None, said: str) -> None:
    with pytest.raises(UnknownTopic) as refused:
        entry(topic, name) if name else page(topic)

    assert str(refused.value) == said


def test_a_part_of_the_differences_is_an_entry_and_any_other_word_is_looked_for() -> None:
    parts = entries("differences")

    assert list(parts) == [
        *("service", "namespaces", "tokens", "seal", "audit", "kv", "transit", "cloud", "replication", "clusters"),
    ]
    assert entry("differences", "Transit") == parts["transit"]
    assert parts["transit"].startswith("transit\n\n**batches**\n    a failed item makes")
    found = entry("differences", "wrapping")
    assert re.findall(r"(?m)^(\w+)$|^\*\*(.+)\*\*$", found) == [
        ("tokens", ""),
        ("", "wrapping tokens in JWT form"),
        ("replication", ""),
        ("", "response wrapping on a DR secondary"),
    ]
    assert entry("differences", "existing name").count("**") == 2  # over the end of a line


def test_every_difference_is_a_row_of_a_part() -> None:
    text = page("differences")
    rows = [text for part in entries("differences").values() for text in reference._rows(part)]

    assert len(rows) == len(re.findall(r"(?m)^\*\*", text)) >= 56
    assert all(line.startswith(("#", "**", "    ")) for line in text.partition("\n## ")[2].splitlines()[1:] if line)


def test_a_word_is_found_by_each_of_its_names_and_by_what_is_said_of_it() -> None:
    words = entries("words")

    assert len(words) >= 40
    assert words["standby"] == words["active node"] == entry("words", "Standby")
    assert words["guard"].startswith("**guard**\n    short form of a cluster's contents")
    assert entry("words", "jitter") == words["retry budget"]
    assert entry("words", "acknowledged").count("**RPO, RTO**") == 1


def test_a_word_is_looked_for_where_one_begins() -> None:
    assert "verdict" not in entry("words", "cas"), "as in occasion"
    assert entry("words", "cas").startswith("**check-and-set**")
    assert entry("words", "tree") == entry("words", "root")


@pytest.mark.parametrize("word", ["no such word", "", " "])
def test_a_word_that_stands_nowhere_is_refused(word: str) -> None:
    with pytest.raises(UnknownTopic, match="no entry of differences is called"):
        entry("differences", word)


def test_every_rule_and_decision_begins_with_a_line_that_says_it_all() -> None:
    numbered = {name: text.split("\n")[2] for name, text in entries("rules").items() if name[1:].isdigit()}

    assert [name for name, line in numbered.items() if not re.fullmatch(r"\*\*[^*]+\.\*\*", line)] == []
    assert [name for name, line in numbered.items() if len(line) > 118] == []


def test_every_standing_rule_is_described_by_its_name() -> None:
    described = entries("invariants")

    assert tuple(described) == STANDING
    assert all("broken by: " in text for text in described.values())


def test_every_verb_is_described_with_its_parameters() -> None:
    described = entries("verbs")

    assert list(described) == list(VERBS)
    for name, verb in VERBS.items():
        assert verb.about in described[name]
        assert all(f"\n    {parameter.name}: {parameter.expected}" in described[name] for parameter in verb.parameters)
    assert "(undone by restart)" in described["crash"]
    assert described["corrupt"].count("unless given") == 2
    assert "by force" not in described["promote"]


def test_every_key_of_a_scenario_file_is_described() -> None:
    lines = page("scenario").splitlines()

    assert [
        key for key in fields_of(FilePart) if not any(line.startswith((f"{key}:", f"{key}*:")) for line in lines)
    ] == []
    for model in (ClusterPart, WorkPart):
        for key, wanted in fields_of(model).items():
            assert any(line.lstrip().startswith((f"{key}: {wanted}", f"{key}*: {wanted}")) for line in lines), key
    assert "scenario*: a title" in lines
    assert "about: a paragraph" in lines


def test_what_a_key_is_unless_it_is_given_is_said_in_the_files_spelling() -> None:
    lines = {line.strip() for line in page("scenario").splitlines()}

    assert "seed: a whole number from 0 up; 7 unless given" in lines
    assert "settle: a duration such as 5s; 5s unless given" in lines
    assert "size: a size such as 64B or 4KiB; 64B unless given" in lines
    assert "loss: a share such as 0.01%; 0% unless given" in lines
    assert "timeout: a duration such as 1s; 1s unless given" in lines
    assert "until: an instant such as 60s; the end unless given" in lines


def test_no_page_is_forgotten() -> None:
    written = {path.stem for path in reference._FOLDER.glob("*.md")}

    assert written <= set(TOPICS)


def test_a_default_is_said_once_and_as_a_file_would_say_it() -> None:
    text = page("scenario") + page("verbs")

    assert "; true unless given" in text
    assert [word for word in ("True", "False", "None", "unless given; may be left out") if word in text] == []
