"""Writing: one line for each step, link and cluster, read again as it was, whatever values it has."""

from __future__ import annotations

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.hunt.writing import flow, written
from labkit.scenario.documents.yaml_positions import parse
from tests.examples import examples

TEXT = st.text(max_size=20)
VALUES = st.recursive(
    st.one_of(st.integers(-5, 10**12), st.booleans(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=examples(100), deadline=None)
@given(value=VALUES)
def test_a_value_is_read_again_as_it_was_from_one_line(value):
    text = flow(value)

    assert "\n" not in text
    assert yaml.safe_load(text) == value


def test_each_step_link_and_cluster_is_a_line_and_what_comes_twice_is_written_twice():
    pair = ["paris", "tokyo"]
    data = {
        "scenario": "two: three",
        "lab": {
            "sites": pair,
            "links": [{"between": pair, "latency": "80ms"}],
            "clusters": {"paris": {"site": "paris"}, "tokyo": {"site": "tokyo"}},
        },
        "timeline": [{"do": "partition", "between": pair}, {"do": "heal", "between": pair}],
    }
    text = written(data, ("found by hand",))

    assert yaml.safe_load(text) == data
    assert text == (
        "# found by hand\n"
        "scenario: 'two: three'\n"
        "lab:\n"
        "  sites: [paris, tokyo]\n"
        "  links:\n"
        "    - {between: [paris, tokyo], latency: 80ms}\n"
        "  clusters:\n"
        "    paris: {site: paris}\n"
        "    tokyo: {site: tokyo}\n"
        "timeline:\n"
        "  - {do: partition, between: [paris, tokyo]}\n"
        "  - {do: heal, between: [paris, tokyo]}\n"
    )


@settings(max_examples=examples(200), deadline=None)
@given(text=st.one_of(TEXT, st.text("+-.0123456789oexE_:~", max_size=6), st.sampled_from(["08", "1e3", "no", "+.5"])))
def test_a_text_is_that_text_for_the_reader_of_scenario_files(text: str):
    data = {"scenario": text, "lab": {"sites": [text]}, "timeline": [{"do": text}]}

    assert parse(written(data).encode(), "x").data == data


def test_a_long_text_stays_on_its_line():
    data = {"scenario": "x", "about": "many words " * 4_000, "timeline": [{"text": "many words " * 4_000}]}
    text = written(data)

    assert (text.count("\n"), parse(text.encode(), "x").data) == (4, data)
