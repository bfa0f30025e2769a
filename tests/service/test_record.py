"""Records: what ``typing.NamedTuple`` makes of a class, field for field and member for member."""

from __future__ import annotations

import pickle
import typing

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
        lambda point: (point.__name__, point.__qualname__, point.__module__, point.__doc__, point.__bases__),
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


def test_only_a_field_is_replaced() -> None:
    for point in (OURS, THEIRS):
        with pytest.raises(ValueError, match=r"unexpected field names: \['z', 'w'\]"):
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
