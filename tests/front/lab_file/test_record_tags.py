"""Record tags: every record that a lab may hold has one, and none has changed."""

from __future__ import annotations

import hashlib
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from labkit.front.lab_file.record_tags import FIRST_TAG, RECORDS, fields_of
from labkit.lab.wire import messages


def test_each_message_and_timer_has_a_tag():
    sent = {value for value in vars(messages).values() if isinstance(value, type) and hasattr(value, "_fields")}

    assert {record for record in sent if record.__module__ == messages.__name__} <= set(RECORDS.values())


def test_each_record_within_a_record_has_a_tag():
    inside = {part for record in RECORDS.values() for hint in get_type_hints(record).values() for part in parts(hint)}

    assert inside
    assert inside <= set(RECORDS.values())


def test_no_record_has_two_tags():
    assert len(set(RECORDS.values())) == len(RECORDS)


def test_tags_that_were_given_stay_as_they_are():
    """A new record is a new line here; a digest that changes otherwise means that older files cannot be read."""
    given = "\n".join(f"{tag - FIRST_TAG} {record.__name__}" for tag, record in sorted(RECORDS.items()))

    assert hashlib.sha256(given.encode()).hexdigest()[:16] == "a8e6f8e8365ce215"


def test_fields_are_in_the_order_of_the_class():
    assert fields_of(messages.Correlation) == ("asker", "number", "attempt")


def parts(hint: Any) -> set[type[Any]]:
    """The classes of records in an annotation."""
    if get_origin(hint) in (tuple, dict, frozenset, Union, UnionType):
        return {part for argument in get_args(hint) for part in parts(argument)}
    return {hint} if hasattr(hint, "_fields") or hasattr(hint, "__dataclass_fields__") else set()
