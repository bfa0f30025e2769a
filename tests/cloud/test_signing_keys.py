"""Signing keys: published before they sign, in any orderly roll; and the disorderly ones."""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from labkit.cloud.signing_keys import SigningKeys
from labkit.front.cloud import Cloud
from labkit.seeded import SeededEntropy
from labkit.service.cloud_environments import DEFAULT_ENVIRONMENT


@pytest.fixture
def keys(cloud: Cloud) -> SigningKeys:
    return cloud.parts.keys[DEFAULT_ENVIRONMENT]


def kids(keys: SigningKeys) -> set[str]:
    return {key["kid"] for key in keys.key_set()}


def test_what_is_published_is_public_and_verifies(cloud: Cloud, keys: SigningKeys) -> None:
    published = cloud.jwks()
    token = cloud.mint("web-1")
    kid = jwt.get_unverified_header(token)["kid"]

    assert set(published["keys"][0]) == {"kty", "use", "kid", "x5t", "n", "e"}
    assert jwt.PyJWS().decode(token, jwt.PyJWKSet.from_dict(published)[kid].key, algorithms=["RS256"])
    assert len(published["keys"]) == 2
    assert kid == keys.signing.kid


def test_an_orderly_roll_signs_with_a_key_that_was_published_before(keys: SigningKeys) -> None:
    for _ in range(3):
        before, signed = kids(keys), keys.signing.kid
        assert keys.roll() in before
        assert {signed, keys.signing.kid} < kids(keys)
        assert len(kids(keys)) == 3


def test_an_unpublished_key_signs_until_it_is_published(keys: SigningKeys) -> None:
    kid = keys.use_unpublished()

    assert keys.signing.kid == kid
    assert kid not in kids(keys)
    keys.publish()
    keys.publish()
    assert [key["kid"] for key in keys.key_set()].count(kid) == 1
    keys.use_unpublished()
    keys.roll()
    assert keys.signing.kid in kids(keys)


def test_a_revoked_key_is_gone_at_once(keys: SigningKeys) -> None:
    taken, after = keys.signing.kid, keys.revoke()

    assert taken not in kids(keys)
    assert after in kids(keys)
    assert keys.named(taken) is None
    keys.use_unpublished()
    assert keys.revoke() in kids(keys)


def test_state_goes_on_with_the_same_keys(keys: SigningKeys) -> None:
    keys.roll()
    again = SigningKeys(SeededEntropy(9, "other"), keys.state())

    assert again.state() == keys.state()
    assert again.private(again.signing).key_size == 2_048  # a key object is made again
    assert again.key_set() == keys.key_set()


def test_a_key_does_not_show_itself(keys: SigningKeys) -> None:
    assert repr(keys.signing) == f"SigningKey({keys.signing.kid})"


def test_no_key_is_made_before_it_is_needed() -> None:
    def none(size: int) -> Any:
        raise AssertionError("nothing may be drawn")

    assert SigningKeys(none).state() == {"current": None, "next": None, "published": (), "held": ()}


def test_of_keys_that_are_gone_nothing_is_kept(keys: SigningKeys) -> None:
    for _ in range(5):
        keys.roll()
        keys.revoke()

    assert len(keys._loaded) <= 4
    assert all(keys.private(key) for key in keys.published)
