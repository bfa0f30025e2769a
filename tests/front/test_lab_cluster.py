"""The handle of a lab's cluster: it shows its Merkle index beside another's."""

from __future__ import annotations

from labkit.front.lab_cluster import LabCluster


def test_it_is_a_cluster_that_is_drawn_beside_the_one_that_it_follows(calm):
    tokyo = calm["tokyo"]

    assert isinstance(tokyo, LabCluster)
    assert repr(tokyo) == "Cluster(tokyo, secondary)"
    assert "paris" in repr(tokyo.merkle())
    assert tokyo.merkle(page=("replicated", 23)).contents.chosen is not None


def test_it_adds_nothing_to_what_a_handle_holds(calm):
    assert not hasattr(calm["tokyo"], "__dict__")
