"""What a call names: the members that were sent, with those of options, and the version that is answered."""

from __future__ import annotations

import pytest

from labkit.service.call_names import MAX_NAME_CHARACTERS, MAX_NAMES, named_version, sent_names, version_facts


@pytest.mark.parametrize(
    ("answered", "version"),
    [
        ({"data": {"version": 3, "created_time": "x"}}, 3),
        ({"data": {"data": {"version": 9}, "metadata": {"version": 2}}}, 2),
        ({"data": {"ciphertext": "x", "key_version": 4}}, 4),
        ({"data": {"name": "orders", "latest_version": 5}}, 5),
        ({"data": {"key_version": 0, "version": 6}}, 6),
        ({"data": {"version": "3"}}, None),
        ({"data": {"version": True}}, None),
        ({"data": {"metadata": {}}}, None),
        ({"data": {"metadata": 3, "latest_version": 5}}, None),
        ({"data": {}}, None),
        ({"data": ["version"]}, None),
        ({"errors": ["none"]}, None),
        (None, None),
    ],
)
def test_the_version_that_an_answer_names(answered, version):
    assert named_version(answered) == version


def test_the_facts_of_a_version_stand_beside_a_secret_or_for_themselves():
    written = {"version": 3, "created_time": "then"}
    assert version_facts(written) is written
    assert version_facts({"data": {"version": 9}, "metadata": written}) is written
    assert version_facts({"metadata": [written]}) is None


def test_names_are_those_of_members_and_of_options_and_bounded():
    assert sent_names({"data": {"a": 1}, "options": {"cas": 1, "b": 2}}) == (
        "data",
        "options",
        "options.cas",
        "options.b",
    )
    assert sent_names({"options": ["cas"]}) == ("options",)
    assert sent_names({"x" * 1_000: 1}) == ("x" * MAX_NAME_CHARACTERS,)
    many = {str(number): 1 for number in range(MAX_NAMES - 2)}
    assert sent_names({**many, "options": {"a": 1, "b": 2}}) == (*many, "options", "options.a")
