"""Attempts: by what one is known again, so that the next hint comes after a changed one, whatever the check saw.

1. Of a lab or vault that is what was done in it, when, and what is stored; reading and waiting change nothing.
2. Of a function it is what it does: its code, and that of the functions and plain values of its notebook that it uses.
   It is never judged by that.
3. Anything else is known by its text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dis import get_instructions
from inspect import getclosurevars
from types import CodeType, FunctionType
from typing import Any

from labkit.front.lab import Lab
from labkit.front.vault import Vault
from labkit.lessons.worlds import acts_of, fingerprint, is_changing

RETURNING = {"RESUME", "NOP", "POP_TOP", "LOAD_CONST", "LOAD_SMALL_INT", "RETURN_CONST", "RETURN_VALUE"}
"""The instructions of a function that does nothing but return a value that is written down in it."""
PLAIN = (str, bytes, int, float, tuple, list, dict, set, frozenset, type(None))


def attempt_of(*handed: Any) -> str:
    """Return a few characters by which what was handed in differs from another attempt."""
    return fingerprint(*[_facts(part) for part in handed])


def is_blank(function: Any) -> bool:
    """Whether a function is as it was handed out: it does nothing, not even with what it is given, but return."""
    code = getattr(function, "__code__", None)
    return code is not None and {one.opname for one in get_instructions(code)} <= RETURNING


def _facts(part: Any) -> Any:
    if isinstance(part, Lab):
        return acts_of(part), *[[*part.trace.select(kind)] for kind in ("fault", "mode")], _written(part)
    if isinstance(part, Vault):
        storage = part.core.storage
        stored = [(key, storage.get(key)) for key in storage.keys()]  # noqa: SIM118  # a store has no other way
        return acts_of(part), stored, part.files.state()
    if isinstance(part, FunctionType):
        return list(_code_of(part, set()))
    return part if isinstance(part, PLAIN) else type(part).__name__


def _written(lab: Lab) -> Any:
    writes = [(write.at_ns, write.path, write.committed.value_digest) for write in lab.ledger.writes]
    return writes, [(ask.at_ns, ask.path, ask.method) for ask in lab.ledger.failed_asks if is_changing(ask.method)]


def _code_of(function: FunctionType, known: set[int]) -> Iterator[Any]:
    """Give what a function does, and what the functions and values that it names do and are."""
    known.add(id(function))
    yield from _instructions(function.__code__)
    used = [function.__globals__.get(name) for name in function.__code__.co_names]
    for value in [*used, *getclosurevars(function).nonlocals.values(), *(function.__defaults__ or ())]:
        if isinstance(value, FunctionType):
            if id(value) not in known and value.__module__ == function.__module__:
                yield from _code_of(value, known)
        elif isinstance(value, PLAIN):
            yield value


def _instructions(code: CodeType) -> Iterator[Any]:
    yield code.co_code, code.co_names, code.co_varnames
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _instructions(value)
        else:
            yield value
