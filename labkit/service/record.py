"""Records: named tuples, declared as with ``typing.NamedTuple`` and made in less than half the time.

The class of a record is made when its module is loaded, and the first answer of a fresh process needs some forty.
``typing`` also compiles the text of each annotation, which nothing needs at run time.  The type checker sees the
two as one.

1. Fields are the annotated names, in their order; those with a default come last.
2. Methods and properties of the class are the record's too.
3. ``_replace`` takes half the time of a named tuple's, which asks for each field whether it is to be replaced: 2.1 µs
   instead of 4.4 for the 25 fields of a secondary's state, which each push replaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

new = tuple.__new__
"""``new(Record, (value, ...))`` makes a record of all of its values without its constructor's frame.

It is for the files that ``tests/house/test_records.py`` lists, each with what it gains there.
"""

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    def _replacing(fields: list[str]) -> Any:
        places = {field: place for place, field in enumerate(fields)}

        def _replace(self: Any, /, **changes: Any) -> Any:
            """Return a record with other values in some fields; ValueError for a name that it has no field of."""
            values = [*self]
            try:
                for field, value in changes.items():
                    values[places[field]] = value
            except KeyError:
                unknown = [field for field in changes if field not in places]
                raise ValueError(f"Got unexpected field names: {unknown!r}") from None
            return new(type(self), values)

        return _replace

    class _Declared(type):
        """Makes a named tuple from a class that is derived from ``NamedTuple``."""

        def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> type:
            """Return the record's class; TypeError for a field without a default behind one that has one."""
            fields = list(members.get("__annotations__", ()))
            defaults = [members[field] for field in fields if field in members]
            if not all(field in members for field in fields[len(fields) - len(defaults) :]):
                raise TypeError(f"{name}: fields without a default come first")
            record = namedtuple(name, fields, defaults=defaults, module=members["__module__"])
            record._replace = _replacing(fields)
            for member, value in members.items():
                if member != "__module__" and member not in fields:
                    setattr(record, member, value)
            return record

    NamedTuple = type.__new__(_Declared, "NamedTuple", (), {})
