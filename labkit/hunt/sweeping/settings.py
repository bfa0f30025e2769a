"""Settings: values that are put in the place of what a file has there: ``lab.links.0.latency=20ms,80ms``.

1. The path begins at a key of the file and leads, by keys and by places of lists counted from 0, to one value.
2. Values are plain, as those of a matrix: texts, numbers, true and false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import product
from typing import Any, NamedTuple

from labkit.scenario.documents.combination import value_text
from labkit.scenario.documents.yaml_positions import parse
from labkit.scenario.problems import ScenarioError, describe_value, expected

MAX_SETTINGS, MAX_VALUES = 8, 64
SECTIONS = ("lab", "timeline", "end", "settle", "expect", "always", "leads to")
WANTED = "a path and its values, such as lab.links.0.latency=20ms,80ms"
Values = tuple[tuple[str, Any], ...]


class UnusableSetting(ValueError):
    """A setting that cannot be used; the text says why."""


class Setting(NamedTuple):
    """One place of a file, as it is written, and the values that it has by turns."""

    place: str
    values: tuple[Any, ...]

    @property
    def path(self) -> tuple[str, ...]:
        """The keys and places that lead there."""
        return tuple(self.place.split("."))


def read_settings(written: Iterable[str]) -> tuple[Setting, ...]:
    """Read settings; raise UnusableSetting."""
    found = tuple([_read(text) for text in written])
    places = [setting.place for setting in found]
    twice = next((place for place in places if places.count(place) > 1), None)
    if twice is not None:
        raise UnusableSetting(f"--set: expected each place once, got {twice} again; list its values: {twice}=A,B")
    if len(found) > MAX_SETTINGS:
        raise UnusableSetting(f"--set: expected at most {MAX_SETTINGS} settings, got {len(found)}")
    return found


def values_of(settings: Iterable[Setting]) -> Iterator[Values]:
    """Yield every choice of one value for each setting, the last changing fastest."""
    named = [[(setting.place, value) for value in setting.values] for setting in settings]
    yield from product(*named)


def with_values(data: Any, values: Values) -> Any:
    """Return the data of a file with other values in these places; raise UnusableSetting where one leads nowhere."""
    data = deepcopy(data)
    for place, value in values:
        _put(data, place, value)
    return data


def value_at(data: Any, place: str) -> Any:
    """Return what a file has in a place, None for nothing; raise UnusableSetting where it leads nowhere."""
    *above, last = place.split(".")
    for part in above:
        data = _below(data, part, place)
    return data.get(last) if isinstance(data, dict) else _below(data, last, place)


def _read(text: str) -> Setting:
    place, sign, rest = text.partition("=")
    place = place.strip()
    if not sign or not place or not rest.strip():
        raise UnusableSetting(f"--set: expected {WANTED}, got {text!r}")
    if place.partition(".")[0] not in SECTIONS:
        raise UnusableSetting(f"--set: {expected('a path that begins with a key of the file', place, SECTIONS)}")
    values = tuple([_value(place, part) for part in rest.split(",")])
    if len(values) > MAX_VALUES:
        raise UnusableSetting(f"--set: {place}: expected at most {MAX_VALUES} values, got {len(values)}")
    texts = [value_text(value) for value in values]
    if len(set(texts)) < len(texts):
        raise UnusableSetting(f"--set: {place}: expected each value once, got {rest}")
    return Setting(place, values)


def _value(place: str, text: str) -> Any:
    try:
        value = parse(text.strip().encode(), "a value").data
    except ScenarioError:
        value = None
    if value is None or isinstance(value, dict | list) or (isinstance(value, str) and "$(" in value):
        raise UnusableSetting(f"--set: {place}: {expected('a text, a number, true or false', text.strip())}")
    return value


def _put(data: Any, place: str, value: Any) -> None:
    *above, last = place.split(".")
    for part in above:
        data = _below(data, part, place)
    if isinstance(data, list):
        _below(data, last, place)
        data[int(last)] = value
    elif isinstance(data, dict):
        if isinstance(data.get(last), dict | list):
            raise UnusableSetting(f"--set: {place}: expected the place of one value, got {describe_value(data[last])}")
        data[last] = value
    else:
        raise UnusableSetting(f"--set: {place}: expected something with keys above {last}, got {describe_value(data)}")


def _below(data: Any, part: str, place: str) -> Any:
    """Return what a key or the place of a list leads to."""
    if isinstance(data, list):
        if part not in map(str, range(len(data))):
            text = f"expected a place from 0 to {len(data) - 1}, got {part!r}"
            raise UnusableSetting(f"--set: {place}: {text}")
        return data[int(part)]
    if isinstance(data, dict):
        if part not in data:
            raise UnusableSetting(f"--set: {place}: {expected('a key that is there', part, data)}")
        return data[part]
    raise UnusableSetting(f"--set: {place}: expected something with keys above {part}, got {describe_value(data)}")
