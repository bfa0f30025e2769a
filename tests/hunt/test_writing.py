"""Writing: one line for each step, link and cluster, read again as it was, whatever values it has."""

from __future__ import annotations

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.hunt.writing import flow, written
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
