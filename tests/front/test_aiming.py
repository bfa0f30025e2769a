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
    "when": (
        lambda vault: vault.drop_next(when="never"),
        "when: expected an end of the connection 'before' or 'after' the r",
    ),
    "when of a delay": (
        lambda vault: vault.delay_next(1, when="never"),
        "when: expected a delay 'before' or 'after' the r",
    ),
    "errors": (lambda vault: vault.fail_next(503, errors="no"), "errors: expected a list of texts, got 'no'"),
    "an error": (lambda vault: vault.fail_next(503, errors=[7]), "errors: expected a list of texts, got a list"),  # type: ignore[list-item]  # on purpose
    "an error without a UTF-8 form": (
        lambda vault: vault.fail_next(503, errors=["\ud800"]),
        "errors: expected a list of texts, got a list",
    ),
    "an answer's text without a UTF-8 form": (
        lambda vault: vault.answer_next(200, {"a": "\ud800"}),
        "body: expected what is a JSON object",
    ),
    "a body where none is sent": (
        lambda vault: vault.answer_next(204, {"a": 1}),
        "body: expected None, as no body is sent with status 204; leave it out, or answer 200",
    ),
    "the length of a body": (
        lambda vault: vault.answer_next(200, headers={"content-length": "2"}),
        "headers: expected others than those that say how long the body is, which labkit writes, got 'content-length'",
    ),
    "headers": (lambda vault: vault.fail_next(503, headers=["a"]), "headers: expected a mapping of names to texts"),  # type: ignore[arg-type]  # on purpose
    "a header's name": (
        lambda vault: vault.fail_next(503, headers={"a b": ""}),
        "headers: expected names such as Retry",
    ),
    "a header's value": (
        lambda vault: vault.fail_next(503, headers={"a": "b\r\nc: d"}),
        "headers: a: expected a text of printable ASCII, got 'b··c: d'",
    ),
    "an answer's status": (lambda vault: vault.answer_next(100), "status: expected a status from 200 to 599, got 100"),
    "an answer's body": (lambda vault: vault.answer_next(200, {"a": b""}), "body: expected what is a JSON object"),
    "a body that is none": (lambda vault: vault.answer_next(200, {"a": float("nan")}), "body: expected what is a JSON"),
    "call": (lambda vault: vault.before_next("x"), "call: expected a function without parameters, such as"),  # type: ignore[arg-type]  # on purpose
}


@pytest.mark.parametrize(("act", "text"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_asked_for_is_refused(vault: Vault, act: Callable[[Vault], None], text: str) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        act(vault)

    assert str(caught.value).startswith(text)
    assert vault.aims == ()


def test_aims_are_shown_and_forgotten_at_a_reset(vault: Vault) -> None:
    vault.fail_next(503, 2, path="secret/*", method="PUT")
    vault.delay_next("1500ms", when="after")
    vault.drop_next(when="after")
    vault.answer_next(204)
    vault.before_next(print)

    assert [repr(aim) for aim in vault.aims] == [
        "Aim(POST secret/*: answered 503, 2 times)",
        "Aim(any method *: wait 1.5s after, once)",
        "Aim(any method *: no answer, dropped after, once)",
        "Aim(any method *: answered 204, once)",
        "Aim(any method *: a call before, once)",
    ]
    vault.reset()
    assert vault.aims == vault.unfired == ()
    assert vault.get("sys/mounts").ok


def test_what_has_not_happened_is_known(vault: Vault) -> None:
    vault.fail_next(503, 2, path="secret/*")
    vault.fail_next(503, path="sekret/*")
    forgotten = vault.expect(["GET sys/health", "GET sys/mounts"])
    entered = vault.expect([])
    vault.get("secret/data/app")

    assert [*vault.unfired] == [vault.aims[1], forgotten, entered]
    assert repr(forgotten) == "expect(GET sys/health, …) is for a with: nothing was compared"
    for _ in range(2):
        with entered:
            pass
    assert [*vault.unfired] == [vault.aims[1], forgotten]
