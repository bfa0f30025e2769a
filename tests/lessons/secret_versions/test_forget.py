"""Exercise forget: limits of number and of time, on the secret and on its engine; a setting is for what comes later."""

from __future__ import annotations

import pytest

from labkit.lessons.judging import judge
from labkit.lessons.secret_versions.forget import (
    FORGET,
    SESSION,
    limit_and_require_cas,
    limit_the_engine,
    limit_the_key,
    look,
    start,
)


def test_without_limits_everything_stays():
    vault = start()
    assert look(vault) == ((), 5, 200, 200, False)
    vault = start()
    vault.post(SESSION, {"data": {"n": 0}})
    assert look(vault) == (("1",), 6, 200, 200, False)


def test_both_limits_hold_on_the_secret_or_on_the_engine():
    for limit in (limit_the_key, limit_the_engine):
        vault = start()
        limit(vault)
        vault.post(SESSION, {"data": {"n": 0}})
        assert look(vault)[:4] == ((), 3, 200, 404)


@pytest.mark.parametrize(("limit", "for_all"), [(limit_the_key, False), (limit_the_engine, True)])
def test_a_setting_that_holds_for_every_secret_is_called_so(limit, for_all):
    vault = start()
    limit(vault)
    judged = judge(FORGET, (vault,))

    assert judged.outcome == "right"
    assert judged.seen.startswith("What you set at `secret/config` holds for every secret") is for_all


def test_where_a_write_needs_cas_the_check_writes_with_it():
    """Also where versions were written before."""
    vault = start()
    limit_and_require_cas(vault)
    for version in range(2):
        assert vault.post(SESSION, {"data": {}, "options": {"cas": version}}).ok
    assert look(vault) == ((), 3, 200, 404, True)


def test_of_two_times_the_shorter_counts():
    """What the last hint says."""
    vault = start()
    vault.post("secret/config", {"delete_version_after": "30m"})
    limit_the_key(vault)

    assert look(vault).before == 404


def test_a_setting_holds_for_what_is_written_after_it():
    vault = start()
    vault.post(SESSION, {"data": {"n": 0}})
    limit_the_key(vault)
    judged = judge(FORGET, (vault,))

    assert judged.condition == "what was there"
    assert judged.seen == (
        '61 minutes later version 1 can still be read, whatever is set now; `here.start("forget")` begins again'
    )
