"""Settings: a place of a file and values for it; what leads nowhere is refused with what is there."""

from __future__ import annotations

import pytest

from labkit.hunt.sweeping.settings import UnusableSetting, read_settings, values_of, with_values

DATA = {"lab": {"links": [{"latency": "1ms"}], "clusters": {"paris": {"nodes": 1}}}, "end": "9s"}


def test_every_choice_the_last_changing_fastest():
    settings = read_settings(["lab.links.0.latency=20ms, 80ms", "lab.clusters.paris.nodes=1,3"])

    assert [dict(values) for values in values_of(settings)] == [
        {"lab.links.0.latency": latency, "lab.clusters.paris.nodes": nodes}
        for latency in ("20ms", "80ms")
        for nodes in (1, 3)
    ]
    assert list(values_of(())) == [()]


def test_values_are_put_in_and_the_data_stays_as_it_is():
    put = with_values(DATA, (("lab.links.0.latency", "5ms"), ("lab.clusters.paris.fencing", False), ("end", "2s")))

    assert put["lab"]["links"] == [{"latency": "5ms"}]
    assert put["lab"]["clusters"]["paris"] == {"nodes": 1, "fencing": False}
    assert (put["end"], DATA["end"]) == ("2s", "9s")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (["lab.links.0.latency"], "expected a path and its values, such as lab.links.0.latency=20ms,80ms, got"),
        (["=3"], "expected a path and its values"),
        (["end="], "expected a path and its values"),
        (["seed=1,2"], "expected a path that begins with a key of the file, got 'seed'"),
        (["matrix.x=1"], "expected a path that begins with a key of the file"),
        (["end=1s,,2s"], "end: expected a text, a number, true or false, got ''"),
        (["end=[1"], "end: expected a text, a number, true or false, got '[1'"),
        (["end=$(x)"], "end: expected a text, a number"),
        (["end=1s,1s"], "end: expected each value once, got 1s,1s"),
        (["end=1s", "end=2s"], "expected each place once, got end again; list its values: end=A,B"),
        ([f"end={','.join(f'{number}s' for number in range(65))}"], "end: expected at most 64 values, got 65"),
        ([f"lab.x{number}=1" for number in range(9)], "expected at most 8 settings, got 9"),
    ],
)
def test_what_cannot_be_read(written, said):
    with pytest.raises(UnusableSetting) as refused:
        read_settings(written)

    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("lab.link.0.latency", "expected a key that is there, got 'link' — did you mean 'links'?"),
        ("lab.links.1.latency", "expected a place from 0 to 0, got '1'"),
        ("lab.links.-1", "expected a place from 0 to 0, got '-1'"),
        ("lab.links.00.latency", "expected a place from 0 to 0, got '00'"),
        ("lab.links", "expected the place of one value, got a list"),
        ("end.x", "expected something with keys above x, got '9s'"),
        ("end.x.y", "expected something with keys above x, got '9s'"),
    ],
)
def test_a_place_that_leads_nowhere(place, said):
    with pytest.raises(UnusableSetting) as refused:
        with_values(DATA, ((place, "1s"),))

    assert str(refused.value).startswith(f"--set: {place}: ")
    assert said in str(refused.value)
