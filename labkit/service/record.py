"""Records: named tuples, declared as with ``typing.NamedTuple`` and made in less than half the time.

The class of a record is made when its module is loaded, and the first answer of a fresh process needs some forty.
``typing`` also compiles the text of each annotation, which nothing needs at run time, and each named tuple has methods
of its own, which records share.  The type checker sees the two as one.

1. Fields are the annotated names, in their order; those with a default come last.
2. Methods and properties of the class are the record's too.
3. ``_replace`` takes half the time of a named tuple's, which asks for each field whether it is to be replaced: 2.1 µs
   instead of 4.4 for the 25 fields of a secondary's state, which each push replaces.
4. A constructor is compiled at the ``COMPILED_AT``-th record of its class, which takes as long as 25 of the others:
   most classes of a start make fewer (R24).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

new = tuple.__new__
"""``new(Record, (value, ...))`` makes a record of all of its values without its constructor's frame.

It is for the files that ``tests/house/test_records.py`` lists, each with what it gains there.
"""

COMPILED_AT = 16

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter

    def _make(cls: Any, iterable: Any) -> Any:
        """Make a record of all of its values, in the order of its fields."""
        made = new(cls, iterable)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self: Any, /, **changes: Any) -> Any:
        """Return a record with other values in some fields; ValueError for a name that it has no field of."""
        values, places = [*self], self._places
        try:
            for field, value in changes.items():
                values[places[field]] = value
        except KeyError:
            unknown = [field for field in changes if field not in places]
            raise ValueError(f"Got unexpected field names: {unknown!r}") from None
        return new(type(self), values)

    def _shown(self: Any) -> str:
        """Return the class's name and each field with its value."""
        shown = ", ".join([f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True)])
        return f"{type(self).__name__}({shown})"

    def _asdict(self: Any) -> dict[str, Any]:
        """Return the values by the names of their fields."""
        return dict(zip(self._fields, self, strict=True))

    def _values(self: Any) -> tuple[Any, ...]:
        """Return the values as a plain tuple, for copies and pickles."""
        return tuple(self)

    _SHARED = {
        "__slots__": (),
        "_make": classmethod(_make),
        "_replace": _replace,
        "__repr__": _shown,
        "_asdict": _asdict,
        "__getnewargs__": _values,
    }

    def _constructor(name: str, fields: tuple[str, ...], defaults: dict[str, Any]) -> Any:
        """Return what makes a record of a class at first: it puts arguments in their places, and has no text compiled.

        Arguments that do not fit are left to the compiled one, which refuses them.
        """
        left = COMPILED_AT

        def __new__(cls: Any, *values: Any, **named: Any) -> Any:  # noqa: N807  # it is one
            nonlocal left
            left -= 1
            placed, rest = [*values], fields[len(values) :]
            if left > 0 and len(values) <= len(fields) and named.keys() <= {*rest}:
                for field in rest:
                    if field in named:
                        placed.append(named[field])
                    elif field in defaults:
                        placed.append(defaults[field])
                if len(placed) == len(fields):
                    return new(cls, placed)
            return _compiled(cls, name, fields, defaults)(cls, *values, **named)

        return __new__

    def _compiled(cls: Any, name: str, fields: tuple[str, ...], defaults: dict[str, Any]) -> Any:
        """Give a record's class the constructor that a named tuple has, from now on; return it."""
        listed = ", ".join(fields)
        made = eval(f"lambda _cls, {listed}: _new(_cls, ({listed},))", {"_new": new})
        made.__name__, made.__qualname__ = "__new__", f"{name}.__new__"
        made.__defaults__ = tuple(defaults.values())
        for base in cls.__mro__:
            if "_fields" in vars(base):  # the record itself, of which others may be derived
                base.__new__ = made
        return made

    class _Declared(type):
        """Makes a named tuple from a class that is derived from ``NamedTuple``."""

        def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> type:
            """Return the record's class; TypeError for a field without a default behind one that has one."""
            fields = (*members.get("__annotations__", ()),)
            defaults = {field: members[field] for field in fields if field in members}
            if fields[len(fields) - len(defaults) :] != (*defaults,):
                raise TypeError(f"{name}: fields without a default come first")
            made = {"__new__": _constructor(name, fields, defaults), "_fields": fields, "__match_args__": fields}
            made |= {"_field_defaults": defaults, "_places": dict(zip(fields, range(len(fields)), strict=True))}
            readers = {field: _tuplegetter(place, "a field") for place, field in enumerate(fields)}
            return type(name, (tuple,), {**_SHARED, **made, **members, **readers})

    NamedTuple = type.__new__(_Declared, "NamedTuple", (), {})
