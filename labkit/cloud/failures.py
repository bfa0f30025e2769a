"""Failures: what goes wrong in a cloud because somebody asked for it: silence, refusals, delays, limits on a rate.

Each is asked for by endpoint, for every environment.  A failure that is asked for by number comes first; then silence,
then the limit on the rate.
"""

from __future__ import annotations

from typing import Any

from labkit.cloud.refusals import api_error, page
from labkit.service.durations import SECOND_NS
from labkit.service.message import Response, silence
from labkit.service.record import NamedTuple

ENDPOINTS = ("discovery", "keys", "token", "compute", "directory", "machine")

TOO_MANY, MILLISECONDS = 429, "ms"
CODES = {TOO_MANY: "TooManyRequests", 500: "InternalServerError", 503: "ServerBusy"}
DOWN = "no answer: the cloud's {} is down"


class PlannedFailure(NamedTuple):
    """One answer that fails: its status, when to come again (empty: not said), and whether it is a page, not JSON."""

    status: int
    retry_after: str = ""
    is_page: bool = False


class CloudRate(NamedTuple):
    """How many requests pass a second and at once, how many are left now, in billionths, and since when."""

    per_second: int
    burst: int
    left: int
    at_ns: int


class CloudFailures:
    """What goes wrong at which endpoint: all of it is state; and how often each was ``asked``, which a lab keeps."""

    __slots__ = ("asked", "delays_ns", "down", "limits", "planned")

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        kept = state or {}
        self.planned: dict[str, tuple[tuple[PlannedFailure, int], ...]] = dict(kept.get("planned", {}))  # how many each
        self.down: dict[str, bool] = dict(kept.get("down", {}))
        self.delays_ns: dict[str, int] = dict(kept.get("delays_ns", {}))
        self.limits: dict[str, CloudRate] = dict(kept.get("limits", {}))
        self.asked: dict[str, int] = {}

    def state(self) -> dict[str, Any]:
        """Return what goes wrong as plain values."""
        return {name: dict(getattr(self, name)) for name in self.__slots__ if name != "asked"}

    def plan(self, endpoint: str, failure: PlannedFailure, times: int) -> None:
        """Let the next requests to an endpoint fail, after those for which that is planned already."""
        self.planned[endpoint] = (*self.planned.get(endpoint, ()), (failure, times))

    def limit(self, endpoint: str, per_second: int, burst: int, now_ns: int) -> None:
        """Let ``per_second`` requests pass a second, and ``burst`` at once."""
        self.limits[endpoint] = CloudRate(per_second, burst, burst * SECOND_NS, now_ns)

    def answer(self, endpoint: str, now_ns: int) -> Response | None:
        """Return the failure of a request to an endpoint; None when it does not fail."""
        self.asked[endpoint] = self.asked.get(endpoint, 0) + 1
        planned = self.planned.get(endpoint)
        if planned:
            (failure, times), *later = planned
            self.planned[endpoint] = ((failure, times - 1), *later) if times > 1 else tuple(later)
            return _failed(failure)
        if endpoint in self.down:
            return silence(DOWN.format(endpoint))
        return self._limited(endpoint, now_ns)

    def _limited(self, endpoint: str, now_ns: int) -> Response | None:
        """Take one request from what a limit leaves; one that comes too early is refused with when to come again."""
        limit = self.limits.get(endpoint)
        if limit is None:
            return None
        left = min(limit.burst * SECOND_NS, limit.left + max(0, now_ns - limit.at_ns) * limit.per_second)
        if left < SECOND_NS:
            self.limits[endpoint] = limit._replace(left=left, at_ns=now_ns)
            wait_s = -(-(SECOND_NS - left) // (limit.per_second * SECOND_NS))
            return _failed(PlannedFailure(TOO_MANY, str(wait_s)))
        self.limits[endpoint] = limit._replace(left=left - SECOND_NS, at_ns=now_ns)
        return None


def _failed(failure: PlannedFailure) -> Response:
    answer = page(failure.status)
    if not failure.is_page:
        answer = api_error(failure.status, CODES.get(failure.status, "Failed"), "a failure that was asked for")
    if failure.retry_after.endswith(MILLISECONDS):
        answer.headers["Retry-After-Ms"] = failure.retry_after.removesuffix(MILLISECONDS)
    elif failure.retry_after:
        answer.headers["Retry-After"] = failure.retry_after
    return answer
