"""Pages of a list: ``after`` leaves out the names up to one, ``limit`` all but so many of the rest.

Every listing takes both (``Route``); who sends neither gets the whole list.
"""

from __future__ import annotations

from typing import Any

from labkit.service import fields
from labkit.service.errors import NotFound
from labkit.service.fields import Field
from labkit.service.message import Reply

PAGE = (
    fields.text("after", "list only names behind this one", ""),
    fields.integer("limit", "list at most so many names; 0 or less lists all", 0),
)

BY_NAME: dict[str, Field] = {field.name: field for field in PAGE}


def take(arguments: dict[str, Any]) -> tuple[str, int] | None:
    """Take out of a listing's arguments which page is asked for; None for the whole list."""
    after, limit = arguments.pop("after", ""), arguments.pop("limit", 0)
    return (after, limit) if after or limit > 0 else None


def cut(answer: Any, after: str, limit: int) -> Any:
    """Return a page of a listing's answer, of which the names are in order; raise NotFound for an empty one."""
    data = answer.data if isinstance(answer, Reply) else answer
    if not isinstance(data, dict) or not isinstance(data.get("keys"), list):
        return answer
    names = [name for name in data["keys"] if name > after] if after else data["keys"]
    names = names[:limit] if limit > 0 else names
    if not names:
        raise NotFound
    page = {**data, "keys": names}
    if isinstance(data.get("key_info"), dict):
        page["key_info"] = {name: data["key_info"][name] for name in names if name in data["key_info"]}
    return answer._replace(data=page) if isinstance(answer, Reply) else page
