"""The key store's address leads to no host of the simulated cloud."""

from __future__ import annotations

from labkit.service.cloud_environments import is_of_cloud
from labkit.service.key_store_address import KEY_STORE_ADDRESS


def test_it_is_a_name_of_its_own() -> None:
    assert KEY_STORE_ADDRESS.startswith("https://")
    assert not is_of_cloud(KEY_STORE_ADDRESS)
