"""Key store: one that is made by hand, with a seed or without."""

from __future__ import annotations

import pytest

from labkit.front.keystore import KeyStore


def test_one_of_a_seed_makes_the_same_keys_every_time() -> None:
    stores = [KeyStore.dev(seed=seed) for seed in (7, 7, 8, None, None)]
    for store in stores:
        store.generate("a")
    first, again, other, *real = [store.state() for store in stores]

    assert first == again != other
    assert real[0] != real[1]


def test_what_is_no_seed_makes_none() -> None:
    with pytest.raises(ValueError, match="seed: expected a whole number"):
        KeyStore.dev(seed=-1)
