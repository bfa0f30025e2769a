"""The numbers of lesson 07, and by what each is known."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

from labkit.lessons.damaged_tree import questions
from labkit.lessons.damaged_tree.orders import ORDERS, DamagedPlace, places_of, report_of
from labkit.lessons.damaged_tree.questions import LAYERS
from labkit.lessons.damaged_tree.report import look
from labkit.lessons.damaged_tree.three_pages import ENTRIES, PAGES, three_policies
from labkit.lessons.damaged_tree.three_pages import look as look_at_pages
from labkit.vault.replication.tree.tree_nodes import FAN_OUT, LOCAL, REPLICATED, TREES
from labkit.views.layout.merkle_layout import hex_of
from tests.lessons.numbers.claims import answered, code_of, example, given, imagined, known, listed, measured
from tests.lessons.numbers.runs import Runs, begun, clusters, lone_versions


def trees() -> int:
    """How many trees a cluster's report has."""
    return len(report_of(begun("07", "report")["paris"])["corrupted_tree_map"])


@cache
def damaged() -> frozenset[DamagedPlace]:
    """The damaged places of exercise 1."""
    return look(begun("07", "report"), []).damaged


def pages_by_cluster() -> list[int]:
    """How many pages are damaged in each cluster of exercise 1, the fewest first."""
    return sorted(len({place.page for place in damaged() if place.cluster == name}) for name in ("paris", "tokyo"))


def damaged_pages_to_mend() -> int:
    """How many pages are damaged where exercise 2 begins."""
    lab = begun("07", "mend")
    return sum(len(places_of(lab[name])) for name in ("paris", "tokyo"))


def pages_compared() -> int:
    """In how many pages the right way lets the pair differ."""
    lab = begun("07", "three_pages")
    three_policies(lab)
    (found,) = look_at_pages(lab).compared
    return found


def values_of(path: str, body: dict[str, object]) -> int:
    """How many values one write stores: in how many pages the pair differs by it, beside that of a policy."""
    lab = begun("07", "three_pages")
    lab.partition("paris", "tokyo")
    if path:
        lab["paris"].post(path, body)
    for number in range(2 * ENTRIES):
        lab["paris"].put("sys/policies/acl/a", {"policy": f'path "{number}" {{ capabilities = ["read"] }}'})
    lab.heal()
    lab.run("10s")
    (found,) = look_at_pages(lab).compared
    return found - (1 if path else 0)


def entries_of_a_policy(runs: Runs) -> int:
    """How many entries the write of a policy makes at paris."""
    lab = runs["07"]["sound"].branch("one write")
    before = lab.queries.last_entry("paris")
    lab["paris"].put("sys/policies/acl/p1", {"policy": 'path "a" { capabilities = ["read"] }'})
    return int(lab.queries.last_entry("paris") - before)


def destroyed_version() -> int:
    """Which version of a secret that was written once is destroyed, and stays so after an undelete."""
    vault = lone_versions(1)
    vault.put("secret/destroy/app", {"versions": [1]})
    vault.post("secret/undelete/app", {"versions": [1]})
    (found,) = [
        int(name) for name, row in vault.get("secret/metadata/app").data["versions"].items() if row["destroyed"]
    ]
    return found


def faults_in_each_copy(runs: Runs) -> int:
    """How many layers are damaged in each of the copies."""
    (found,) = {len(copy.trace.select("fault", verb="corrupt")) for copy in runs["07"]["copies"].values()}
    return found


def apart_s(runs: Runs) -> float:
    """How many seconds lie between one damage and the next in the run that is played."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "play", lambda lab: lab)
        lab = questions.damaged_in_turn(runs["07"]["sound"])
    marks = sorted({event.at_ns for event in lab.trace.select("fault", verb="corrupt")})
    (found,) = {round((after - before) / 1e9, 1) for before, after in pairwise(marks)}
    return found


def versions_of_an_order(runs: Runs) -> int:
    """How many versions each order has."""
    lab = runs["07"]["sound"].branch("orders")
    (found,) = {len(lab["paris"].get(path.replace("data", "metadata", 1)).data["versions"]) for path in ORDERS}
    return found


CLAIMS = {
    "can two equal roots lie": measured(lambda runs: clusters()),
    "the roots of two clusters": measured(lambda runs: clusters()),
    "## Five layers": known(lambda: len(LAYERS)),
    "those in 256 **pages**": known(lambda: FAN_OUT),
    "those in two **subtrees**": known(lambda: len(TREES)),
    "Two clusters compare": measured(lambda runs: clusters()),
    "in any of the five: the root": listed("the root", "a subtree", "a page", "a subpage", "the stored value"),
    "with six orders, and five copies": measured(lambda runs: [runs["07"]["number"], len(runs["07"]["copies"])]),
    "report has two trees": measured(lambda runs: trees()),
    '`"1"` for what is replicated': known(lambda: REPLICATED),
    '`"2"` for what is a cluster': known(lambda: LOCAL),
    "what each of the five says": measured(lambda runs: len(runs["07"]["rows"])),
    "map of the 256 pages": known(lambda: FAN_OUT),
    "Here the five layers": known(lambda: len(LAYERS)),
    "three places are damaged": measured(lambda runs: len(damaged())),
    '("paris", "replicated", 12, 34)': example(lambda: ("paris", "replicated", 12, 34) in damaged()),
    "Here a page of one cluster": measured(lambda runs: damaged_pages_to_mend()),
    "xactly three pages": known(lambda: PAGES),
    "its last eight **entries**": known(lambda: ENTRIES),
    "stores one value, a secret": measured(lambda runs: values_of("", {})),
    "One name in 256": known(lambda: FAN_OUT),
    "of the two below": known(lambda: code_of("07").count('written("p')),
    "after each of the two": known(lambda: code_of("07").count('written("p')),
    "After one write": measured(lambda runs: entries_of_a_policy(runs)),
    "behind by one write": imagined("any write that is on its way, whichever"),
    "Version 1 of a secret is destroyed": measured(lambda runs: destroyed_version()),
    "the third asks the harder half": known(lambda: [3, 1 / 2]),
    "One cluster has to follow": measured(lambda runs: clusters() - 1),
    "cannot give version 1": measured(lambda runs: versions_of_an_order(runs)),
    "In five copies of this lab one layer": measured(
        lambda runs: [len(runs["07"]["copies"]), faults_in_each_copy(runs)]
    ),
    "many of the five do": known(lambda: len(LAYERS)),
    "All five would differ": answered(),
    "Four would differ": answered(),
    "compared, that is two": answered(),
    "as it was written: its version 1": measured(lambda runs: versions_of_an_order(runs)),
    "version 1 of every order": measured(lambda runs: versions_of_an_order(runs)),
    "as its version 1, with": measured(lambda runs: versions_of_an_order(runs)),
    "wrote again is version 2": measured(lambda runs: versions_of_an_order(runs) + 1),
    "Here the five are damaged": known(lambda: len(LAYERS)),
    "two hexadecimal digits": known(lambda: len(hex_of(FAN_OUT - 1))),
    "of the two clusters": measured(lambda runs: clusters()),
    "Two would be left": answered(),
    "two clusters in this lab": measured(lambda runs: clusters()),
    "has it four parts": known(lambda: len(DamagedPlace._fields)),
    "keeps two trees": measured(lambda runs: trees()),
    '`corrupted_tree_map["1"]`': known(lambda: REPLICATED),
    "one cluster has one damaged page, the other has two": measured(lambda runs: pages_by_cluster()),
    "these three, and in": known(lambda: PAGES),
    "A policy is one value": measured(lambda runs: values_of("", {})),
    "three policies": measured(lambda runs: pages_compared()),
    "Write three policies, one value each": measured(lambda runs: [pages_compared(), values_of("", {})]),
    "which is two values, and one policy": measured(
        lambda runs: [values_of("secret/data/orders/7", {"data": {"item": "rope 7"}}), values_of("", {})]
    ),
    "is damaged, and a second passes": given('copy.run("1s")'),
    "tokyo differ a second later": given('copy.run("1s")'),
    "one after another, two seconds apart": measured(lambda runs: apart_s(runs)),
}
