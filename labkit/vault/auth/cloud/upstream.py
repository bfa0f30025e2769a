"""Upstream: how the cloud is asked, again after a failure, and once for all who need the same.

1. A failure that may pass is asked again: after a delay that grows, is drawn between 0.8 and 1.3 of itself, and has a
   longest value; ``Retry-After`` takes its place, and ends the attempts where it is longer than that.
2. What all logins of a mount need (key sets, access tokens) is fetched by one attempt, noted beside the mount: a
   request that needs it meanwhile waits for the same fetch, and all of them end as the attempt ends.
3. Notes and what was fetched are the cluster's own, in no tree and never replicated; they stay when the request that
   made them is refused (R4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from labkit.service.cloud_environments import host_of
from labkit.service.durations import SECOND_NS, parse_instant
from labkit.service.errors import ServiceError, Unavailable
from labkit.service.message import Fetch, Response
from labkit.service.record import NamedTuple
from labkit.vault.auth.cloud.settings import RetryPolicy
from labkit.vault.storage.records import decode_record, encode_record
from labkit.vault.storage.storage_view import StorageView

if TYPE_CHECKING:
    from labkit.vault.context import Context

CLOUD_UNAVAILABLE, CONFIG_CHANGED = "cloud_unavailable", "config_changed"
NOT_THERE = 404
MAY_PASS = (0, 408, 429, 500, 502, 503, 504)
UNDER_WAY, FETCHED = "", "fetched"

DRAWN_BYTES = 2
ID_BYTES = 8
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HTTP_DATE = re.compile(r"\w{3}, (\d\d) (\w{3}) (\d{4}) (\d\d:\d\d:\d\d) GMT", re.ASCII)

Asking = Generator[Fetch, Response, Response]


class FetchAttempt(NamedTuple):
    """An attempt at a fetch for all: when it began, which retry is due when, how it ended (a text, empty before).

    Notes are dropped with the configuration, and a clock may stand: neither a count nor the time says that an attempt
    is not one of before, ``drawn_id`` does.
    """

    drawn_id: str
    began_ns: int
    retry: int = 0
    not_before_ns: int = 0
    ended: str = UNDER_WAY
    retry_after_s: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether what was wanted is kept now."""
        return self.ended == FETCHED


def own_storage(ctx: Context) -> StorageView:
    """Return what the cluster keeps of the request's mount for itself."""
    return StorageView(ctx, ctx.mount.own_prefix)


def keep(ctx: Context, name: str, row: list[Any]) -> None:
    """Keep a record of the request's mount, also when the request is refused in the end (rule 3)."""
    key = ctx.mount.own_prefix + name
    ctx.write_even_if_refused(key, ctx.encrypt(key, encode_record(row)))


def find_attempt(ctx: Context, name: str) -> FetchAttempt | None:
    """Return the last attempt at something, or None."""
    return own_storage(ctx).decoded(f"attempt/{name}", _decode)


def _decode(stored: bytes) -> FetchAttempt:
    return FetchAttempt(*decode_record(stored))


def ask(ctx: Context, retries: RetryPolicy, fetch: Fetch) -> Asking:
    """Send a fetch, and again while its failure may pass; return the last answer."""
    answer = yield fetch
    for retry in range(1, retries.max_retries + 1):
        wait_ns = _wait_ns(ctx, retries, answer, retry)
        if wait_ns is None:
            break
        report(ctx, fetch, answer, wait_ns)
        answer = yield fetch._replace(not_before_ns=ctx.now + wait_ns)
    if not answer.ok and answer.status != NOT_THERE:
        report(ctx, fetch, answer, None)
    return answer


def fetch_for_all(
    ctx: Context, name: str, retries: RetryPolicy, fetch: Fetch, take: Callable[[Response], str]
) -> Generator[Fetch, Response, FetchAttempt]:
    """Fetch what all need, or wait for the attempt that is under way; return it as it ended, whoever ended it.

    ``take`` keeps what a good answer holds, and returns why it cannot, or an empty text.
    """
    attempt = find_attempt(ctx, name)
    if attempt is None or attempt.ended:
        attempt = _note(ctx, name, FetchAttempt(ctx.entropy(ID_BYTES).hex(), ctx.now))
    while True:
        answer = yield fetch._replace(not_before_ns=attempt.not_before_ns, shared=True)
        noted = find_attempt(ctx, name)
        if noted is None or noted.drawn_id != attempt.drawn_id:
            return attempt._replace(ended="the configuration was changed meanwhile")
        if noted.ended:
            return noted
        if noted == attempt:
            noted = _note(ctx, name, _after(ctx, attempt, retries, fetch, answer, take))
            if noted.ended:
                return noted
        attempt = noted


def _note(ctx: Context, name: str, attempt: FetchAttempt) -> FetchAttempt:
    keep(ctx, f"attempt/{name}", list(attempt))
    return attempt


def _after(
    ctx: Context,
    attempt: FetchAttempt,
    retries: RetryPolicy,
    fetch: Fetch,
    answer: Response,
    take: Callable[[Response], str],
) -> FetchAttempt:
    """Return an attempt as it stands after an answer."""
    if attempt.retry < retries.max_retries:
        wait_ns = _wait_ns(ctx, retries, answer, attempt.retry + 1)
        if wait_ns is not None:
            report(ctx, fetch, answer, wait_ns)
            return attempt._replace(retry=attempt.retry + 1, not_before_ns=ctx.now + wait_ns)
    why = take(answer) if answer.ok else what_came(answer)
    if not why:
        return attempt._replace(ended=FETCHED)
    report(ctx, fetch, answer, None)
    return attempt._replace(ended=f"{host_of(fetch.address)} {why}", retry_after_s=retry_after_s(ctx, answer))


def what_came(answer: Response) -> str:
    """Return in words what came instead of what was asked for."""
    return f"answered {answer.status}" if answer.status else "did not answer"


def unavailable(ctx: Context, why: str, after_s: int = 0) -> ServiceError:
    """Return the refusal of a request that waits for the cloud in vain; it says when to come again, where known."""
    if after_s:
        ctx.answer_headers = {**(ctx.answer_headers or {}), "Retry-After": str(after_s)}
    return Unavailable(f"the cloud could not be asked: {why}; try again later", code=CLOUD_UNAVAILABLE)


def report(ctx: Context, fetch: Fetch, answer: Response, wait_ns: int | None) -> None:
    """Observe that a call failed, and after which time it is made again, if it is."""
    ctx.observe("cloud call failed", host=host_of(fetch.address), status=answer.status, retried_in_ns=wait_ns)


def _wait_ns(ctx: Context, retries: RetryPolicy, answer: Response, retry: int) -> int | None:
    """Return after which time to ask again, None for not at all (rule 1)."""
    if answer.status not in MAY_PASS:
        return None
    asked_ns = _retry_after_ns(ctx.now, answer)
    if asked_ns > 0:
        return asked_ns if asked_ns <= retries.max_retry_delay_ns else None
    return delay_ns(retries, retry, int.from_bytes(ctx.entropy(DRAWN_BYTES), "big"))


def delay_ns(retries: RetryPolicy, retry: int, drawn: int) -> int:
    """Return the delay before a retry, the first of which is 1; ``drawn`` is a number below 65,536."""
    grown_ns = retries.retry_delay_ns * ((1 << retry) - 1)
    return min(grown_ns * (8 * 65_536 + 5 * drawn) // (10 * 65_536), retries.max_retry_delay_ns)


def retry_after_s(ctx: Context, answer: Response) -> int:
    """Return when an answer says to come again, in whole seconds, rounded up; 0 where it does not."""
    return -(-max(_retry_after_ns(ctx.now, answer), 0) // SECOND_NS)


def _retry_after_ns(now_ns: int, answer: Response) -> int:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    for name, unit_ns in (("retry-after-ms", 10**6), ("x-ms-retry-after-ms", 10**6), ("retry-after", SECOND_NS)):
        value = headers.get(name, "").strip()
        if value.isascii() and value.isdigit() and len(value) < 10:
            return int(value) * unit_ns
    return _until(headers.get("retry-after", "").strip(), now_ns)


def _until(text: str, now_ns: int) -> int:
    """Return how long it is until a date as HTTP writes it (RFC 9110, 5.6.7); 0 for a text that is not a date."""
    found = _HTTP_DATE.fullmatch(text)
    if found is None or found[2] not in MONTHS:
        return 0
    try:
        return parse_instant(f"{found[3]}-{MONTHS.index(found[2]) + 1:02}-{found[1]}T{found[4]}Z") - now_ns
    except ValueError:
        return 0
