"""What operations may answer, as OpenAPI says it: results, refusals, and what has the form of either."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Vault
from labkit.service.openapi_answers import ENVELOPE, answers_of, shared_answers
from labkit.service.routing import Route


def silent(ctx) -> None:
    """Do."""


def telling(ctx) -> dict[str, int]:
    """Say."""
    return {}


def either(ctx) -> dict[str, int] | None:
    """Say, or do."""


def forms(answer: dict[str, Any]) -> list[str]:
    """The names of the schemas that an answer may have; empty for any object."""
    schema = answer["content"]["application/json"]["schema"]
    return [one.get("$ref", "").rpartition("/")[2] for one in schema.get("anyOf", [schema])]


def test_a_refusal_may_carry_a_result_where_one_can_come_of_it() -> None:
    found = {name: forms(answer) for name, answer in shared_answers().items()}

    assert found == {
        "BadRequest": ["Errors", "Envelope"],
        "Forbidden": ["Errors"],
        "NotFound": ["Errors", "Envelope"],
        "Refused": ["Errors"],
    }


@pytest.mark.parametrize(
    ("routes", "statuses", "form"),
    [
        ([Route("read", "a", telling)], ["200"], ["Envelope"]),
        ([Route("list", "a", telling)], ["200"], ["Names"]),
        ([Route("read", "a", telling), Route("list", "a", telling)], ["200"], ["Envelope", "Names"]),
        ([Route("write", "a", silent)], ["200", "204"], ["Envelope"]),
        ([Route("write", "a", either)], ["200", "204"], ["Envelope"]),
        ([Route("write", "a", either, (), "accepted")], ["200", "202", "204"], ["Envelope"]),
        ([Route("read", "a", telling, (), "no_envelope")], ["200"], [""]),
    ],
)
def test_an_operation_answers_what_its_handlers_return(routes, statuses, form) -> None:
    answers = answers_of(routes)

    assert list(answers) == [*statuses, "400", "403", "404", "default"]
    assert forms(answers["200"]) == form
    assert ("content" in answers["default"]) == (form == [""])  # a node's health is not a list of errors


def test_every_member_of_the_envelope_is_always_there() -> None:
    assert set(ENVELOPE) <= set(Vault.dev().get("sys/mounts").body or ())
