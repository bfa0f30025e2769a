"""Exercise forget: limits of number and of time, on the secret and on its engine."""

from __future__ import annotations

from labkit.lessons.secret_versions.forget import limit_the_engine, limit_the_key, look, start


def test_without_limits_everything_stays():
    assert look(start()) == (6, 200, 200)


def test_both_limits_hold_on_the_secret_or_on_the_engine():
    for limit in (limit_the_key, limit_the_engine):
        vault = start()
        limit(vault)
        assert look(vault) == (3, 200, 404)


def test_of_two_times_the_shorter_counts():
    """What the last hint says."""
    vault = start()
    vault.post("secret/config", {"delete_version_after": "30m"})
    limit_the_key(vault)

    assert look(vault).before == 404
