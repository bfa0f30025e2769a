"""Aiming: what cannot be asked of requests to come, and what is listed and forgotten."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labkit import Vault


@pytest.fixture
def vault() -> Vault:
    return Vault.dev(seed=7)


WRONG: dict[str, tuple[Callable[[Vault], None], str]] = {
    "status": (lambda vault: vault.fail_next(200), "status: expected a status from 400 to 599, got 200"),
    "times": (lambda vault: vault.drop_next(0), "times: expected a whole number from 1 to 1000000, got 0"),
    "a flag": (lambda vault: vault.drop_next(True), "times: expected a whole number from 1 to 1000000, got True"),
    "path": (lambda vault: vault.fail_next(503, path=""), "path: expected a path such as secret/data/app or secret/d"),
    "method": (
        lambda vault: vault.fail_next(503, method="get"),
        "method: expected a method, or None for any, got",
    ),
    "duration": (lambda vault: vault.delay_next("soon"), "duration: expected a duration from 0s up such as 80ms"),
    "no delay": (
        lambda vault: vault.delay_next(0),
        "duration: expected a duration above 0s",
    ),
    "a long one": (lambda vault: vault.delay_next("366d"), "duration: expected a duration above 0s, up to 365d"),
    "when": (lambda vault: vault.drop_next(when="never"), "when: expected when the connection ends: before or after"),
}


@pytest.mark.parametrize(("act", "text"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_asked_for_is_refused(vault: Vault, act: Callable[[Vault], None], text: str) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        act(vault)

    assert str(caught.value).startswith(text)
    assert vault.aims == ()


def test_aims_are_shown_and_forgotten_at_a_reset(vault: Vault) -> None:
    vault.fail_next(503, 2, path="secret/*", method="GET")
    vault.delay_next("1500ms")
    vault.drop_next(when="after")

    assert [repr(aim) for aim in vault.aims] == [
        "Aim(GET secret/*: fail with 503, 2 times)",
        "Aim(any method *: wait 1.5s, 1 times)",
        "Aim(any method *: no answer, dropped after, 1 times)",
    ]
    vault.reset()
    assert vault.aims == ()
    assert vault.get("sys/mounts").ok
