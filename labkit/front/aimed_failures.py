"""Aimed failures: which of the next requests of a vault fail, wait or get no answer, for tests of clients.

1. An aim is a rule with a counter.  A request takes one: the oldest that matches its method and path.
2. A path is matched as ``calls`` shows it, with its namespace and without query; ``*`` stands for any text, also for
   none and for slashes.  A method is matched as it was sent.
3. Aims are no state: they are lost when a vault is saved or reset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from labkit.service.arguments import MAX_FAILURES, duration_ns, judge_failures, one_of, text, whole_number, wrong
from labkit.service.durations import SECOND_NS, format_duration
from labkit.service.errors import ServiceError
from labkit.service.request_path import readable, split_path

METHODS = ("GET", "HEAD", "LIST", "POST", "PUT", "PATCH", "DELETE")
MAX_DELAY_NS = 365 * 86_400 * SECOND_NS
WHEN = ("before", "after")


class Aim:
    """What happens to ``times`` requests: a status, a delay, or no answer before or after they are carried out."""

    __slots__ = ("_pattern", "delay_ns", "drop", "method", "path", "status", "times")

    def __init__(self, path: str, method: str | None, times: int) -> None:
        self.path, self.method, self.times = path, method, times
        self.status, self.delay_ns, self.drop = 0, 0, ""
        self._pattern = path_pattern(path)

    def __repr__(self) -> str:
        what = f"fail with {self.status}" if self.status else f"wait {format_duration(self.delay_ns)}"
        what = f"no answer, dropped {self.drop}" if self.drop else what
        return f"Aim({self.method or 'any method'} {self.path}: {what}, {self.times} times)"

    def matches(self, method: Any, path: str) -> bool:
        """Whether it is aimed at a request."""
        return self.method in (None, method) and self._pattern.fullmatch(path) is not None


def path_pattern(path: str) -> re.Pattern[str]:
    """Return what matches a path in which ``*`` stands for any text."""
    return re.compile(".*".join([re.escape(part) for part in path.split("*")]), re.DOTALL)


def failing(status: Any, path: Any, method: Any, times: Any) -> Aim:
    """Return the aim of ``fail_next``; ValueError says what is wrong with it."""
    judge_failures(status, times)
    aim = _aim(path, method, times)
    aim.status = status
    return aim


def delaying(duration: Any, path: Any, method: Any, times: Any) -> Aim:
    """Return the aim of ``delay_next``; ValueError says what is wrong with it."""
    delay_ns = duration_ns("duration", duration, seconds=True)
    if not 0 < delay_ns <= MAX_DELAY_NS:
        raise wrong("duration", "a duration above 0s, up to 365d, such as 2s", duration)
    aim = _aim(path, method, times)
    aim.delay_ns = delay_ns
    return aim


def dropping(when: Any, path: Any, method: Any, times: Any) -> Aim:
    """Return the aim of ``drop_next``; ValueError says what is wrong with it."""
    when = one_of("when", "when the connection ends: before or after the request is carried out", when, WHEN)
    aim = _aim(path, method, times)
    aim.drop = when
    return aim


def take(aims: list[Aim], method: Any, path: Any, headers: Mapping[str, str]) -> Aim | None:
    """Return the aim that a request takes, and count it; None when none is aimed at it."""
    named = _named(path, headers)
    for aim in [*aims]:  # another thread may add one
        if aim.matches(method, named):
            aim.times -= 1
            if aim.times == 0:
                aims.remove(aim)
            return aim
    return None


def _aim(path: Any, method: Any, times: Any) -> Aim:
    if method is not None:
        one_of("method", "a method, or None for any", method, METHODS)
    pattern = text("path", "a path such as secret/data/app or secret/data/*", path)
    times = whole_number("times", f"a whole number from 1 to {MAX_FAILURES}", times, 1, MAX_FAILURES)
    return Aim(pattern.lstrip("/").removeprefix("v1/"), method, times)


def _named(path: Any, headers: Mapping[str, str]) -> str:
    """Return a request's path as ``calls`` shows it."""
    namespace = next((value for name, value in headers.items() if name.lower() == "x-vault-namespace"), "")
    try:
        clean, _ = split_path(path)
    except ServiceError:
        clean = readable(path)
    parts = (str(namespace).strip("/"), clean)
    return "/".join([part for part in parts if part])
