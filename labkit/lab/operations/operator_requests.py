"""Operator requests: the runbook of one request that is written out in full, and judges and keeps what is answered.

1. ``$(name)`` in path, body, headers, token and what is expected stands for a kept value (``kept_values``).
2. A request that is repeated is sent again once it is answered, until one answer is not as expected; of the last one
   is kept.
3. An answer is as expected when it is a success; or has the status, the words and the members that are named.
4. No text says a kept value, nor a text of an answer that is not about its success: it may be a secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from labkit.lab.operations.kept_values import MISSING, UnknownValue, filled, filled_text, masked, member
from labkit.lab.operations.runbook_effects import Ask, KeepValues, LookUpValues, Runbook, RunbookError
from labkit.service.message import Body, Response

NO_TOKEN = "none"  # the word that stands for no token
OPTIONS = ("token", "headers", "keep", "answer", "repeat")
MAX_REPEAT = 1_000
ANSWER_KEYS = ("status", "says", "has", "lacks")


def ask(
    cluster: str, method: str, path: str, body: Body | None = None, node: str = "", options: Body | None = None
) -> Runbook:
    """Send a request, to the active node unless another is named; an answer that is not as expected ends the runbook.

    Options are ``token``, the root token unless given, ``none`` for no token; ``headers``, a mapping, sent too;
    ``keep``, a mapping of names to paths in the answer; ``answer``, what is expected of it (status, says, has, lacks);
    ``repeat``, how often it is sent.
    """
    known, options = (yield LookUpValues()), options or {}
    times = options.get("repeat") or 1
    token, headers = options.get("token") or "", options.get("headers") or {}
    try:
        real = filled_text(path, known)
        sent = Ask(
            cluster,
            method,
            real,
            filled(body, known),
            node,
            token="" if token == NO_TOKEN else filled_text(token, known) or None,
            headers=tuple(filled(headers, known).items()),
            shown="" if real == path else masked(real, known),
        )
        wanted = filled(options.get("answer") or {}, known)
    except UnknownValue as error:
        raise RunbookError(f"{method} {path} on {cluster}: {error}") from None
    for time in range(1, times + 1):
        answer = yield sent
        values = dict(_values(answer, options.get("keep") or {}))
        wrong = [*_differences(answer, wanted), *(text for text in values.values() if type(text) is _Nothing)]
        if wrong:
            which = f", time {time} of {times}" if times > 1 else ""
            raise RunbookError(masked(f"{method} {path} on {cluster}{which}: {'; '.join(wrong)}", known))
    if values:
        yield KeepValues(tuple(values.items()))
    return f"{method} {path}: {answer.status}" + (f", {times} times" if times > 1 else "")


class _Nothing(str):
    """What is said of a path at which an answer has nothing to keep."""

    __slots__ = ()


def _values(answer: Response, keep: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, path in keep.items():
        value = member(answer.body, path)
        yield name, _Nothing(f"the answer has no {path} to keep as {name}") if value is MISSING else value


def _differences(answer: Response, wanted: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with an answer: its status first, with what it says."""
    status = wanted.get("status")
    texts = " ".join("; ".join([*answer.errors, *answer.warnings]).split())
    if not answer.status or (not answer.ok if status is None else answer.status != status):
        got = f"answered {answer.status}" if answer.status else "no answer"
        yield f"{f'expected {status}, ' if status is not None else ''}{got}: {texts or 'no text'}"
        return
    says = wanted.get("says") or ""
    if says not in texts:
        yield f"expected words that contain {says!r}, got {texts or 'no text'}"
    for path, value in (wanted.get("has") or {}).items():
        if not _has(answer.body, path, value):
            yield f"{path}: expected {_shown(value)}, got {_shown(member(answer.body, path), 'another text')}"
    for path, value in (wanted.get("lacks") or {}).items():
        if _has(answer.body, path, value):
            yield f"{path}: expected anything but {_shown(value, 'that text')}, got it"


def _has(body: Body | None, path: str, value: Any) -> bool:
    """Whether an answer has a value at a path; one that is a list may also have it as an item."""
    found = member(body, path)
    if isinstance(found, list) and not isinstance(value, list):
        return any(_same(item, value) for item in found)
    return _same(found, value)


def _same(found: Any, value: Any) -> bool:
    return bool(found == value) and isinstance(found, bool) == isinstance(value, bool)


def _shown(value: Any, text: str = "a text") -> str:
    """Show a number, yes or no; of anything else only what it is."""
    if value is MISSING:
        return "nothing"
    if isinstance(value, bool) or value is None:
        return "null" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    return text if isinstance(value, str) else "a list" if isinstance(value, list) else "a mapping"
