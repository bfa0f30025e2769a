"""Pages of a list: ``after`` leaves out the names up to one, ``limit`` all but so many of the rest."""

from __future__ import annotations

from typing import Any

from labkit.service import fields
from labkit.service.errors import NotFound

AFTER = fields.text("after", "list only names behind this one", "")
LIMIT = fields.integer("limit", "list at most so many names; 0 or less lists all", 0)

PAGE = (AFTER, LIMIT)


def listed(names: list[str], after: str, limit: int) -> dict[str, Any]:
    """Return the sorted names of a page; raise NotFound when there are none."""
    page = [name for name in names if name > after] if after else names
    page = page[:limit] if limit > 0 else page
    if not page:
        raise NotFound
    return {"keys": page}
