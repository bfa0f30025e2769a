"""Batches: which can be read, how items fail, and the status of the answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.service.errors import BadRequest
from labkit.service.message import Reply
from labkit.vault.engines.transit import batch
from labkit.vault.engines.transit.refusals import ListedRefusal

MEMBERS = batch.ENCRYPT_MEMBERS


class Warned:
    """The part of a context that an answer needs."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)


@pytest.mark.parametrize(
    ("batch_input", "why"),
    [
        ("x", "source data must be an array or slice, got string"),
        (5, "source data must be an array or slice, got string"),
        (True, "source data must be an array or slice, got bool"),
        ({"plaintext": ""}, "source data must be an array or slice, got map"),
        (["x"], "[0] expected a map, got 'string'"),
        ([{"plaintext": ""}, 3], "[1] expected a map, got 'json.Number'"),
        ([None], "[0] expected a map, got '<nil>'"),
        ([{"plaintext": True}], "'[0].plaintext' expected type 'string', got unconvertible type 'bool'"),
        ([{"plaintext": 5}], "'[0].plaintext' expected type 'string', got unconvertible type 'json.Number'"),
        ([{"plaintext": None}], "'[0].plaintext' expected type 'string', got unconvertible type '<nil>'"),
        ([{"context": []}], "'[0].context' expected type 'string', got unconvertible type '[]interface {}'"),
        ([{"nonce": {}}], "'[0].nonce' expected type 'string', got unconvertible type 'map[string]interface {}'"),
        ([{"key_version": "1"}], "'[0].key_version' expected type 'int', got unconvertible type 'string'"),
        ([{"key_version": 1.5}], "'[0].key_version' expected type 'int', got unconvertible type 'json.Number'"),
        ([{"key_version": True}], "'[0].key_version' expected type 'int', got unconvertible type 'bool'"),
        (
            [{"convergent_encryption": "perhaps"}],
            "'[0].convergent_encryption' expected type 'bool', got unconvertible type 'string'",
        ),
        (
            [{"convergent_encryption": 1}],
            "'[0].convergent_encryption' expected type 'bool', got unconvertible type 'json.Number'",
        ),
        (
            [{"plaintext": 1}, {"reference": 2}],
            "'[0].plaintext' expected type 'string', got unconvertible type 'json.Number'\n"
            "'[1].reference' expected type 'string', got unconvertible type 'json.Number'",
        ),
    ],
)
def test_a_batch_that_cannot_be_read_is_refused_whole(batch_input: Any, why: str) -> None:
    with pytest.raises(ListedRefusal) as caught:
        batch.read_items(batch_input, MEMBERS)

    assert caught.value.errors == (f"1 error occurred:\n\t* failed to parse batch input: {why}\n\n",)


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(BadRequest, match=r"^missing batch input to process$"):
        batch.read_items([], MEMBERS)


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"plaintext": "", "key_version": 0, "unknown": [1]},
        {"context": None, "key_version": None, "reference": None},
        {"convergent_encryption": True},
        {"convergent_encryption": "true"},
        {"convergent_encryption": ""},
    ],
)
def test_what_an_item_may_be(item: dict[str, Any]) -> None:
    assert batch.read_items([item], MEMBERS) == [item]


@pytest.mark.parametrize(
    ("contexts", "good"),
    [
        ([None, None], True),
        (["a", "b"], True),
        (["", None], True),
        (["a", None], False),
        (["", "b"], False),
    ],
)
def test_all_items_carry_a_context_or_none_does(contexts: list[str | None], good: bool) -> None:
    items = [{"context": context} for context in contexts]
    if good:
        batch.check_contexts(items)
    else:
        with pytest.raises(BadRequest, match=r"^context should be set either in all the request blocks or in none$"):
            batch.check_contexts(items)


@given(st.lists(st.sampled_from(["good", "bad", "worse"]), min_size=1, max_size=20))
def test_results_stand_in_the_order_of_their_items(kinds: list[str]) -> None:
    items = [{"kind": kind, "reference": f"r{number}"} for number, kind in enumerate(kinds)]

    def one(item: batch.Item, position: int) -> batch.Result:
        if item["kind"] == "bad":
            raise BadRequest("was bad")
        if item["kind"] == "worse":
            raise ListedRefusal("was worse")
        return {"plaintext": str(position)}

    results, failures = batch.work(items, one, {"plaintext": ""})

    assert failures == len(kinds) - kinds.count("good")
    assert results == [
        {"plaintext": str(number), "reference": f"r{number}"}
        if kind == "good"
        else {"plaintext": "", "error": f"was {kind}", "reference": f"r{number}"}
        for number, kind in enumerate(kinds)
    ]


def test_a_missing_reference_is_empty() -> None:
    results, _ = batch.work([{}, {"reference": None}], lambda item, position: {}, {})

    assert results == [{"reference": ""}, {"reference": ""}]


@pytest.mark.parametrize(
    ("failures", "wanted", "status", "warned"),
    [
        (0, 400, 200, False),
        (0, 207, 200, False),
        (0, 999, 200, False),
        (1, 400, 400, False),
        (1, 207, 207, False),
        (1, 200, 200, False),
        (1, 599, 599, False),
        (1, 600, 400, True),
        (1, 199, 400, True),
        (1, 0, 400, True),
        (1, -1, 400, True),
        (2, 207, 400, False),
        (2, 600, 400, False),
    ],
)
def test_the_status_of_two_items(failures: int, wanted: int, status: int, warned: bool) -> None:
    results: list[dict[str, Any]] = [{}, {}]
    ctx = Warned()

    answer = batch.answer(ctx, results, failures, wanted)  # type: ignore[arg-type]  # all of a context that it uses

    if isinstance(answer, Reply):
        assert answer.status == status
        assert answer.data == {"batch_results": results}
    else:
        assert status == 200
        assert answer == {"batch_results": results}
    assert ctx.warnings == ([batch.UNUSABLE_STATUS] if warned else [])
