"""Aimed failures: which of the next requests of a vault fail, wait or get no answer, for tests of clients.

1. An aim is a rule with a counter.  A request takes one: the oldest that matches its method and path.
2. Method and path are matched as ``calls`` shows them: with the namespace, without query and slash at the end, and a
   listing is LIST.  ``*`` stands for any text, also for none and for slashes.  POST and PUT are one, as the API takes
   both alike.
3. Aims are no state: they are lost when a vault is saved or reset, and so is what waits for one then.
4. A delay or an end of the connection comes before or after its request is carried out.  Whoever gives up during a
   delay before finds that nothing was carried out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from labkit.service.arguments import MAX_FAILURES, duration_ns, judge_failures, one_of, text, whole_number, wrong
from labkit.service.call_names import call_method, call_path
from labkit.service.durations import SECOND_NS, format_duration
from labkit.service.errors import ServiceError
from labkit.service.fields import to_flag
from labkit.service.limits import is_text
from labkit.service.message import Response, copied, respond
from labkit.service.request_path import readable, split_path

METHODS = ("GET", "HEAD", "LIST", "POST", "PUT", "PATCH", "DELETE")
MAX_DELAY_NS = 365 * 86_400 * SECOND_NS
MAX_PATTERNS = 2_048
BEFORE, AFTER = "before", "after"
FAILED = "failure asked for with fail_next"

WITHOUT_BODY = (204, 304)
FRAMING = ("content-length", "transfer-encoding")

_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[ -~]*", re.ASCII)


class Aimed(NamedTuple):
    """Which requests are meant, and how many of them."""

    path: str
    method: str | None
    times: int


class Aim:
    """What happens to ``times`` requests: an answer, a delay, no answer at all, or a call before they are carried out.

    ``taken`` counts those to which it has happened; ``group`` are the aims of its vault that end together.
    """

    __slots__ = ("_pattern", "answer", "call", "delay_ns", "drops", "group", "method", "path", "taken", "times", "when")

    def __init__(self, target: Aimed) -> None:
        self.path, self.method, self.times = target
        self.taken = 0
        self.answer: Response | None = None
        self.call: Callable[[], object] | None = None
        self.delay_ns, self.drops, self.when = 0, False, BEFORE
        self.group: Any = None
        self._pattern = path_pattern(target.path)

    def __repr__(self) -> str:
        times = "once" if self.times == 1 else f"{self.times} times"
        return f"Aim({self.method or 'any method'} {self.path}: {self._what}, {times})"

    @property
    def _what(self) -> str:
        if self.answer is not None:
            return f"answered {self.answer.status}"
        if self.delay_ns:
            return f"wait {format_duration(self.delay_ns)} {self.when}"
        return f"no answer, dropped {self.when}" if self.drops else "a call before"

    def matches(self, method: Any, path: str) -> bool:
        """Whether it is aimed at a request."""
        return self.method in (None, folded(method)) and self._pattern.fullmatch(path) is not None

    def answered(self) -> Response:
        """Return its answer, of which nobody else has a part."""
        assert self.answer is not None
        status, headers, body, _ = self.answer
        return Response(status, {**headers}, copied(body))


def folded(method: Any) -> Any:
    """Return a method as it is compared: PUT is POST."""
    return "POST" if method == "PUT" else method


def aimed_path(path: str) -> str:
    """Return a path of an aim or expectation as ``calls`` would show it."""
    return call_path(path.lstrip("/").removeprefix("v1/"))


@lru_cache(MAX_PATTERNS)
def path_pattern(path: str) -> re.Pattern[str]:
    """Return what matches a path in which ``*`` stands for any text."""
    first, *parts = [re.escape(part) for part in path.split("*")]
    middle = "".join([f"(?>.*?{part})" for part in parts[:-1]])  # the earliest is as good as any: no going back
    return re.compile(f"{first}{middle}.*{parts[-1]}" if parts else first, re.DOTALL)


def target(path: Any, method: Any, times: Any) -> Aimed:
    """Return which requests are meant; ValueError says what is wrong with it."""
    if method is not None:
        one_of("method", "a method, or None for any", method, METHODS)
    pattern = text("path", "a path such as secret/data/app or secret/data/*", path)
    times = whole_number("times", f"a whole number from 1 to {MAX_FAILURES}", times, 1, MAX_FAILURES)
    return Aimed(aimed_path(pattern), folded(method), times)


def failing(target: Aimed, status: Any, errors: Any, headers: Any) -> Aim:
    """Return the aim of ``fail_next``; ValueError says what is wrong with it."""
    judge_failures(status, target.times)
    texts = [FAILED] if errors is None else errors
    if not isinstance(texts, list | tuple) or not all(is_text(one) for one in texts):
        raise wrong("errors", "a list of texts", errors)
    return _answering(target, status, {"errors": [*texts]}, headers)


def answering(target: Aimed, status: Any, body: Any, headers: Any) -> Aim:
    """Return the aim of ``answer_next``; ValueError says what is wrong with it."""
    whole_number("status", "a status from 200 to 599", status, 200, 599)
    if body is not None and not _is_json_object(body):
        raise ValueError("body: expected what is a JSON object, such as {'data': {'user': 'ada'}}, or None")
    if body is not None and status in WITHOUT_BODY:
        raise ValueError(f"body: expected None, as no body is sent with status {status}; leave it out, or answer 200")
    return _answering(target, status, copied(body), headers)


def delaying(target: Aimed, duration: Any, when: Any) -> Aim:
    """Return the aim of ``delay_next``; ValueError says what is wrong with it."""
    delay_ns = duration_ns("duration", duration, seconds=True)
    if not 0 < delay_ns <= MAX_DELAY_NS:
        raise wrong("duration", "a duration above 0s, up to 365d, such as 2s", duration)
    aim = Aim(target)
    aim.delay_ns, aim.when = delay_ns, _judged_when("a delay", when)
    return aim


def dropping(target: Aimed, when: Any) -> Aim:
    """Return the aim of ``drop_next``; ValueError says what is wrong with it."""
    aim = Aim(target)
    aim.drops, aim.when = True, _judged_when("an end of the connection", when)
    return aim


def calling(target: Aimed, call: Any) -> Aim:
    """Return the aim of ``before_next``; ValueError says what is wrong with it."""
    if not callable(call):
        raise wrong("call", "a function without parameters, such as lambda: vault.delete('secret/data/app')", call)
    aim = Aim(target)
    aim.call = call
    return aim


def _answering(target: Aimed, status: int, body: Any, headers: Any) -> Aim:
    aim = Aim(target)
    answer = respond(status, body)
    answer.headers.update(_judged_headers(headers))
    aim.answer = answer
    return aim


def _judged_when(what: str, when: Any) -> str:
    return one_of("when", f"{what} 'before' or 'after' the request is carried out", when, (BEFORE, AFTER))


def _judged_headers(headers: Any) -> Mapping[str, str]:
    if headers is None:
        return {}
    if not isinstance(headers, Mapping):
        raise wrong("headers", "a mapping of names to texts", headers)
    for name, value in headers.items():
        if not (isinstance(name, str) and _HEADER.fullmatch(name)):
            raise wrong("headers", "names such as Retry-After", name)
        if name.lower() in FRAMING:
            raise wrong("headers", "others than those that say how long the body is, which labkit writes", name)
        if not (isinstance(value, str) and _HEADER_VALUE.fullmatch(value)):
            raise wrong(f"headers: {name}", "a text of printable ASCII", value)
    return headers


def _is_json_object(body: Any) -> bool:
    import json

    try:
        if not isinstance(body, dict) or json.loads(json.dumps(body, allow_nan=False)) != body:
            return False
        return bool(json.dumps(body, ensure_ascii=False).encode())  # a text without UTF-8 form is refused
    except (TypeError, ValueError, RecursionError):
        return False


def called(method: Any, path: Any, headers: Mapping[str, str]) -> tuple[Any, str]:
    """Return a request's method and path as ``calls`` shows them."""
    namespace = next((value for name, value in headers.items() if name.lower() == "x-vault-namespace"), "")
    query: dict[str, Any] = {}
    try:
        clean, query = split_path(path)
        lists = method == "GET" and to_flag(query.get("list") or "")
    except (ServiceError, ValueError):
        clean, lists = readable(path), False
    above = str(namespace).strip("/")
    parts = ("" if above == "root" else above, call_path(clean))  # decision C17
    return call_method(method, lists=lists), "/".join([part for part in parts if part])
