"""The schema of scenario files takes what they may be, and refuses what a schema can refuse."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from labkit.commands.new import starter
from labkit.reference.examples import EXAMPLES
from labkit.scenario import schema as made
from labkit.scenario.documents.yaml_positions import parse, read
from labkit.scenario.expect_keys import ExpectPart
from labkit.scenario.file_parts import FilePart, LabPart
from labkit.scenario.problems import ScenarioError
from labkit.scenario.timed.timed_conditions import TIMED_PARTS
from labkit.scenario.verbs import VERBS, model_of
from tests.drawn_files import drawn

Vary = Callable[..., str]
BAD = Path(__file__).with_name("bad")

# What follows from several values together, from another file, or from what is not YAML.
NOT_SAID = {
    "always-says-nothing",
    "at-before-a-pause-is-over",
    "at-goes-backwards",
    "bounds",
    "cluster-named-like-a-site",
    "duplicate-cluster",
    "duplicate-key",
    "end-before-the-last-step",
    "endless",
    "expect-clients",
    "from-and-after",
    "furthest-ahead-of-no-secondary",
    "hosts-with-one-name",
    "kept-value-unknown",
    "leads-to-nothing",
    "link-to-itself",
    "link-twice",
    "matrix-a-cluster",
    "matrix-all-excluded",
    "matrix-as-a-key",
    "matrix-combination-that-does-not-fit",
    "matrix-exclude-unknown-name",
    "matrix-exclude-unknown-value",
    "matrix-far-too-large",
    "matrix-include-again",
    "matrix-include-incomplete",
    "matrix-missing",
    "matrix-too-large",
    "matrix-unknown-name",
    "matrix-value-that-does-not-fit",
    "matrix-within-a-text",
    "matrix-without-a-name",
    "names-twice",
    "no-way-between-sites",
    "node-of-another-cluster",
    "partition-of-one-site",
    "promote-before-replicate",
    "regions-not-measured",
    "share-of-nobody",
    "shared-lab-in-a-chain",
    "shared-lab-missing",
    "shared-lab-not-yaml",
    "shared-lab-outside",
    "shared-lab-unknown-cluster",
    "shared-lab-with-a-matrix",
    "shared-lab-with-mistakes",
    "shared-lab-without-one",
    "site-named-twice",
    "threshold",
    "too-much-work",
    "too-often",
    "two-steps-of-one-name",
    "unknown-cluster",
    "unknown-node",
    "unknown-place",
    "unknown-site",
    "until-before-from",
    "until-zero",
    "work-login-without-a-cloud",
    "work-options-of-another",
    "work-without-tokens",
}


@pytest.fixture(scope="module")
def validator() -> Any:
    """A judge of documents."""
    schema = made.schema()
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def problems(validator: Any, document: Any) -> list[str]:
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(document)]


@pytest.mark.slow
def test_it_takes_every_shipped_file(validator: Any, checkout: Path) -> None:
    paths = sorted((checkout / "scenarios").rglob("*.lab.yaml"))

    assert paths
    assert [(path.name, found) for path in paths if (found := problems(validator, read(path).data))] == []


def test_it_takes_what_is_written_for_readers(validator: Any) -> None:
    texts = [starter("x"), *(example.text for example in EXAMPLES.values())]

    assert [found for text in texts if (found := problems(validator, parse(text.encode(), "x").data))] == []


@pytest.mark.slow
def test_it_takes_drawn_files(validator: Any) -> None:
    assert [found for seed in range(60) if (found := problems(validator, drawn(seed)))] == []


def test_it_refuses_bad_files_but_for_what_no_schema_says(validator: Any) -> None:
    taken = set()
    for path in BAD.glob("*.yaml"):
        try:
            document = read(path)
        except ScenarioError:
            continue
        if validator.is_valid(document.data):
            taken.add(path.stem)

    assert taken == NOT_SAID


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *(("at: 1s", "att: 1s"), ("do: crash", "do: crahs"), ("at: 5s", "at: 5"), ("end: 10s", "end: 10")),
        *(("lost: 0", "lost: -1"), ("lost: 0", "lost: {at mots: 1}"), ("lost: 0", "rpo: 3"), ("lost: 0", "lots: 0")),
        *(("nodes: 1", "nodes: many"), ("80ms", "80 ms"), ("lab:\n", "seeds: 0\nlab:\n"), ("after: 2s", "after: soon")),
        *(
            ("lab:\n", "matrix: {a: 3}\nlab:\n"),
            ("lab:\n", "matrix: {a: [$(b)]}\nlab:\n"),
            ("tokyo, after", "3, after"),
        ),
        *(("lab:\n", "seeds: $(matrix.a)\nlab:\n"), ("scenario: A small lab\n", "")),
        *(("primary: tokyo\n", "primary: [1]\n"), ("primary: tokyo\n", "modes: {tokyo: secundary}\n")),
        *(("do: promote, cluster: tokyo", "do: wait"), ("do: promote, cluster: tokyo", "do: wait, for: 5")),
        ("cluster: tokyo, after: 2s", "cluster: tokyo, at: 9s, after: 2s"),
        *(("expect:", "always: [{lag: many}]\nexpect:"), ("expect:", "eventually: [{roots: equal}]\nexpect:")),
        *(
            ("expect:", "leads to: [{iff: {lag: 0}, then: {lag: 0}, within: 1s}]\nexpect:"),
            ("expect:", "covers: [x]\nexpect:"),
        ),
        *(("timeline:", "nonsense: 1\ntimeline:"), ("target: paris, ", "")),
    ],
)
def test_a_mistake_is_found(old: str, new: str, validator: Any, vary: Vary) -> None:
    assert problems(validator, parse(vary().encode(), "x").data) == []
    assert problems(validator, parse(vary((old, new)).encode(), "x").data) != []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *(("nodes: 1", "nodes: $(matrix.nodes)"), ("80ms", "$(matrix.latency)"), ("at: 5s", "at: $(matrix.at)")),
        *(("lost: 0", "lost: $(matrix.lost)"), ("lost: 0", "lost: {at most: $(matrix.lost)}")),
        *(("do: crash", "do: $(matrix.verb)"), ("primary: tokyo\n", "roots: $(matrix.roots)\n")),
        *(("scenario: A small lab", "scenario: $(matrix.title)"), ("lab:\n", "seeds: 200\nlab:\n")),
        *(
            ("lab:\n", "matrix: {a: [1, 2s, true], exclude: [{a: 1}], include: [{a: x}]}\nlab:\n"),
            ("lost: 0", "rpo: 0s"),
            ("expect:", "always: [{lag: {at most: 200}, from: 5s, name: x}]\ncovers: [takeover]\nexpect:"),
            ("expect:", "eventually: [{roots: equal, within: 15s, after: step 6}]\nsometimes: [{lag: 0}]\nexpect:"),
            ("expect:", "leads to: [{if: {lag: 1}, then: {lag: 0}, within: 1s, after: {step: 2, began: 1s}}]\nexpect:"),
        ),
    ],
)
def test_what_may_be_written_is_taken(old: str, new: str, validator: Any, vary: Vary) -> None:
    assert problems(validator, parse(vary((old, new)).encode(), "x").data) == []


def test_a_lab_may_be_another_files(validator: Any) -> None:
    assert problems(validator, {"scenario": "x", "lab": "../two-regions.lab.yaml"}) == []
    for path in ("/two.lab.yaml", "two.yaml", "$(matrix.x).lab.yaml", "twoxlab.yaml"):
        assert problems(validator, {"scenario": "x", "lab": path}) != []


def readers(part: Any) -> Iterator[str]:
    """The functions of a model's inner description that read a value before its type is looked at."""
    if isinstance(part, dict):
        if part.get("type") in ("function-before", "function-wrap", "function-plain"):
            yield part["function"]["function"].__name__
        for key, inner in part.items():
            yield from readers(inner if key != "serialization" else None)
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from readers(inner)


def test_each_function_that_reads_a_value_has_a_row() -> None:
    models: list[type[BaseModel]] = [FilePart, LabPart, ExpectPart, *TIMED_PARTS.values(), *map(model_of, VERBS)]
    found = {name for model in models for name in readers(model.__pydantic_core_schema__)} - {"_plain"}

    assert found <= set(made.WRITTEN)


def test_descriptions_are_those_of_the_help(validator: Any) -> None:
    written = json.dumps(validator.schema)

    assert "a duration such as 80ms, one way; this or measured" in written
    assert '"default"' not in written
    assert len(written) < 140_000
