"""Call names: what a request and its answer name: the members that were sent, the version that is answered; no value.

A vault's list of calls and a lab's books both say no more of a call than this.  A listing is called LIST, also where it
was sent as GET with ``list=true``, and no path has a slash at its end: the service takes these alike.
"""

from __future__ import annotations

from typing import Any

from labkit.service.message import Body

MAX_NAMES = 64
MAX_NAME_CHARACTERS = 64


def call_method(method: Any, *, lists: bool) -> Any:
    """Return the method of a call, of which is known whether it lists."""
    return "LIST" if lists else method


def call_path(path: str) -> str:
    """Return the path of a call."""
    return path.rstrip("/")


def sent_names(body: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of members, with those of ``options``; not too many, and none too long."""
    names = [*body][:MAX_NAMES]
    options = body.get("options")
    if type(options) is dict:
        names += [f"options.{name}" for name in [*options][: MAX_NAMES - len(names)]]
    return tuple([name[:MAX_NAME_CHARACTERS] for name in names])


def named_version(answered: Body | None) -> int | None:
    """Return the version of a key or secret that an answer's body names; what it is of, the path says."""
    data = answered.get("data") if answered else None
    if type(data) is not dict:
        return None
    version = data.get("key_version")
    if version and type(version) is int:
        return version
    facts = version_facts(data) if "metadata" in data else data
    if facts is None:
        return None
    version = facts.get("version") or data.get("latest_version")
    return version if type(version) is int else None


def version_facts(data: dict[str, Any]) -> dict[str, Any] | None:
    """Return the part of an answer's data that would say which version it is: ``metadata``, else the data itself.

    The answer to a reading has the first, that to a write the second.  None where ``metadata`` is not an object.
    """
    facts = data.get("metadata", data)
    return facts if type(facts) is dict else None
