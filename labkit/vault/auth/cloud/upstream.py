"""Upstream: how the cloud is asked, again after a failure, and once for all who need the same.

1. A failure that may pass is asked again: after a delay that grows, is drawn between 0.8 and 1.3 of itself, and has a
   longest value; ``Retry-After`` takes its place, and ends the attempts where it is longer than that.
2. What all logins of a mount need (key sets, access tokens) is fetched by one attempt, noted beside the mount: a
   request that needs it meanwhile waits for the same fetch, and all of them end as the attempt ends.
3. Notes and what was fetched are the cluster's own, in no tree and never replicated; they stay when the request that
   made them is refused (R4).
4. They say for which configuration, when and by which attempt (decision A12).  What was fetched is as old as the
   question, however late the answer came, by the clock that nobody sets; what was fetched in another term is of no
   certain age.  An attempt is over when another node leads, or the same one again, when its answer is overdue, and when
   the wall clock stands before its note: whoever needs it then begins another.
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
TIMEOUT_NS, MARGIN_NS = 10 * SECOND_NS, 5 * SECOND_NS
NO_RETRY = RetryPolicy(0, 0, 0)
MAX_ATTEMPTS = 4  # of one request, each in the place of one that was over without an end
CHANGED, OVERDUE = "the configuration was changed meanwhile", "its answers came too late, again and again"

DRAWN_BYTES = 2
ID_BYTES = 8
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HTTP_DATE = re.compile(r"\w{3}, (\d\d) (\w{3}) (\d{4}) (\d\d:\d\d:\d\d) GMT", re.ASCII)

Asking = Generator[Fetch, Response, Response]


class FetchAttempt(NamedTuple):
    """An attempt at a fetch for all: when it began, which retry is due when, how it ended (a text, empty before).

    ``wanted`` is the fingerprint of what it is for, ``term`` the leadership term that it belongs to; it was noted at
    ``noted_ns`` by the wall clock and ``steady_ns`` by the steady one.  Notes are dropped with the configuration, and a
    clock may stand: neither a count nor the time says that an attempt is not one of before, ``drawn_id`` does.
    """

    drawn_id: str
    began_ns: int
    retry: int = 0
    not_before_ns: int = 0
    ended: str = UNDER_WAY
    retry_after_s: int = 0
    wanted: str = ""
    term: int = 0
    noted_ns: int = 0
    steady_ns: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether what was wanted is kept now."""
        return self.ended == FETCHED

    def is_recent(self, now_ns: int, within_ns: int) -> bool:
        """Whether it ended, and began no longer ago than so; a clock that stands before it proves nothing."""
        return bool(self.ended) and 0 <= now_ns - self.began_ns < within_ns


class Kept(NamedTuple):
    """What was fetched (``row``): for which fingerprint, by which attempt, and when it was asked for by both clocks."""

    wanted: str
    attempt: str
    term: int
    asked_ns: int
    steady_ns: int
    row: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"Kept({self.asked_ns})"  # it may hold a token


class Want(NamedTuple):
    """Something that all need: its name, the fingerprint of what it is for, and the fetch that brings it.

    ``take`` keeps what a good answer to an attempt holds, and returns why it cannot, or an empty text.
    """

    name: str
    wanted: str
    fetch: Fetch
    take: Callable[[FetchAttempt, Response], str]

    def __repr__(self) -> str:
        return f"Want({self.name})"


def own_storage(ctx: Context) -> StorageView:
    """Return what the cluster keeps of the request's mount for itself."""
    return StorageView(ctx, ctx.mount.own_prefix)


def keep(ctx: Context, name: str, row: list[Any]) -> None:
    """Keep a record of the request's mount, also when the request is refused in the end (rule 3)."""
    key = ctx.mount.own_prefix + name
    ctx.write_even_if_refused(key, ctx.encrypt(key, encode_record(row)))


def keep_fetched(ctx: Context, name: str, attempt: FetchAttempt, *row: Any) -> None:
    """Keep what an attempt fetched, with what it was fetched for and when."""
    asked_ns = min(attempt.not_before_ns, ctx.now)
    steady_ns = attempt.steady_ns + max(asked_ns - attempt.noted_ns, 0)
    keep(ctx, name, [attempt.wanted, attempt.drawn_id, attempt.term, asked_ns, steady_ns, row])


def read_kept(stored: bytes) -> Kept:
    """Read what was fetched; an empty row, or one of an earlier version, is for no configuration."""
    row = decode_record(stored)
    if len(row) != len(Kept._fields):
        return Kept("", "", 0, 0, 0)
    wanted, attempt, term, asked_ns, steady_ns, fetched = row
    return Kept(wanted, attempt, term, asked_ns, steady_ns, tuple(fetched))


def is_fresh(ctx: Context, kept: Kept, within_ns: int) -> bool:
    """Whether something was fetched so short a while ago, for certain: in this term, by the clock that nobody sets."""
    term, steady_ns, _, _ = ctx.source.standing()
    return kept.term == term and 0 <= steady_ns - kept.steady_ns < within_ns


def is_usable(ctx: Context, kept: Kept, within_ns: int) -> bool:
    """Whether it was fetched so short a while ago, in another term as far as the clocks of two nodes agree."""
    term, steady_ns, _, _ = ctx.source.standing()
    if kept.term == term:
        return 0 <= steady_ns - kept.steady_ns < within_ns
    return -ctx.core.settings.login_leeway_s * SECOND_NS < ctx.now - kept.asked_ns < within_ns


def find_attempt(ctx: Context, name: str, wanted: str) -> FetchAttempt | None:
    """Return the last attempt at something for this configuration, or None."""
    attempt = own_storage(ctx).decoded(f"attempt/{name}", _decode)
    return None if attempt is None or attempt.wanted != wanted else attempt


def _decode(stored: bytes) -> FetchAttempt:
    return FetchAttempt(*decode_record(stored))


def begin_attempt(ctx: Context, name: str, wanted: str) -> FetchAttempt:
    """Note that an attempt begins, and return it."""
    term = ctx.source.standing()[0]
    begun = FetchAttempt(ctx.entropy(ID_BYTES).hex(), ctx.now, not_before_ns=ctx.now, wanted=wanted, term=term)
    return note_attempt(ctx, name, begun)


def note_attempt(ctx: Context, name: str, attempt: FetchAttempt) -> FetchAttempt:
    """Note how far an attempt came, and return it with the instant."""
    attempt = attempt._replace(noted_ns=ctx.now, steady_ns=ctx.source.standing()[1])
    keep(ctx, f"attempt/{name}", list(attempt))
    return attempt


def is_alive(ctx: Context, attempt: FetchAttempt | None, timeout_ns: int = TIMEOUT_NS) -> bool:
    """Whether an attempt is under way: whoever made it is there, and its answer is not overdue (rule 4)."""
    if attempt is None or attempt.ended or attempt.term != ctx.source.standing()[0]:
        return False
    return attempt.noted_ns <= ctx.now < attempt.not_before_ns + timeout_ns + MARGIN_NS


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


def fetch_for_all(ctx: Context, want: Want, retries: RetryPolicy) -> Generator[Fetch, Response, FetchAttempt]:
    """Fetch what all need, or wait for the attempt that is under way; return it as it ended, whoever ended it."""
    attempt = find_attempt(ctx, want.name, want.wanted)
    for _ in range(MAX_ATTEMPTS):
        if attempt is None or not is_alive(ctx, attempt):
            attempt = begin_attempt(ctx, want.name, want.wanted)
        begun = attempt
        while True:
            answer = yield want.fetch._replace(not_before_ns=attempt.not_before_ns, timeout_ns=TIMEOUT_NS, shared=True)
            noted = find_attempt(ctx, want.name, want.wanted)
            if noted is None:
                return attempt._replace(ended=CHANGED)
            if noted.ended:
                return noted
            if not is_alive(ctx, noted):
                break
            if noted == attempt:
                noted = note_attempt(ctx, want.name, _after(ctx, attempt, retries, want, answer))
                if noted.ended:
                    return noted
            attempt = noted
        attempt = noted
    return begun._replace(ended=f"{host_of(want.fetch.address)}: {OVERDUE}")


def _after(ctx: Context, attempt: FetchAttempt, retries: RetryPolicy, want: Want, answer: Response) -> FetchAttempt:
    """Return an attempt as it stands after an answer."""
    fetch = want.fetch
    if attempt.retry < retries.max_retries:
        wait_ns = _wait_ns(ctx, retries, answer, attempt.retry + 1)
        if wait_ns is not None:
            report(ctx, fetch, answer, wait_ns)
            return attempt._replace(retry=attempt.retry + 1, not_before_ns=ctx.now + wait_ns)
    return ended(ctx, attempt, want, answer)


def ended(ctx: Context, attempt: FetchAttempt, want: Want, answer: Response) -> FetchAttempt:
    """Return an attempt as it ends with an answer, whose contents are kept."""
    why = want.take(attempt, answer) if answer.ok else what_came(answer)
    if not why:
        return attempt._replace(ended=FETCHED)
    report(ctx, want.fetch, answer, None)
    return attempt._replace(ended=f"{host_of(want.fetch.address)} {why}", retry_after_s=retry_after_s(ctx, answer))


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
