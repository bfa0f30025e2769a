"""Records: named tuples, declared as with ``typing.NamedTuple``, whose classes are made in a tenth of the time (R24).

A class is made when its module is loaded, and the first answer of a fresh process needs thirty.  With ``typing`` that
answer takes 12 % longer, and with ``collections.namedtuple`` 5 % (``tests/bench/bench_start.py``, 25 rounds by turns):
the one compiles the text of each annotation, which nothing needs at run time, and both a constructor for each class.
The type checker sees typing's.

1. Fields are the annotated names, in their order; those with a default come last.
2. Methods and properties of the class are the record's too.
3. ``_replace`` takes half the time of a named tuple's, which asks for each field whether it is to be replaced: 2.1 µs
   instead of 4.4 for the 25 fields of a secondary's state, which each push replaces.
4. Constructors of one number of fields share their compiled code, but for the names of the fields.  Of the numbers
   that no first answer needs it is compiled when a record has so many, which takes 35 µs each.
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
    from _collections import _tuplegetter
    from functools import cache
    from types import CodeType, FunctionType

    class _Record(tuple):
        """What all records have."""

        __slots__ = ()

        @classmethod
        def _make(cls, iterable: Any) -> Any:
            """Make a record of all of its values, in the order of its fields."""
            made = new(cls, iterable)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes: Any) -> Any:
            """Return a record with other values in some fields; ValueError for a name that it has no field of."""
            values, places = [*self], self._places
            try:
                for field, value in changes.items():
                    values[places[field]] = value
            except KeyError:
                unknown = [field for field in changes if field not in places]
                raise ValueError(f"Got unexpected field names: {unknown!r}") from None
            return new(type(self), values)

        def _asdict(self) -> dict[str, Any]:
            """Return the values by the names of their fields."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            shown = ", ".join([f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True)])
            return f"{type(self).__name__}({shown})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return (*self,)  # for copies and pickles

    class _Declared(type):
        """Makes a record's class of one that is derived from ``NamedTuple``."""

        def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> type:
            """Return the record's class; TypeError for a field without a default behind one that has one."""
            fields = (*members.get("__annotations__", ()),)
            defaults = {field: members[field] for field in fields if field in members}
            if fields[len(fields) - len(defaults) :] != (*defaults,):
                raise TypeError(f"{name}: fields without a default come first")
            places = {field: place for place, field in enumerate(fields)}
            made = {"__slots__": (), "__new__": _constructor(name, fields, (*defaults.values(),)), "_fields": fields}
            made |= {"__match_args__": fields, "_field_defaults": defaults, "_places": places}
            readers = {field: _tuplegetter(place, "a field") for field, place in places.items()}
            return type(name, (_Record,), {**made, **members, **readers})

    def _constructor(name: str, fields: tuple[str, ...], defaults: tuple[Any, ...]) -> FunctionType:
        """Return what makes a record of its values, by place or by name (rule 4)."""
        named = {"co_name": "__new__", "co_qualname": f"{name}.__new__", "co_varnames": ("_cls", *fields)}
        return FunctionType(_code(len(fields)).replace(**named), globals(), "__new__", defaults)

    @cache
    def _code(count: int) -> CodeType:
        """Return the code of the constructors with so many fields, which differ by the names of these only."""
        compiled = CONSTRUCTORS.get(count)
        if compiled is not None:
            return compiled
        listed = ", ".join([f"_{place}" for place in range(count)])
        return eval(f"lambda _cls, {listed}: new(_cls, ({listed}))").__code__

    # Compiled with the module: those of the numbers of fields that the records of a first answer have (R24).
    CONSTRUCTORS = {
        made.__code__.co_argcount - 1: made.__code__
        for made in (
            lambda _cls: new(_cls, ()),
            lambda _cls, a: new(_cls, (a,)),
            lambda _cls, a, b: new(_cls, (a, b)),
            lambda _cls, a, b, c: new(_cls, (a, b, c)),
            lambda _cls, a, b, c, d: new(_cls, (a, b, c, d)),
            lambda _cls, a, b, c, d, e: new(_cls, (a, b, c, d, e)),
            lambda _cls, a, b, c, d, e, f: new(_cls, (a, b, c, d, e, f)),
            lambda _cls, a, b, c, d, e, f, g: new(_cls, (a, b, c, d, e, f, g)),
            lambda _cls, a, b, c, d, e, f, g, h: new(_cls, (a, b, c, d, e, f, g, h)),
            lambda _cls, a, b, c, d, e, f, g, h, i, j: new(_cls, (a, b, c, d, e, f, g, h, i, j)),
            lambda _cls, a, b, c, d, e, f, g, h, i, j, k: new(_cls, (a, b, c, d, e, f, g, h, i, j, k)),
            lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r: new(
                _cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r)
            ),
            lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u: new(
                _cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u)
            ),
            lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u, v, w, x: new(
                _cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u, v, w, x)
            ),
        )
    }

    NamedTuple = type.__new__(_Declared, "NamedTuple", (), {})
