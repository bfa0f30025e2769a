"""The numbers of lesson 01, and by what each is known."""

from __future__ import annotations

import inspect

from labkit import Vault
from labkit.lessons.secret_versions.counter import COUNT, count_up, five_times_at_most
from labkit.lessons.secret_versions.counter import look as played
from labkit.lessons.secret_versions.forget import WRITES, limit_the_key, look
from labkit.lessons.secret_versions.undo import GOOD, undelete_it
from tests.lessons.numbers.claims import answered, done, given, imagined, known, measured
from tests.lessons.numbers.runs import begun, lone_versions


def passing_before_a_write() -> int:
    """The cas that passes at a secret that was never written."""
    passed = [
        cas
        for cas in range(3)
        if Vault.dev(seed=1).post("secret/data/app", {"options": {"cas": cas}, "data": {"n": 1}}).ok
    ]
    (cas,) = passed
    return cas


def states() -> dict[str, dict[str, object]]:
    """What the metadata of exercise 2 says of each version."""
    versions: dict[str, dict[str, object]] = begun("01", "undo").get("secret/metadata/app").data["versions"]
    return versions


def days_of_writing() -> int:
    """On how many days the secret of exercise 2 was written."""
    return len({str(row["created_time"])[:10] for row in states().values()})


def destroyed_and_deleted() -> list[int]:
    """Which version a colleague destroyed, and which were deleted only."""
    destroyed = [int(name) for name, row in states().items() if row["destroyed"]]
    deleted = [int(name) for name, row in states().items() if row["deletion_time"] and not row["destroyed"]]
    return [*destroyed, *deleted]


def good_version() -> int:
    """Which version of exercise 2 held the last good contents."""
    vault = begun("01", "undo")
    vault.post("secret/undelete/app", {"versions": [2, 3]})
    (found,) = [n for n in (2, 3) if vault.get(f"secret/data/app?version={n}").data["data"] == GOOD]
    return found


def minutes_of(name: str) -> list[int]:
    """After how many minutes a check reads what was written, before and after the hour."""
    source = inspect.getsource(look)
    assert 'branch.advance("59m")\n    before' in source
    assert 'branch.advance("2m")\n    return' in source
    assert 'branch.advance("61m")\n    known' in source
    return {"before": [59], "after": [59 + 2], "waited": [61]}[name]


def versions_left() -> int:
    """How many versions are kept where the limit of the right way holds."""
    vault = begun("01", "forget")
    limit_the_key(vault)
    return look(vault).versions


def parts_of_a_read() -> int:
    """How many parts what a read gives has."""
    vault = Vault.dev(seed=1)
    vault.post(COUNT, {"data": {"n": 1}})
    count_up(vault)
    return len(vault.get(COUNT).data)


def readable_for_h() -> float:
    """For how many hours a right way lets a version be read."""
    vault = begun("01", "forget")
    limit_the_key(vault)
    vault.post("secret/data/session", {"data": {"n": 1}})
    minutes = 0
    while vault.get("secret/data/session").ok:
        vault.advance("1m")
        minutes += 1
    return minutes / 60


def limits() -> list[str]:
    """Which settings the right way limits a secret by."""
    vault = begun("01", "forget")
    limit_the_key(vault)
    return list(vault.calls[-1].names)


def helped_by() -> int:
    """The value with which a path says what it takes."""
    vault = lone_versions(1)
    return int("help" in (vault.get("secret/data/app?help=1").body or {}))


def held_out() -> int:
    """Beside how many other writers a way that may give up succeeds, of those that the check lets in before a crowd."""
    *few, _ = played(five_times_at_most)
    assert all(one.is_right for one in few)
    return max(one.others for one in few)


CLAIMS = {
    "Beside up to two of them": measured(lambda runs: held_out()),
    "beside up to two others": measured(lambda runs: held_out()),
    "Two versions": measured(lambda runs: len(runs["01"]["paths"])),
    "Two people who write": imagined("people in general, before anybody writes"),
    "never written is at 0": measured(lambda runs: passing_before_a_write()),
    "?help=1": measured(lambda runs: helped_by()),
    "version 1 of it is destroyed": given('"secret/destroy/old", {"versions": [1]}'),
    "written on three days": measured(lambda runs: days_of_writing()),
    "destroyed version 1 and deleted versions 2 and 3": measured(lambda runs: destroyed_and_deleted()),
    "At most three versions may be kept": measured(lambda runs: versions_left()),
    "at most three versions are kept": measured(lambda runs: versions_left()),
    "61 minutes more than at the write": given('vault.advance("61m")'),
    "show the two settings": known(lambda: len(limits())),
    "A read gives two parts": measured(lambda runs: parts_of_a_read()),
    "0 is for a secret that was never written": measured(lambda runs: passing_before_a_write()),
    "five times at most": done(five_times_at_most, "range(5)"),
    "Write five times": known(lambda: WRITES),
    "61 minutes after the last write": known(lambda: minutes_of("after")),
    '`vault.advance("61m")`': known(lambda: minutes_of("after")),
    "61 minutes later version": known(lambda: minutes_of("waited")),
    "59 minutes after the last write": known(lambda: minutes_of("before")),
    '{"delete_version_after": "1h"}': done(limit_the_key, '"delete_version_after": "1h"'),
    "In this vault version 1 of": given('"secret/destroy/old", {"versions": [1]}'),
    "2 is the version that": answered(),
    "Version 1 is destroyed. Then": given('"secret/destroy/old", {"versions": [1]}'),
    "a read of version 1 give": given('"secret/undelete/old", {"versions": [1]}'),
    "what version 3 held": measured(lambda runs: good_version()),
    "undelete version 3": done(undelete_it, '{"versions": [3]}'),
    "All three versions": measured(lambda runs: len(states())),
    "be read for an hour": measured(lambda runs: readable_for_h()),
    "An hour after it was written": measured(lambda runs: readable_for_h()),
    "For an hour after it was written": measured(lambda runs: readable_for_h()),
}
