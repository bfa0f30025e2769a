"""Suspension: a request that fetches waits as plain data, and is replayed from its tape (R2).

1. A tape holds, in order, everything that the context gave: stored bytes, names, files, entropy, instants, the
   comparison with the root key, and a mark for each effect (observation, audit line, timer).  A replay returns the same
   values and repeats no effect; where the tape ends, values come from the node again and are added to the tape.
2. The live generator is only a cache: it may be dropped at any time, and the request goes on from its tape.
3. Whether a request may go on is judged by the node as it is now, never by the tape.
4. An answer from outside is judged once, as it comes in: a body that is not JSON, with text that has no UTF-8 form, is
   none.
5. A request that waits while the node's keys are replaced is refused before any replay, as on a sealed node.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from types import GeneratorType
from typing import Any

from labkit.service.errors import (
    DR_SECONDARY,
    NODE_SEALED,
    NOT_ACTIVE,
    BadRequest,
    Forbidden,
    ServiceError,
    Unavailable,
)
from labkit.service.limits import check_body, is_text
from labkit.service.message import Fetch, Request, Response, Suspended
from labkit.vault import tokens
from labkit.vault.context import Context
from labkit.vault.core import Core
from labkit.vault.seal_keys import SEALED
from labkit.vault.storage import Names, StaleTerm
from labkit.vault.walk import request_answer, request_route, request_walk

Walk = Generator[Fetch, Response, Response]
Entry = tuple[str, Any]

NOT_FETCHED_YET = Fetch("", Request("", ""))
KEYS_REPLACED = "the keys of this node were replaced while the request waited; nothing was changed, ask again"


class Tape:
    """A source over the node: it records each value that it returns, and returns it again in a replay.

    What a request asks for most is recorded without the two frames of ``_next`` (4 % of a login).
    """

    __slots__ = ("_core", "_position", "entries")

    def __init__(self, core: Core, entries: tuple[Entry, ...] = ()) -> None:
        self._core = core
        self.entries = [*entries]
        self._position = 0

    def __repr__(self) -> str:
        return f"Tape({len(self.entries)} entries, at {self._position})"

    def read(self, key: str) -> bytes | None:
        """Return the stored bytes of a key."""
        entries, position = self.entries, self._position
        if position < len(entries):
            recorded: bytes | None = self._next("read", bytes)
            return recorded
        self._position = position + 1
        value = self._core.storage.get(key)
        entries.append(("read", value))
        return value

    def names(self, prefix: str) -> Names:
        """Return the names stored directly under a prefix, sorted."""
        return [*self._next("names", lambda: tuple(self._core.storage.list(prefix)))]

    def entropy(self, count: int) -> bytes:
        """Draw random bytes."""
        entries, position = self.entries, self._position
        if position < len(entries):
            recorded: bytes = self._next("entropy", bytes)
            return recorded
        self._position = position + 1
        drawn = self._core.entropy(count)
        entries.append(("entropy", drawn))
        return drawn

    def draw_once(self, kind: str, count: int) -> int | None:
        """Draw a number below ``count`` that this seeded world has not drawn of its kind; None with real entropy."""
        number: int | None = self._next("drawn once", lambda: self._core.draw_once(kind, count))
        return number

    def now(self, now_ns: int) -> int:
        """Return the instant at which a step begins: in a replay the one at which it began."""
        instant: int = self._next("now", lambda: now_ns)
        return instant

    def standing(self) -> tuple[int, int, int, int | None]:
        """Return leadership term, steady clock, newest entry, and up to which one every connected secondary applied."""
        stands: tuple[int, int, int, int | None] = self._next("standing", self._core.standing)
        return stands

    def observe(self, kind: str, **fields: Any) -> None:
        """Report to the node's observer, once."""
        self._next("observe", lambda: self._core.observe(kind, **fields))

    def read_file(self, path: str) -> bytes | None:
        """Return what one of the node's files holds."""
        content: bytes | None = self._next("file", lambda: self._core.read_file(path))
        return content

    def file_names(self, folder: str) -> tuple[str, ...]:
        """Return the names of the node's files below a folder, sorted."""
        names: tuple[str, ...] = self._next("file names", lambda: self._core.file_names(folder))
        return names

    def note_due(self, key: str, when_ns: int) -> None:
        """Note when something in a key's record falls due, once."""
        self._next("due", lambda: self._core.note_due(key, when_ns))

    def append_line(self, path: str, line: bytes) -> None:
        """Append a line to one of the node's files, once; raise OSError again where it could not be written."""

        def append() -> str | None:
            try:
                self._core.append_line(path, line)
            except OSError as error:
                return str(error)
            return None

        failure = self._next("line", append)
        if failure is not None:
            raise OSError(failure)

    def _next(self, kind: str, make: Callable[[], Any]) -> Any:
        position, self._position = self._position, self._position + 1
        if position < len(self.entries):
            recorded, value = self.entries[position]
            assert recorded == kind, f"the replay asks for {kind} where the live run had {recorded}"
            return value
        value = make()
        self.entries.append((kind, value))
        return value


def start(core: Core, plain: Context, number: int) -> Response | Suspended:
    """Begin a request whose handler fetches, once the node admits it."""
    waiting = Suspended(number, plain.request, NOT_FETCHED_YET, request_id=plain.request_id, keys=_keys_of(core))
    ctx = _context(core, waiting, plain)
    return _advance(ctx, walk_on(ctx), waiting)


def resume(core: Core, suspended: Suspended, answer: Response) -> Response | Suspended:
    """Go on with a suspended request, now that its fetch was answered (status 0: silence)."""
    answer = _read(suspended.fetch, answer)
    core.waiting.pop(suspended.number, None)
    live = _take_live(core, suspended)
    refusal = _why_refused(core, suspended)
    if refusal is not None:
        return request_walk.refuse(_context(core, suspended._replace(tape=())), refusal)
    ctx, generator = live or _replay(core, suspended)
    _begin(ctx, core.now())
    try:
        _check_again(ctx)
    except ServiceError as error:
        return request_walk.refuse(ctx, _explained(generator, error))
    return _advance(ctx, generator, suspended._replace(answers=(*suspended.answers, answer)))


def _read(fetch: Fetch, answer: Response) -> Response:
    """Return an answer as it is taken in (rule 4); what comes from a cluster port is judged by its own shapes."""
    if fetch.channel != "api":
        return answer
    headers = {name: value for name, value in answer.headers.items() if is_text(name) and is_text(value)}
    body = answer.body
    try:
        check_body(body)
    except BadRequest:
        body = None
    return answer._replace(headers=headers, body=body)


def _explained(generator: Walk, error: ServiceError) -> ServiceError:
    """Return a refusal as the handler passes it on: it may say what its fetches have done by now."""
    try:
        generator.throw(error)
    except ServiceError as passed_on:
        return passed_on
    return error


def walk_on(ctx: Context) -> Generator[Fetch, Response, Response]:
    """Go on from the route, for a request whose handler fetches: live run and replay are this one generator (R2)."""
    request_walk.authenticate(ctx)
    arguments = request_walk.authorise(ctx)
    request_walk.audit_request(ctx)
    warned = len(ctx.warnings)
    answer = request_walk.call(ctx, arguments)
    if type(answer) is GeneratorType:
        answer = yield from answer
    if answer is None:
        request_answer.drop_field_warnings(ctx, warned)
    response = request_answer.respond_with(ctx, answer)
    request_walk.audit_response(ctx, response)
    return response


def _check_again(ctx: Context) -> None:
    """Judge mode, leadership, mount and token again before a request that fetched goes on (R4).

    The node itself is read, not the tape.  Policies are not judged again: they allowed the request when it began.
    """
    core, resolved, caller = ctx.core, ctx.resolved, ctx.caller
    assert resolved is not None
    if "any_mode" not in resolved.flags and core.replica.is_secondary:
        raise BadRequest(request_walk.PATH_DISABLED, code=DR_SECONDARY)
    if not core.leadership.active:
        raise Unavailable("this node is not the active one any more; ask again", code=NOT_ACTIVE)
    request_route.check_mount(ctx)
    if caller is not None and not tokens.still_valid(core, caller.token, caller.digest):
        raise Forbidden(tokens.INVALID_TOKEN)


def _take_live(core: Core, suspended: Suspended) -> tuple[Context, Walk] | None:
    """Take the live generator out of its cache; None when it is not there, or is another request's or instant's."""
    cached = core.caches.generators.pop(suspended.number, None)
    if cached is None:
        return None
    ctx, generator, answers = cached
    same = ctx.request_id == suspended.request_id and answers == len(suspended.answers)
    return (ctx, generator) if same else None


def _why_refused(core: Core, suspended: Suspended) -> ServiceError | None:
    if core.keys.sealed:
        return Unavailable(SEALED, code=NODE_SEALED)
    (root, term), (root_then, term_then) = (keys.split(" ") for keys in (_keys_of(core), suspended.keys))
    return None if root == root_then and int(term) >= int(term_then) else Unavailable(KEYS_REPLACED)


def _keys_of(core: Core) -> str:
    """Return what stands for a node's keys: that of its root key, and the newest term of its keyring.

    A later keyring opens what an earlier one wrote; an earlier one, of a vault that was reset, does not.
    """
    barrier = core.keys.barrier
    return f"{core.keys.fingerprint()} {0 if barrier is None else barrier.keyring[-1].term}"


def _context(core: Core, suspended: Suspended, found: Context | None = None) -> Context:
    """Return the request's context up to its route, over its tape; ``found`` has its route, when it begins."""
    tape = Tape(core, suspended.tape)
    ctx = Context(core, suspended.request, core.now(), tape)
    ctx.request_id = suspended.request_id
    _begin(ctx, ctx.now)
    request_walk.read_headers(ctx)
    if "origin" in ctx.headers:
        from labkit.vault import cors

        cors.name_origin(ctx)
    request_route.find_route(ctx, found)
    return ctx


def _begin(ctx: Context, now_ns: int) -> None:
    """Begin a step; its instant is on the tape too, so that a replay has the same instants."""
    assert isinstance(ctx.source, Tape)
    ctx.begin(ctx.source.now(now_ns))


def _advance(ctx: Context, generator: Walk, waiting: Suspended) -> Response | Suspended:
    """Run to the next fetch or the end, and commit that step."""
    core, tape = ctx.core, ctx.source
    assert isinstance(tape, Tape)
    try:
        fetch = generator.send(waiting.answers[-1]) if waiting.answers else next(generator)
    except StopIteration as end:
        refused, entry_number = _commit(ctx)
        if entry_number:
            request_walk.name_entry(ctx, end.value, entry_number)
        ctx.end()
        return refused or end.value
    except ServiceError as error:
        return request_walk.refuse(ctx, error)
    refused, _ = _commit(ctx)
    if refused is not None:
        return refused
    core.caches.generators[waiting.number] = (ctx, generator, len(waiting.answers))
    if ctx.use_spent and ctx.caller is not None:
        core.waiting[waiting.number] = ctx.caller.digest
    return waiting._replace(fetch=fetch, tape=tuple(tape.entries))


def _commit(ctx: Context) -> tuple[Response | None, int | None]:
    """Commit a step; return None, or the refusal of a node that steps down or whose store failed, and its entry."""
    try:
        return None, ctx.core.commit(ctx.writes, ctx.joined)
    except StaleTerm:
        return request_walk.step_down(ctx), None
    except ServiceError as error:
        return request_walk.refuse(ctx, error), None


def _replay(core: Core, suspended: Suspended) -> tuple[Context, Walk]:
    """Replay a request to where it waits, from tape and answers; what it encrypts again was counted."""
    ctx, barrier = _context(core, suspended), core.keys.barrier
    assert barrier is not None, "a request that waits in a node that was sealed is refused"
    counted = barrier.encryptions
    generator = walk_on(ctx)
    next(generator)
    for answer in suspended.answers:
        _begin(ctx, 0)
        generator.send(answer)
    barrier.encryptions = counted
    return ctx, generator
