"""Wire size: about how many bytes a value takes on the wire: text its characters, everything else a small constant.

It judges nothing and never raises (R25): an answer of the service may be larger or deeper than what the service takes.
"""

from __future__ import annotations

from typing import Any

from labkit.service.limits import CONTAINER_BYTES, NAME_BYTES, SCALAR_BYTES, TEXT_BYTES

_CONTAINERS = (dict, list, tuple)


def wire_size(value: Any) -> int:
    """Return about how many bytes a value takes on the wire: a function of the value only, cheap to compute."""
    size = 0
    pending = [value]
    for item in pending:
        kind = type(item)
        if kind is str:
            size += len(item) + TEXT_BYTES
        elif kind is dict:
            size += CONTAINER_BYTES + NAME_BYTES * len(item)
            try:
                size += len("".join(item))
            except TypeError:  # a name is not text
                size += sum([len(name) if type(name) is str else SCALAR_BYTES for name in item])
            for member in item.values():
                kind = type(member)
                if kind is str:
                    size += len(member) + TEXT_BYTES
                elif kind in _CONTAINERS:
                    pending.append(member)
                else:
                    size += SCALAR_BYTES
        elif kind is list or kind is tuple:
            size += CONTAINER_BYTES
            pending += item
        else:
            size += SCALAR_BYTES
    return size
