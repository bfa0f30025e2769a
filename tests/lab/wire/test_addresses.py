"""Addresses: the two ports, and the host in whatever names one."""

from __future__ import annotations

import pytest

from labkit.lab.wire.addresses import active_address, api_address, cluster_address, host_of


def test_each_door_has_its_scheme_and_port():
    assert api_address("paris-1") == "http://paris-1:8200"
    assert cluster_address("paris-1") == "https://paris-1:8201"
    assert active_address("paris") == "active://paris"


@pytest.mark.parametrize(
    "address", ["https://paris-1:8201", "http://paris-1:8200/v1/secret/data//x", "paris-1", "paris-1:8200"]
)
def test_the_host_of_an_address(address):
    assert host_of(address) == "paris-1"
