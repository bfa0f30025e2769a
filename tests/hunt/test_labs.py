"""Labs: a blueprint written as the lab section of a file is read as the same blueprint."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit.hunt.draws import Draws
from labkit.hunt.labs import drawn_lab, lab_data
from labkit.hunt.world import read
from labkit.lab.plan.blueprint import Blueprint, pair, triangle
from labkit.places import shipped_scenarios
from labkit.scenario.loading import load
from labkit.scenario.value_types import read_bandwidth, read_duration

SHIPPED = shipped_scenarios()


def read_again(blueprint: Blueprint) -> Blueprint:
    return read({"scenario": "x", "lab": lab_data(blueprint)}).blueprint


@pytest.mark.parametrize("name", SHIPPED)
def test_the_lab_of_every_shipped_file_is_written_and_read_again(name: str):
    blueprint = load(SHIPPED[name]).blueprint

    assert read_again(blueprint) == blueprint


@pytest.mark.parametrize("blueprint", [pair(), triangle()])
def test_the_labs_without_a_file_are_too(blueprint: Blueprint):
    assert read_again(blueprint) == blueprint


@pytest.mark.parametrize("written", ["1500bit", "500bit", "33.6kbit", "33kbit", "2Mbit", "1.5Gbit"])
def test_a_bandwidth_stays_as_it_is(written: str):
    link, *others = pair().links
    blueprint = replace(pair(), links=(replace(link, bandwidth_bps=read_bandwidth(written)), *others))

    assert read_again(blueprint) == blueprint


@pytest.mark.parametrize("written", ["1.23456ms", "12.345678912s", "1001ns", "80ms", "1h", "1h0.5ms"])
def test_a_duration_stays_as_it_is(written: str):
    link, *others = pair().links
    blueprint = replace(pair(), links=(replace(link, latency_ns=read_duration(written)), *others))

    assert read_again(blueprint) == blueprint


def test_drawn_labs_are_near_and_far_with_short_and_long_backlogs():
    labs = [drawn_lab(Draws("x", seed)) for seed in range(60)]
    backlogs = {plan.get("backlog") for lab in labs for plan in lab["clusters"].values()}
    latencies = {link["latency"] for lab in labs for link in lab["links"]}

    assert backlogs == {8, 64, None}
    assert latencies == {"1ms", "20ms", "80ms", "200ms"}
    assert {len(lab["clusters"]) for lab in labs} == {2, 3}


def test_drawn_clients_share_secrets_under_check_and_set_delete_them_and_hold_tokens():
    groups = [group for seed in range(60) for group in drawn_lab(Draws("x", seed))["clients"].values()]
    work = [row for group in groups for row in group["work"]]

    assert {True} == {group["share"] for group in groups if "share" in group}
    assert {"delete-secret", "create-token", "use-token", "revoke-token"} <= {row["do"] for row in work}
    assert {row.get("cas") for row in work if row["do"] == "put-secret"} == {None, True}
    assert {row.get("uses") for row in work if row["do"] == "create-token"} == {None, 3}
