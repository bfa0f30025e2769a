"""Encoding: plain values and registered records as CBOR (RFC 8949), and back.

1. Arrays are tuples; lists and frozen sets have a tag each, as has each record: its fields, in order, are an array.
2. What is written with fields that a record has no more, or without one that it needs, is refused; one that it has
   got since has its default.
3. Reading makes plain values and records of the table only, of which each field is of the declared kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cbor2

from labkit.front.lab_file.bounds import MAX_DEPTH, end_of_item
from labkit.front.lab_file.errors import LabFileError
from labkit.front.lab_file.field_kinds import wrong_field
from labkit.front.lab_file.record_tags import FROZEN_SET, LIST, RECORDS, fields_of

FieldNames = Mapping[int, tuple[str, ...]]


def write(value: Any) -> bytes:
    """Return a value as CBOR; LabFileError for one that is not plain, or is nested too deep."""
    _judge_plain(value)
    try:
        return cbor2.dumps(value, encoders=_WRITERS)
    except LabFileError:
        raise
    except (cbor2.CBOREncodeError, UnicodeEncodeError) as error:
        raise LabFileError(f"the lab holds a value that cannot be saved: {error}") from None


def read(data: bytes, start: int, names: FieldNames) -> tuple[Any, int]:
    """Return the value that begins at ``start``, and where it ends; ``names`` are the fields that records came with."""
    end = end_of_item(data, start, {LIST, FROZEN_SET, *names})
    makers: dict[int, Callable[[Any, bool], Any]] = {LIST: _list, FROZEN_SET: _frozen_set}
    makers |= {tag: _maker(RECORDS[tag], names[tag]) for tag in names}
    try:
        value = cbor2.loads(
            data[start:end],
            semantic_decoders=makers,
            object_hook=lambda members, _: dict(members),
            max_depth=MAX_DEPTH,
            allow_duplicate_keys=False,
            immutable=True,
        )
    except LabFileError:
        raise
    except (cbor2.CBORError, TypeError, ValueError) as error:
        cause = error.__cause__
        raise (
            cause if isinstance(cause, LabFileError) else LabFileError(f"expected CBOR, got {cause or error}")
        ) from None
    return value, end


def judge_contents(contents: bytes) -> None:
    """Return if what was written, one value after the other, is within the bounds of what is read."""
    at = 0
    while at < len(contents):
        at = end_of_item(contents, at, {LIST, FROZEN_SET, *RECORDS})


def is_kept(saved: Any, again: Any) -> bool:
    """Whether a plain value is found again in another: the same, or with more members than an older file has."""
    kind = type(saved)
    if kind is not type(again):
        return False
    if kind is dict:
        return all(key in again and is_kept(value, again[key]) for key, value in saved.items())
    if kind in (tuple, list):
        return len(saved) == len(again) and all(map(is_kept, saved, again))
    if kind in _FIELDS:
        return all(is_kept(getattr(saved, field), getattr(again, field)) for field in _FIELDS[kind])
    return bool(saved == again)


def names_of_fields() -> dict[int, tuple[str, ...]]:
    """Return the names of the fields of each record as they are now, by tag."""
    return {tag: fields_of(record) for tag, record in RECORDS.items()}


def known_names(given: Any) -> FieldNames:
    """Return the names of fields that a file has; LabFileError where they are not such a table."""
    if type(given) is not dict:
        raise LabFileError("records: expected a map of field names by tag")
    for tag, names in given.items():
        if tag not in RECORDS:
            raise LabFileError(f"records: expected tags of the table, got {tag!r:.40}")
        if type(names) is not tuple or not all(type(name) is str for name in names):
            raise LabFileError(f"records: expected names for tag {tag}")
    return given


def _judge_plain(value: Any) -> None:
    """Return if a value is plain throughout: a kind that is derived from a plain one would be read as that one."""
    left = [value]
    while left:
        one = left.pop()
        kind = type(one)
        if kind in _SCALARS:
            continue
        if kind is dict:
            left += one
            left += one.values()
        elif kind in _SEQUENCES:
            left += one
        elif kind in _FIELDS:
            left += [getattr(one, field) for field in _FIELDS[kind]]
        else:
            raise LabFileError(f"the lab holds a value that cannot be saved, of the type {kind.__name__}")


def _write_list(encoder: Any, value: list[Any]) -> None:
    encoder.encode_semantic(LIST, tuple(value))


def _write_frozen_set(encoder: Any, value: frozenset[Any]) -> None:
    encoder.encode_semantic(FROZEN_SET, tuple(sorted(value)))


def _write_float(encoder: Any, value: float) -> None:
    if value != value or value in (float("inf"), float("-inf")):
        raise LabFileError(f"the lab holds a value that cannot be saved: {value}")
    encoder.encode_float(value)


def _writer(tag: int, record: type[Any]) -> Callable[[Any, Any], None]:
    fields = fields_of(record)

    def write_record(encoder: Any, value: Any) -> None:
        values = tuple([getattr(value, field) for field in fields])
        wrong = wrong_field(record, values)
        if wrong is not None:
            raise LabFileError(
                f"the lab holds a {record.__name__} that cannot be saved: its {wrong} is of another kind"
            )
        encoder.encode_semantic(tag, values)

    return write_record


def _list(values: Any, _: bool) -> list[Any]:
    if type(values) is not tuple:
        raise LabFileError("a list: expected an array")
    return list(values)


def _frozen_set(values: Any, _: bool) -> frozenset[Any]:
    if type(values) is not tuple:
        raise LabFileError("a set: expected an array")
    return frozenset(values)


def _maker(record: type[Any], names: tuple[str, ...]) -> Callable[[Any, bool], Any]:
    """Return what makes a record of an array of the fields that it was written with."""
    fields = fields_of(record)
    strange = [name for name in names if name not in fields]
    if strange:
        raise LabFileError(f"{record.__name__}: expected the fields {', '.join(fields)}, got {strange[0]!r:.40}")

    def make(values: Any, _: bool) -> Any:
        if type(values) is not tuple or len(values) != len(names):
            raise LabFileError(f"{record.__name__}: expected {len(names)} fields")
        try:
            made = record(**dict(zip(names, values, strict=True)))
        except TypeError:
            raise LabFileError(f"{record.__name__}: expected more fields than {', '.join(names)}") from None
        wrong = wrong_field(record, tuple([getattr(made, field) for field in fields]))
        if wrong is not None:
            raise LabFileError(f"{record.__name__}: {wrong} is of another kind than expected")
        return made

    return make


_SCALARS = frozenset((str, int, bytes, bool, float, type(None)))
_SEQUENCES = frozenset((tuple, list, frozenset))
_FIELDS = {record: fields_of(record) for record in RECORDS.values()}
_WRITERS: dict[type[Any], Any] = {
    list: _write_list,
    frozenset: _write_frozen_set,
    float: _write_float,
    **{record: _writer(tag, record) for tag, record in RECORDS.items()},
}
