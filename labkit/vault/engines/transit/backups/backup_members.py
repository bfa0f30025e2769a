"""Members of a backup blob: read by name and kind, because anybody may have written it.

A member that is missing or null is its kind's zero value; one of another kind refuses the blob and is named.
"""

from __future__ import annotations

from typing import Any

from labkit.service.durations import SECOND_NS, parse_instant
from labkit.service.errors import BadRequest
from labkit.service.fields import MAX_INTEGER, MIN_INTEGER
from labkit.vault.engines.transit.encoding import from_base64
from labkit.vault.engines.transit.refusals import ListedRefusal

NO_INSTANT = "0001-01-01T00:00:00Z"
MIN_INSTANT_NS, MAX_INSTANT_NS = -62_135_596_800 * SECOND_NS, 9_214_646_400 * SECOND_NS
"""The years 1 to 2261: a later instant in nanoseconds has no 64 bits, and keys rotate at instants after this one."""


class Members:
    """One object of a blob; ``path`` is what stands before its members' names in a refusal."""

    __slots__ = ("_members", "path")

    def __init__(self, members: Any, path: str) -> None:
        if type(members) is not dict:
            raise ListedRefusal(f"in the backup, {path.rstrip('.') or 'the whole'} must be an object")
        self._members: dict[str, Any] = members
        self.path = path

    def __repr__(self) -> str:
        return f"Members({self.path})"

    def names(self) -> list[str]:
        """Return the names of the members."""
        return list(self._members)

    def has(self, name: str) -> bool:
        """Whether there is such a member, and it is not null."""
        return self._members.get(name) is not None

    def with_defaults(self, defaults: dict[str, Any]) -> Members:
        """Return the object with members that replace those that are missing, null or zero."""
        return Members(
            {**self._members, **{name: self._members.get(name) or defaults[name] for name in defaults}}, self.path
        )

    def flag(self, name: str) -> bool:
        """Return true or false."""
        return bool(self._of_kind(name, bool, "true or false"))

    def number(self, name: str) -> int:
        """Return a whole number of 64 bits."""
        value = self.large_number(name)
        if not MIN_INTEGER <= value <= MAX_INTEGER:
            raise self._refusal(name, "a whole number of 64 bits")
        return value

    def large_number(self, name: str) -> int:
        """Return a whole number of any size."""
        return int(self._of_kind(name, int, "a whole number") or 0)

    def text(self, name: str) -> str:
        """Return a text."""
        return str(self._of_kind(name, str, "a text") or "")

    def value(self, name: str) -> bytes:
        """Return bytes, which are written in base64."""
        text = self.text(name)
        try:
            return from_base64(text)
        except BadRequest:
            raise self._refusal(name, "bytes in base64") from None

    def values(self, name: str) -> list[bytes]:
        """Return a list of bytes, each written in base64."""
        items = self.objects(name)
        wrong = self._refusal(name, "a list of bytes in base64")
        if any(type(item) is not str for item in items):
            raise wrong
        try:
            return [from_base64(item) for item in items]
        except BadRequest:
            raise wrong from None

    def instant(self, name: str) -> int:
        """Return an instant in nanoseconds since the epoch; 0 for one that was never set."""
        text = self.text(name)
        if text in ("", NO_INSTANT):
            return 0
        try:
            found = parse_instant(text)
        except ValueError:
            found = MAX_INSTANT_NS + 1
        if not MIN_INSTANT_NS <= found <= MAX_INSTANT_NS:
            raise self._refusal(name, "an instant as in RFC 3339, before the year 2262")
        return found

    def seconds(self, name: str) -> int:
        """Return an instant that is written in seconds since the epoch, in nanoseconds."""
        found = self.number(name) * SECOND_NS
        if not MIN_INSTANT_NS <= found <= MAX_INSTANT_NS:
            raise self._refusal(name, "a number of seconds that ends before the year 2262")
        return found

    def object(self, name: str) -> Members | None:
        """Return an object."""
        return Members(self._members[name], f"{self.path}{name}.") if self.has(name) else None

    def numbers(self, name: str) -> list[int]:
        """Return a list of whole numbers of any size."""
        value = self._of_kind(name, list, "a list of whole numbers") or []
        if any(type(item) is not int for item in value):
            raise self._refusal(name, "a list of whole numbers")
        return list(value)

    def objects(self, name: str) -> list[Any]:
        """Return a list as it stands; its items are read one by one."""
        return list(self._of_kind(name, list, "a list") or [])

    def _of_kind(self, name: str, kind: type, wanted: str) -> Any:
        value = self._members.get(name)
        if value is not None and type(value) is not kind:
            raise self._refusal(name, wanted)
        return value

    def _refusal(self, name: str, wanted: str) -> ListedRefusal:
        return ListedRefusal(f"in the backup, {self.path}{name} must be {wanted}")
