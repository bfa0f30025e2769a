"""Overlooked: what was refused or ignored and not mended is said, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labkit import Vault
from labkit.lab.operations.runbook_effects import RunbookError
from labkit.lessons.overlooked import overlooked
from labkit.lessons.two_primaries.fence import FENCE
from tests.lessons.conftest import TWO, start

APP = "secret/data/app"
HELPS = "; `?help=1` on that path lists its fields."


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            [(APP, {"n": 2})],
            (
                f"Refused since the start: POST {APP} answered 400: no data provided.",
                f"Ignored: `n` of POST {APP}{HELPS}",
            ),
        ),
        (
            [("nowhere/app", {"n": 2})],
            (
                'Refused since the start: POST nowhere/app answered 404: no handler for route "nowhere/app". route '
                "entry not found.",
            ),
        ),
        (
            [("secret/app", {"data": {}})],
            (
                "Refused since the start: POST secret/app answered 404: it knows no such path; the contents of app "
                "are at secret/data/app.",
            ),
        ),
        ([(APP, {"n": 2}), (APP, {"data": {"n": 2}})], ()),
        ([(APP, {"data": {}, "cas": 1})], (f"Ignored: `cas` of POST {APP}{HELPS}",)),
        ([(f"{APP}?cas=1", {"data": {}})], (f"Ignored: `cas` of POST {APP}{HELPS}",)),
        ([(APP, {"data": {}, "options": {"ttl": "1h"}})], (f"Ignored: `options.ttl` of POST {APP}{HELPS}",)),
        ([(APP, {"data": {"cas": 1}, "options": {"cas": 1}})], ()),
        (
            [("secret/metadata/app", {"max_version": 3, "ttl": "1h"})],
            (f"Ignored: `max_version`, `ttl` of POST secret/metadata/app{HELPS}",),
        ),
        ([("cubbyhole/app", {"any": "name"})], ()),
        ([("auth/token/create", {"policies": ["a"], "num_uses": 2})], ()),
    ],
)
def test_in_a_vault(asked, said):
    vault = start()
    for path, body in asked:
        vault.post(path, body)
    assert overlooked(TWO, vault) == said


def test_a_missing_permission_and_a_reading_are_not_said():
    vault = start()
    vault.post(APP, {"data": {}}, token="hvs.none")
    vault.get("secret/data/none?what=1")
    assert overlooked(TWO, vault) == ()


def test_who_uses_put_and_patch_is_told_the_same_and_no_more_than_three_things():
    vault = start()
    vault.put(APP, {"data": {}, "a": 1})
    vault.patch("secret/metadata/app", {"b": 1})
    for name in ("x", "y"):
        vault.post(f"secret/data/{name}", {"data": {}, "c": 1})
    said = overlooked(TWO, vault)
    assert [line.partition(";")[0] for line in said] == [
        f"Ignored: `a` of PUT {APP}",
        "Ignored: `b` of PATCH secret/metadata/app",
        "Ignored: `c` of POST secret/data/x",
    ]


def test_in_a_lab_the_reason_is_said_until_the_write_passes():
    assert FENCE.start is not None
    lab = FENCE.start()
    lab["tokyo"].get(APP)
    assert overlooked(FENCE, lab) == ()
    lab["paris"].post(APP, {"n": 1})
    assert overlooked(FENCE, lab) == (f"Refused since the start: POST {APP} at paris answered 400: no data provided.",)
    lab["paris"].post(APP, {"data": {"n": 1}})
    assert overlooked(FENCE, lab) == ()
    lab["tokyo"].post(APP, {"data": {"n": 1}})
    assert "at tokyo answered 400: path disabled in replication DR secondary mode" in overlooked(FENCE, lab)[0]


def test_what_was_refused_before_the_start_is_not_said():
    refused = Vault.dev(seed=5)
    refused.post(APP, {"n": 1})
    assert overlooked(replace(TWO, start=lambda: refused), refused) == ()


def test_a_node_that_knows_no_leader_gives_no_reason():
    assert FENCE.start is not None
    lab = FENCE.start()
    lab.crash("paris-1")
    token = {"X-Vault-Token": lab["paris"].root_token}
    assert lab["paris"].request("POST", APP, {"data": {}}, token, node="paris-2").status == 307
    assert overlooked(FENCE, lab) == (f"Refused since the start: POST {APP} at paris answered 307.",)


def test_a_change_of_roles_that_was_refused_and_then_done_is_not_said():
    assert FENCE.start is not None
    lab = FENCE.start()
    lab["paris"].demote()
    lab["tokyo"].promote()
    with pytest.raises(RunbookError):
        lab["paris"].repoint("tokyo")
    assert "error unwrapping secondary token" in overlooked(FENCE, lab)[0]
    lab.heal()
    lab["paris"].repoint("tokyo")
    lab.run("10s")
    assert overlooked(FENCE, lab) == ()
