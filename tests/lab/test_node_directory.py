"""The node directory: nodes by address, and the active node of a cluster."""

from __future__ import annotations

import pytest

from labkit.lab.host_services import ResolvedNode


def test_a_clusters_active_node_is_found_while_there_is_one(quiet):
    directory = quiet.parts.directory
    assert directory.resolve("active://paris") == ResolvedNode("paris-1", "paris", True)
    quiet.crash("paris-1")

    assert directory.resolve("active://paris") == ResolvedNode("", "paris", False)
    assert directory.active_node("paris") == ""


@pytest.mark.parametrize("address", ["", "paris", "oslo-1", "https://oslo-1:8201", "http://"])
def test_what_names_no_node_is_none(quiet, address):
    assert quiet.parts.directory.resolve(address) is None


def test_an_unknown_cluster_is_an_error(quiet):
    with pytest.raises(KeyError, match="no cluster named oslo"):
        quiet.parts.directory.resolve("active://oslo")
