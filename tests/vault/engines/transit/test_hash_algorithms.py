"""The hash algorithms: names, sizes, and what FIPS mode bars."""

from __future__ import annotations

import pytest

from labkit.service.errors import BadRequest
from labkit.vault.engines.transit.hash_algorithms import ALGORITHMS, KEYED_ALGORITHMS, algorithm, check_certified


def test_an_algorithm_has_the_size_that_its_name_says() -> None:
    assert {name: algorithm(name).digest_size * 8 for name in KEYED_ALGORITHMS} == {
        "sha1": 160,
        **{name: int(name[-3:]) for name in ALGORITHMS},
    }
    assert algorithm("sha2-256") is algorithm("sha2-256")


def test_fips_mode_bars_the_third_family() -> None:
    for name in (*KEYED_ALGORITHMS, "none"):
        check_certified(name, fips=False)
        if not name.startswith("sha3"):
            check_certified(name, fips=True)
    with pytest.raises(BadRequest, match=r"^sha3-256 is not certified for FIPS 140-2 mode.*: sha2-224, sha2-256"):
        check_certified("sha3-256", fips=True)
