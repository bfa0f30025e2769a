"""Records: named tuples, declared as with ``typing.NamedTuple`` and made in less than half the time.

The class of a record is made when its module is loaded, and the first answer of a fresh process needs some forty.
What ``typing`` adds on the way, compiling the text of each annotation, nobody asks for at run time.  To the type
checker both are one.

1. Fields are the annotated names, in their order; those with a default come last.
2. Whatever else stands in the class, methods and properties, is the record's too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Declared(type):
        """Makes a named tuple of a class that is derived from ``NamedTuple``."""

        def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> type:
            """Return the record's class; TypeError for a field without a default behind one that has one."""
            fields = list(members.get("__annotations__", ()))
            defaults = [members[field] for field in fields if field in members]
            if not all(field in members for field in fields[len(fields) - len(defaults) :]):
                raise TypeError(f"{name}: fields without a default come first")
            record = namedtuple(name, fields, defaults=defaults, module=members["__module__"])
            for member, value in members.items():
                if member != "__module__" and member not in fields:
                    setattr(record, member, value)
            return record

    NamedTuple = type.__new__(_Declared, "NamedTuple", (), {})
