"""JSON merge patch against the examples of RFC 7396, appendix A, and the properties that follow from its text."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.vault.engines.kv.merge import merge_patch
from tests.examples import examples

# original, patch, result
APPENDIX_A = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("original", "patch", "result"), APPENDIX_A)
def test_the_examples_of_the_rfc(original: Any, patch: Any, result: Any) -> None:
    assert merge_patch(original, patch) == result


@pytest.mark.parametrize(("original", "patch", "result"), APPENDIX_A)
def test_the_examples_of_the_rfc_hold_for_a_member_of_a_secret(
    service: Any, original: Any, patch: Any, result: Any
) -> None:
    service.post("secret/data/app", {"data": {"m": original, "other": 1}})

    assert service.patch("secret/data/app", {"data": {"m": patch}}).data["version"] == 2

    kept = {"other": 1} if patch is None else {"m": result, "other": 1}  # null takes the member itself away
    assert service.get("secret/data/app").data["data"] == kept


def test_a_list_is_taken_as_it_is_nulls_and_all() -> None:
    assert merge_patch({"a": [1]}, {"a": [None, {"b": None}]}) == {"a": [None, {"b": None}]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), JSON, max_size=3)


@settings(max_examples=examples(200), deadline=None)
@given(JSON, JSON)
def test_arguments_stay_as_they_are_and_patching_twice_is_patching_once(target: Any, patch: Any) -> None:
    kept = copy.deepcopy((target, patch))

    once = merge_patch(target, patch)

    assert (target, patch) == kept
    assert merge_patch(once, patch) == once


@settings(max_examples=examples(200), deadline=None)
@given(OBJECTS, OBJECTS)
def test_members_outside_the_patch_are_kept_and_null_ones_are_gone(
    target: dict[str, Any], patch: dict[str, Any]
) -> None:
    merged = merge_patch(target, patch)

    assert {name: merged[name] for name in target if name not in patch} == {
        name: value for name, value in target.items() if name not in patch
    }
    assert not [name for name, value in patch.items() if value is None and name in merged]
    assert merge_patch(target, {}) == target
