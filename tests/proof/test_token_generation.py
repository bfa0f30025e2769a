"""The model of an operation token: its counts, and that each property is broken by a mistake in the shipped code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labkit.proof.search import search, stuck
from labkit.proof.token_generation import (
    CANCELS,
    DELETES,
    GIVES,
    STARTS,
    USES,
    WRONG,
    Asking,
    Ceremony,
    TokenBounds,
    TokenGeneration,
    Wanted,
    described,
    judged,
)
from labkit.service.errors import BadRequest
from labkit.service.message import Response
from labkit.vault.replication.trust import operation_token
from labkit.vault.sealing import given_shares, token_generation


@pytest.mark.parametrize(
    ("bounds", "counts"),
    [
        (TokenBounds(1, 2), (25, 135, 8)),
        (TokenBounds(2, 1), (59, 339, 9)),
        pytest.param(TokenBounds(3, 2), (340, 2898, 14), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_attempts_are_searched_to_the_end(bounds: TokenBounds, counts: tuple[int, int, int]) -> None:
    model = TokenGeneration(bounds)
    found, reached = search(model)

    assert (found.exhausted, found.broken) == (True, "")
    assert found[:3] == counts
    assert stuck(model, reached) is None
    assert any(state.promoted for state in reached.states)


def shows_its_otp(shipped: Callable[..., Any], ctx: Any, kind: Any, attempt: Any, **named: Any) -> Any:
    """A status that says the one-time password of its attempt."""
    return shipped(ctx, kind, attempt, **named) | ({"otp": attempt.otp} if attempt else {})


def takes_any_set(shipped: Callable[..., Any], *given: Any) -> bytes:
    """Shares that count whether they combine or not."""
    try:
        root_key: bytes = shipped(*given)
    except BadRequest:
        return b""
    return root_key


REFUSE, GRANT = "is to be refused", "is to be granted"

MISTAKES: list[tuple[Any, str, Callable[..., Any], str, list[str]]] = [
    (given_shares, "with_share", lambda _, given, key: (*given, key), "changes what is stored", [STARTS, GIVES, GIVES]),
    (given_shares, "check_nonce", lambda *_: None, REFUSE, [STARTS, CANCELS, STARTS, GIVES]),
    (given_shares, "prove", takes_any_set, REFUSE, [STARTS, GIVES, GIVES]),
    (token_generation, "_check_event", lambda *_: None, REFUSE, [STARTS, STARTS]),
    (token_generation, "cancel", lambda *_: None, GRANT, [STARTS, CANCELS, STARTS]),
    (token_generation, "_describe", shows_its_otp, "shows a one-time password", [STARTS, GIVES]),
    (
        token_generation,
        "encode",
        lambda shipped, token, otp: shipped(token[::-1], otp),
        "decoded",
        [STARTS, GIVES, GIVES],
    ),
    (operation_token, "check", lambda *_: None, REFUSE, [USES]),
    (operation_token, "delete", lambda *_: None, REFUSE, [STARTS, GIVES, GIVES, DELETES, USES]),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[1])
def test_a_mistake_in_the_shipped_code_is_found(mistake: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, change, says, kinds = mistake
    shipped = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given, **named: change(shipped, *given, **named))

    found, _ = search(TokenGeneration(TokenBounds(2, 2)))

    assert says in found.broken
    assert [call.kind for call in found.way] == kinds
    assert all(described(call).endswith(".") for call in found.way)


def test_a_step_that_raises_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError("no share")

    monkeypatch.setattr(given_shares, "with_share", fail)
    found, _ = search(TokenGeneration(TokenBounds(1, 0)))

    assert found.broken == "a step raised ZeroDivisionError: no share"


def test_an_attempt_that_never_ends_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    model = TokenGeneration(TokenBounds(1, 0))
    monkeypatch.setattr(model, "_calls", lambda state: [Asking(STARTS)] if state.left[0] else [])
    found, reached = search(model)

    assert found.exhausted
    assert stuck(model, reached) == ()


def test_what_may_as_well_never_happen_are_mistakes_and_what_ends_an_attempt() -> None:
    model = TokenGeneration(TokenBounds(1, 1))
    calls = {call for state in search(model)[1].states for call, _ in model.successors(state)}

    assert {call.kind for call in calls if model.is_fault(call)} == {CANCELS, DELETES, GIVES}
    assert {call.what for call in calls if call.kind == GIVES and model.is_fault(call)} == {WRONG}
    assert {call.kind for call in calls if not model.is_fault(call)} == {STARTS, GIVES, USES}
    assert all(model.is_fault(call) for call in calls if call.kind in (CANCELS, DELETES))


ONE_COUNTS = Ceremony(counted=("1",))
STATUS = {"progress": 1, "otp": "", "encoded_token": "", "complete": False}


@pytest.mark.parametrize(
    ("wanted", "status", "shown", "why"),
    [
        (Wanted(ONE_COUNTS), 200, {}, ""),
        (Wanted(ONE_COUNTS), 500, {}, "a request is answered 500"),
        (Wanted(ONE_COUNTS, refused=True), 503, {}, "a request is answered 503"),
        (Wanted(ONE_COUNTS), 400, {}, "a request is answered 400 that is to be granted"),
        (Wanted(ONE_COUNTS, refused=True), 200, {}, "a request is answered 200 that is to be refused"),
        (Wanted(ONE_COUNTS), 200, {"progress": 2}, "the progress is 2, and 1 shares count"),
        (Wanted(Ceremony(), issues=True), 200, {}, "the progress is 1, and 2 shares count"),
        (
            *(Wanted(ONE_COUNTS), 200, {"otp": "x"}),
            "an answer shows a one-time password that is not the start of its attempt",
        ),
        (
            *(Wanted(ONE_COUNTS, shows_otp=True), 200, {}),
            "an answer shows a one-time password that is not the start of its attempt",
        ),
        (Wanted(ONE_COUNTS, shows_otp=True), 200, {"otp": "x"}, ""),
        *[
            (Wanted(ONE_COUNTS), 200, shown, "a token is shown by a share that does not make up the threshold")
            for shown in ({"encoded_token": "x"}, {"complete": True}, {"encoded_token": "x", "complete": True})
        ],
        (Wanted(Ceremony(), issues=True), 200, {"progress": 2, "encoded_token": "x", "complete": True}, ""),
        (
            *(Wanted(Ceremony(), issues=True), 200, {"progress": 2}),
            "a token is shown by a share that does not make up the threshold",
        ),
    ],
)
def test_each_property_of_an_answer_is_judged(wanted: Wanted, status: int, shown: dict[str, Any], why: str) -> None:
    assert judged(wanted, Response(status, {}, {**STATUS, **shown}), (None, None), (None, None)) == why


def test_a_refused_request_may_empty_the_progress_and_change_nothing_else() -> None:
    refused, stored = Response(400, {}, None), ((b"one", None), (b"none", None))

    assert judged(Wanted(Ceremony(), refused=True), refused, *stored) == "a refused request changes what is stored"
    assert judged(Wanted(Ceremony(), refused=True, empties=True), refused, *stored) == ""
    assert judged(Wanted(Ceremony(), refused=True), refused, stored[0], stored[0]) == ""
    assert judged(Wanted(Ceremony()), Response(204, {}, None), *stored) == ""


def test_a_ceremony_is_over_with_a_promotion_or_when_nothing_can_lead_to_one() -> None:
    model = TokenGeneration(TokenBounds())
    none_left = Ceremony(left=(0, 1))

    assert model.is_goal(none_left)
    assert model.is_goal(model.start()._replace(promoted=True))
    assert model.successors(model.start()._replace(promoted=True)) == []
    assert model.successors(model.start()._replace(broken="x")) == []
    for on_the_way in (
        none_left._replace(left=(1, 0)),
        none_left._replace(under_way=True),
        none_left._replace(valid=1),
    ):
        assert not model.is_goal(on_the_way)


def test_what_is_asked_for_is_written_out() -> None:
    assert [described(call) for call in (Asking(STARTS), Asking(CANCELS))] == [
        *("An attempt is started.", "The attempt is cancelled.")
    ]
    assert described(Asking(GIVES, "2", 1)) == "Share 2 is given under the nonce of attempt 1."
    assert described(Asking(GIVES, WRONG, 3)) == "A share of another key is given under the nonce of attempt 3."
    assert described(Asking(USES, number=2)) == "A promotion is asked for with token 2."
    assert described(Asking(USES)) == "A promotion is asked for with a guess."
    assert described(Asking(DELETES, number=1)) == "With token 1 the token is deleted."
    assert str(TokenBounds()) == "2 attempts, 2 mistakes; 2 of 3 key shares"
