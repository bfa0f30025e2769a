"""The parameters that several endpoints of the engine take, each declared once."""

from __future__ import annotations

from typing import Any

from labkit.service import fields
from labkit.service.durations import MAX_DURATION_NS, SECOND_NS

MAX_VERSIONS = 2**32 - 1
MAX_LIFETIME_S = MAX_DURATION_NS // SECOND_NS
SWITCHED_OFF_S = -1


def to_limit(value: Any) -> int:
    """Convert to a number of versions; raise ValueError for one below zero or that needs more than 32 bits."""
    limit = fields.to_integer(value)
    if not 0 <= limit <= MAX_VERSIONS:
        raise ValueError(f"wanted 0 to {MAX_VERSIONS} versions; 0 leaves the number to the engine")
    return limit


def lifetime(field: fields.Field) -> fields.Field:
    """Return a duration's field for lifetimes: it refuses over 64 bits of nanoseconds; all below zero is -1."""

    def convert(value: Any) -> int | None:
        seconds: int | None = field.convert(value)
        if seconds is None:
            return None
        if seconds > MAX_LIFETIME_S:
            raise ValueError(f'time: invalid duration "{value}"; at most {MAX_LIFETIME_S}s')
        return max(seconds, SWITCHED_OFF_S)

    return field._replace(convert=convert)


PATH = fields.path(help="path of the secret; may contain slashes")
FOLDER = fields.folder(help="folder to list; empty for the engine's root")

# Reading and deleting metadata take ``path/`` for ``path``.
CLEANED_PATH = PATH._replace(pattern=PATH.pattern + "/?", convert=lambda value: fields.to_text(value).rstrip("/"))

VERSION = fields.integer("version", "number of the version; 0 or none is the current one")
NUMBERS = fields.integer_list("versions", "numbers of the versions")

DATA = fields.mapping("data", "the secret: an object with members of any kind")
OPTIONS = fields.mapping("options", "cas: the number that the current version must have; 0 when there must be none")

LIMIT = fields.integer("max_versions", "how many versions are kept; 0 is the default")._replace(convert=to_limit)
CAS_REQUIRED = fields.flag("cas_required", "whether every write must name the current version in options.cas")
DELETE_AFTER = lifetime(
    fields.duration("delete_version_after", "time after which a new version is deleted; 0s leaves it to the engine")
)
CUSTOM_METADATA = fields.mapping("custom_metadata", "what users say about the secret: texts by name")


def settings_sent(max_versions: int | None, cas_required: bool | None, delete_after_s: int | None) -> dict[str, Any]:
    """Return those of the three settings that were sent, under the names that the records of engine and key have."""
    sent = {"max_versions": max_versions, "cas_required": cas_required, "delete_after_s": delete_after_s}
    return {name: value for name, value in sent.items() if value is not None}
