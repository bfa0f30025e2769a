"""Records: what ``typing.NamedTuple`` makes of a class, field for field and member for member."""

from __future__ import annotations

import pickle
import sys
import typing
from types import new_class
from typing import Any

import pytest

from labkit.service import record


def declare(base: type) -> type:
    class Point(base):
        """A place."""

        x: int
        y: int = 2
        names: tuple[str, ...] = ()

        unit = "m"

        def __repr__(self) -> str:
            return f"Point({self.x} {self.unit})"

        @property
        def far(self) -> bool:
            return self.x > self.y

        @classmethod
        def at(cls, x: int) -> Point:
            return cls(x)

    return Point


OURS, THEIRS = declare(record.NamedTuple), declare(typing.NamedTuple)


class Kept(record.NamedTuple):
    """A record of the module, which a pickle can name."""

    key: str
    value: bytes = b""


class Longer(Kept):
    """A record with rules of its own."""

    @property
    def size(self) -> int:
        return len(self.value)


@pytest.mark.parametrize(
    "told",
    [
        lambda point: (point._fields, point._field_defaults, [*point.__annotations__]),
        lambda point: (point.__name__, point.__qualname__, point.__module__, point.__doc__),
        lambda point: (point(1), point(1, y=3), point(x=1, names=("a",))),
        lambda point: (repr(point(1)), point(3).far, point.at(4), point.unit),
        lambda point: (point(1)._replace(y=5), point(1)._asdict(), point._make((1, 2, 3))),
        lambda point: (point(1) == (1, 2, ()), hash(point(1)), [*point(1)], point(1) < point(2)),
        lambda point: hasattr(point(1), "__dict__"),
        lambda point: point(1).__match_args__,
    ],
)
def test_a_record_is_what_typing_makes(told) -> None:
    assert told(OURS) == told(THEIRS)


@pytest.mark.parametrize("arguments", [(), (1, 2, (), 4)])
def test_a_record_takes_its_fields_and_no_others(arguments: tuple[object, ...]) -> None:
    for point in (OURS, THEIRS):
        with pytest.raises(TypeError):
            point(*arguments)
        with pytest.raises(AttributeError):
            point(1).x = 2


def test_a_record_is_made_of_all_of_its_values() -> None:
    kinds: tuple[Any, ...] = (OURS, THEIRS)
    for point in kinds:
        assert point._make(iter([1, 2, ()])) == (1, 2, ())
        with pytest.raises(TypeError, match="Expected 3 arguments, got 2"):
            point._make((1, 2))


def test_only_a_field_is_replaced() -> None:
    theirs = ValueError if sys.version_info < (3, 13) else TypeError
    for point, kind in ((OURS, ValueError), (THEIRS, theirs)):
        with pytest.raises(kind, match=r"unexpected field names: \['z', 'w'\]"):
            point(1)._replace(z=1, y=2, w=3)


def test_a_default_comes_last() -> None:
    with pytest.raises(TypeError, match="fields without a default come first"):

        class _Wrong(record.NamedTuple):
            x: int = 1
            y: int  # type: ignore[misc]  # it is refused when run


def test_a_record_can_be_kept_and_extended() -> None:
    assert pickle.loads(pickle.dumps(Kept("a", b"bc"))) == Kept("a", b"bc")
    assert Longer("a", b"bc").size == 2
    assert isinstance(Longer("a")._replace(key="b"), Longer)


def test_a_record_of_all_its_values_is_what_its_constructor_makes():
    made = record.new(Kept, ("a", b"x"))

    assert made == Kept("a", b"x")
    assert type(made) is Kept
    assert made._fields == Kept._fields


def test_a_constructor_places_its_arguments():
    for point in (OURS, THEIRS):
        assert (point(1), point(1, names=("a",)), point(y=4, x=3)) == ((1, 2, ()), (1, 2, ("a",)), (3, 4, ()))


@pytest.mark.parametrize(
    ("values", "named"), [((), {}), ((), {"y": 1}), ((1, 2, (), 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1})]
)
def test_what_a_constructor_refuses_names_the_class_and_the_field(values, named):
    said = []
    for point in (OURS, THEIRS):
        with pytest.raises(TypeError) as refused:
            point(*values, **named)
        said.append(str(refused.value))
    assert said[0] == said[1]
    assert said[0].startswith("Point.__new__() ")


def test_constructors_of_one_number_of_fields_share_no_names_and_no_defaults():
    class One(record.NamedTuple):
        a: int
        b: int = 2

    class Other(record.NamedTuple):
        c: int = 3
        d: int = 4

    class Empty(record.NamedTuple):
        pass

    assert (One(a=1), Other(), Other(d=5), Empty()) == ((1, 2), (3, 4), (3, 5), ())
    assert issubclass(One, tuple)
    with pytest.raises(TypeError, match=r"One\.__new__\(\) got an unexpected keyword argument 'd'"):
        One(1, d=2)  # type: ignore[call-arg]  # it is refused when run


@pytest.mark.parametrize("count", range(20))
def test_a_record_has_as_many_fields_as_it_declares(count: int) -> None:
    names = [f"field_{number}" for number in range(count)]
    members = {"__annotations__": dict.fromkeys(names, "int"), **dict.fromkeys(names[1:], 7)}
    kind: Any = new_class("Kind", (record.NamedTuple,), exec_body=lambda namespace: namespace.update(members))

    assert kind(*range(count)) == (*range(count),) == kind(**dict(zip(names, range(count), strict=True)))
    assert kind(*range(min(count, 1))) == (0, *[7] * (count - 1))[:count]
    with pytest.raises(TypeError, match=r"Kind\.__new__\(\) takes"):
        kind(*range(count + 1))


def test_a_derived_class_has_the_constructor_of_its_record():
    class Base(record.NamedTuple):
        a: int
        b: int = 2

    class Derived(Base):
        pass

    assert type(Derived(1)) is Derived
    assert Derived(a=5) == Base(5) == (5, 2)
    assert "__new__" not in vars(Derived)
