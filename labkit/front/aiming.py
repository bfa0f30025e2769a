"""Aiming: what a test asks of requests to come, of a vault: that they fail, wait, get no answer or another one.

1. At a door a delay lets other requests pass; in process it moves the clock, up to the client's timeout if that is
   shorter: then no answer comes, as at a door.
2. A request is met by one aim.  Those that a call before it makes, in its thread, take none.
3. What a call before a request raises is the test's own: in process the test gets it at once, and behind a door, where
   the request is answered 500, at its end.
"""

from __future__ import annotations

from _thread import RLock, allocate_lock, get_ident
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from labkit.front.outside_lab import ShiftedClock
from labkit.service.durations import format_duration
from labkit.service.message import Body, Request, Response, respond, silence
from labkit.vault.calls import Calls
from labkit.vault.core import Environment

if TYPE_CHECKING:
    from labkit.front.aimed_failures import Aim
    from labkit.front.expected_calls import ExpectedCalls
    from labkit.vault.mounts import ResolvedRoute

DROPPED = "the connection ended without an answer, as asked for with drop_next"
CALL_RAISED = "the call asked for with before_next raised"
GIVEN_UP = "nobody waited for the answer any more"


class Aims:
    """What was asked of requests to come, until the vault is reset.

    ``left`` are the aims that still have requests to meet, ``unused`` the expectations that no ``with`` has entered,
    ``raised`` what calls before requests raised behind doors, ``waiting`` what ends the requests that wait there.
    ``lock`` is held for no longer than one is taken.
    """

    __slots__ = ("is_over", "left", "lock", "raised", "unused", "waiting")

    def __init__(self) -> None:
        self.lock = allocate_lock()
        self.left: list[Aim] = []
        self.unused: list[ExpectedCalls] = []
        self.raised: list[BaseException] = []
        self.waiting: set[Callable[[], None]] = set()
        self.is_over = False

    def entered(self, expected: ExpectedCalls) -> None:
        """Note that a ``with`` has begun; it may do so several times."""
        if expected in self.unused:
            self.unused.remove(expected)

    def end(self) -> None:
        """End what waits; whoever took one of these aims is not carried out any more."""
        self.is_over = True
        for end_waiting in [*self.waiting]:
            end_waiting()


class Aiming:
    """Gives a vault the verbs with which failures are aimed, and what lets them happen."""

    _aims: Aims
    _past_aims: set[int]  # the threads whose requests take no aim
    _alone: Callable[[], RLock]
    _refuse_forked: Callable[[], None]
    calls: Calls
    environment: Environment
    request: Callable[..., Response]
    resolved: ResolvedRoute | None

    @property
    def aims(self) -> tuple[Aim, ...]:
        """What is to happen to requests to come, asked for with ``fail_next`` and its like."""
        return tuple(self._aims.left)

    @property
    def unfired(self) -> tuple[Aim | ExpectedCalls | BaseException, ...]:
        """What was asked for and has not happened: aims that no request took, ``expect`` without its ``with``.

        Before these stands what calls of ``before_next`` raised behind doors.
        """
        aims = self._aims
        return (*aims.raised, *[aim for aim in aims.left if not aim.taken], *aims.unused)

    def fail_next(
        self,
        status: int,
        times: int = 1,
        *,
        path: str = "*",
        method: str | None = None,
        errors: Sequence[str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Let the next requests to a path fail with a status before they reach a handler; ``*`` is any text in it."""
        from labkit.front import aimed_failures

        self._aim(aimed_failures.failing(aimed_failures.target(path, method, times), status, errors, headers))

    def answer_next(
        self,
        status: int,
        body: Body | None = None,
        times: int = 1,
        *,
        path: str = "*",
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer the next requests to a path with this body, whole, for what labkit has no engine for."""
        from labkit.front import aimed_failures

        self._aim(aimed_failures.answering(aimed_failures.target(path, method, times), status, body, headers))

    def delay_next(
        self,
        duration: str | float,
        times: int = 1,
        *,
        when: str = "before",
        path: str = "*",
        method: str | None = None,
    ) -> None:
        """Let the next requests to a path wait, before or after they are carried out.

        In process the clock is moved, a door waits.  Whose client gives up before is not carried out.
        """
        from labkit.front import aimed_failures

        self._aim(aimed_failures.delaying(aimed_failures.target(path, method, times), duration, when))

    def drop_next(self, times: int = 1, *, when: str = "before", path: str = "*", method: str | None = None) -> None:
        """Let the next requests to a path get no answer, before or after they are carried out.

        In process that is Dropped, a Silence; an adapter raises its library's ConnectionError, a door ends the
        connection.
        """
        from labkit.front import aimed_failures

        self._aim(aimed_failures.dropping(aimed_failures.target(path, method, times), when))

    def before_next(
        self, call: Callable[[], object], times: int = 1, *, path: str = "*", method: str | None = None
    ) -> None:
        """Call something before the next requests to a path are carried out: what others do meanwhile."""
        from labkit.front import aimed_failures

        self._aim(aimed_failures.calling(aimed_failures.target(path, method, times), call))

    def expect(self, calls: Sequence[str], *, in_order: bool = True, others: bool = False) -> ExpectedCalls:
        """For a ``with``: just these calls are to be made in it, in order, such as ``GET secret/data/app 404``.

        ``*`` stands for any text in a path; the status may be left out, ``2xx``, or ``dropped``.  With ``in_order``
        off any order will do, with ``others`` there may be more calls between.  AssertionError shows what differs.
        """
        from labkit.front.expected_calls import ExpectedCalls, read_expectations

        aims = self._aims
        read = read_expectations(calls)
        expected = ExpectedCalls(lambda: self.calls, read, aims.entered, in_order=in_order, others=others)
        aims.unused.append(expected)
        return expected

    def take_aim(self, method: str, path: str, headers: Mapping[str, str]) -> Aim | None:
        """Return what is to happen to a request, and count it; None for nothing.  ``meet`` lets it happen."""
        aims = self._aims
        if not aims.left or get_ident() in self._past_aims:
            return None
        from labkit.front.aimed_failures import called

        shown = called(method, path, headers)
        with aims.lock:
            for aim in aims.left:
                if aim.matches(*shown):
                    aim.times, aim.taken = aim.times - 1, aim.taken + 1
                    if aim.times == 0:
                        aims.left.remove(aim)
                    return aim
        return None

    def act(self, aim: Aim) -> BaseException | None:
        """Make the call that comes before a request, and keep and return what it raises (rule 3)."""
        try:
            self._act(aim)
        except BaseException as error:  # also what pytest raises to end a test
            aim.group.raised.append(error)
            return error
        return None

    def carry_out(self, request: Request) -> Response:
        """Answer a request whatever is aimed at it."""
        method, path, headers, body, remote_address = request
        with self._taking_none():
            return self.request(method, path, body, headers, remote_address=remote_address)

    def meet(self, aim: Aim, request: Request, is_wanted: bool = True, raised: BaseException | None = None) -> Response:
        """Answer a request that took an aim, whose call was made and whose delay is over; status 0: no answer.

        ``is_wanted``: whether somebody still waits for the answer; ``raised``: what the call raised.
        """
        with self._alone():
            if aim.group.is_over:
                return silence(GIVEN_UP)
            is_dropped = not is_wanted or (aim.drops and aim.when == "before")
            if aim.answer is None and not is_dropped and raised is None:
                response = self.carry_out(request)
                return silence(DROPPED) if aim.drops else response
            from labkit.front.aimed_failures import called

            self.resolved = None
            if raised is not None:
                response = respond(500, {"errors": [f"{CALL_RAISED} {type(raised).__name__}"]})
            else:
                response = silence(DROPPED if aim.drops else GIVEN_UP) if is_dropped else aim.answered()
            method, path = called(request.method, request.path, request.headers)
            self.calls.add(method, path, request.body, None, response, is_shown=True)
            return response

    def _met(self, request: Request, timeout: str | float | None) -> Response | None:
        """Answer a request that takes an aim, after call and delay; None for any other.

        Dropped or Silence is raised where no answer comes (rule 1).
        """
        from labkit.service.arguments import duration_ns
        from labkit.service.silence import Dropped, Silence

        timeout_ns = None if timeout is None else duration_ns("timeout", timeout, seconds=True)
        aim = self.take_aim(request.method, request.path, request.headers)
        if aim is None:
            return None
        self._act(aim)
        delay_ns, comes_before = aim.delay_ns, aim.when == "before"
        passes_ns = delay_ns if timeout_ns is None else min(delay_ns, timeout_ns)
        if comes_before:
            self._let_pass(passes_ns)
        response = self.meet(aim, request, is_wanted=passes_ns == delay_ns or not comes_before)
        if not comes_before:
            self._let_pass(passes_ns)
        shown = f"{request.method} {request.path.partition('?')[0]}"
        if passes_ns < delay_ns:
            late = f"no answer within {format_duration(passes_ns)}, as it was delayed by {format_duration(delay_ns)}"
            raise Silence(f"{shown}: {late}")
        if response.status == 0:
            raise Dropped(f"{shown}: {response.errors[0]}")
        return response

    def _act(self, aim: Aim) -> None:
        """Make the call that comes before a request, if there is one; what it raises is raised."""
        if aim.call is not None:
            with self._taking_none():
                aim.call()

    @contextmanager
    def _taking_none(self) -> Iterator[None]:
        """Let the requests of this thread take no aim."""
        thread = get_ident()
        self._past_aims.add(thread)
        try:
            yield
        finally:
            self._past_aims.discard(thread)

    def _let_pass(self, time_ns: int) -> None:
        if time_ns:
            clock: Any = self.environment.now
            with self._alone():
                clock.shift_ns += time_ns

    def _aim(self, aim: Aim) -> None:
        self._refuse_forked()
        if aim.delay_ns and not isinstance(self.environment.now, ShiftedClock):
            raise ValueError("this vault's clock is its lab's: make the lab's network slow with lab.slow(...)")
        aim.group = self._aims
        self._aims.left.append(aim)
