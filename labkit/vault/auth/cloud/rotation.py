"""Rotating the root credential: ``rotate-root`` replaces the client's secret by one that only the service knows.

1. In this order (decision A7): add a secret, store it beside the configuration, wait until the cloud takes it, put it
   in place of the old one, remove the old one.  Logins go on with the secret that is in place.
2. How far it came is stored before each question to the cloud: a node that stops in between leaves a secret that works,
   and the next rotation removes what the last one left behind.
3. An old secret stays until every connected secondary has applied the new one: it could not read the cloud otherwise,
   once it is promoted.  Nothing waits for that; what stays the next rotation removes (decision A13).
4. Removed is only what is known to be the old secret: by the id it was added under, else by the one hint that fits.
5. After each question a rotation goes on only while the stored record is its own.  It is not once the configuration was
   deleted, or another rotation began in its place: then it notes what it added, to be removed, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest, ServiceError
from labkit.service.message import Fetch, Request, Response
from labkit.service.record import NamedTuple
from labkit.service.routing import Route
from labkit.vault.auth.cloud import upstream
from labkit.vault.auth.cloud.machine_lookup import access_token, carry_over, token_request
from labkit.vault.auth.cloud.settings import (
    GUID,
    ROTATION,
    CloudSettings,
    RetryPolicy,
    find_config,
    is_current,
    settings_of,
    store_config,
)
from labkit.vault.storage.records import decode_record, encode_record

if TYPE_CHECKING:
    from labkit.vault.context import Context

PATIENCE_NS = 600 * SECOND_NS
PROBES = RetryPolicy(6, 4 * SECOND_NS, 60 * SECOND_NS)
NO_RETRY = RetryPolicy(0, 0, 0)
HINT_CHARACTERS = 3
NAME = "labkit"

CHANGED = "the configuration was changed while the secret was rotated; the change holds"
TAKEN_OVER = "the configuration was deleted, or another rotation began, while the secret was rotated; that holds"
ITS_OWN = (upstream.CLOUD_UNAVAILABLE, upstream.CONFIG_CHANGED)  # any other refusal is of a node that may not write now

Asking = Generator[Fetch, Response, Response]


class Rotation(NamedTuple):
    """How far a rotation came: when it began, 0 once it ended; the secret it added and its id; ids to be removed.

    ``id`` is its own, drawn when it began; ``entry`` is the entry of the journal that put the last secret in place.
    """

    began_ns: int = 0
    secret: str = ""
    key_id: str = ""
    left: tuple[str, ...] = ()
    id: str = ""
    entry: int = 0

    def __repr__(self) -> str:
        return f"Rotation({'under way' if self.began_ns else 'ended'}, {len(self.left)} left)"


def rotate_root(ctx: Context) -> Generator[Fetch, Response, None]:
    """Replace the configured client's secret."""
    settings = settings_of(ctx)
    old_secret = _stored_secret(ctx)
    kept = _stored(ctx) or Rotation()
    if kept.began_ns and kept.began_ns <= ctx.now < kept.began_ns + PATIENCE_NS:
        raise BadRequest("a rotation is under way; ask again when it has ended")
    unused = (kept.key_id,) if kept.key_id and kept.secret != old_secret else ()
    begun = kept._replace(began_ns=ctx.now, left=_united(kept.left, unused), id=ctx.entropy(upstream.ID_BYTES).hex())
    _keep(ctx, begun)
    try:
        path, old_ids = yield from _find_application(ctx, settings, begun)
        added = yield from _add(ctx, settings, path)
        pending = _own(ctx, settings, begun, added["keyId"])
        pending = pending._replace(secret=added["secretText"], key_id=added["keyId"])
        _keep(ctx, pending)
        yield from _probe(ctx, settings, pending)
        pending = _own(ctx, settings, begun, added["keyId"])
        if not is_current(ctx, settings):
            _keep(ctx, pending._replace(secret="", key_id=""))
            _give_up(ctx, settings, added["keyId"], CHANGED)
        _promote(ctx, pending.secret)
        carry_over(ctx, settings, pending.secret)
        newest, before = ctx.source.standing()[2], pending
        pending = before._replace(left=_united(before.left, old_ids), entry=newest + 1)
        _keep(ctx, pending)
        entries = dict.fromkeys(old_ids, pending.entry) | dict.fromkeys(before.left, min(before.entry, newest))
        yield from _remove_left(ctx, settings._replace(client_secret=pending.secret), pending, path, entries)
    except ServiceError as error:
        if error.code in ITS_OWN:
            _end(ctx, begun)
        raise


def _stored_secret(ctx: Context) -> str:
    config = find_config(ctx.storage)
    if config is None or not config.client_secret or not GUID.fullmatch(config.client_id):
        raise BadRequest("not configured: client_id, a GUID, and client_secret are needed here, not in the environment")
    return config.client_secret


def _find_application(
    ctx: Context, settings: CloudSettings, begun: Rotation
) -> Generator[Fetch, Response, tuple[str, tuple[str, ...]]]:
    """Return where the directory has the client, and the id of its present secret where that is known."""
    wanted = quote(f"appId eq '{settings.client_id}'", safe="")
    answer = yield from _directory(ctx, settings, "GET", f"/v1.0/applications?$filter={wanted}", settings.retries)
    _own(ctx, settings, begun)
    found = answer.body.get("value") if answer.ok and type(answer.body) is dict else None
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    if len(rows) != 1 or not GUID.fullmatch(str(rows[0].get("id"))):
        what = f"has {len(rows)} applications of that client_id" if isinstance(found, list) else _what(answer)
        raise upstream.unavailable(ctx, f"its directory {what}")
    path = f"/v1.0/applications/{rows[0]['id']}"
    if begun.secret == settings.client_secret and begun.key_id:
        return path, (begun.key_id,)
    return path, _hinted(rows[0].get("passwordCredentials"), settings.client_secret)


def _add(ctx: Context, settings: CloudSettings, path: str) -> Generator[Fetch, Response, dict[str, Any]]:
    """Add a secret; return what the directory says of it."""
    credential = {"passwordCredential": {"displayName": NAME}}
    answer = yield from _directory(ctx, settings, "POST", f"{path}/addPassword", NO_RETRY, credential)
    added = answer.body if answer.ok and type(answer.body) is dict else {}
    if not all(isinstance(added.get(name), str) and added[name] for name in ("secretText", "keyId")):
        raise upstream.unavailable(ctx, f"its directory {_what(answer)} when a secret was to be added")
    return added


def _what(answer: Response) -> str:
    return "does not let the configured client do that" if answer.status in (401, 403) else upstream.what_came(answer)


def _hinted(listed: Any, secret: str) -> tuple[str, ...]:
    """Return the id of the one credential whose hint is the secret's beginning; none where more than one fits."""
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    fitting = [row.get("keyId") for row in rows if row.get("hint") == secret[:HINT_CHARACTERS]]
    return (fitting[0],) if len(fitting) == 1 and isinstance(fitting[0], str) else ()


def _directory(
    ctx: Context, settings: CloudSettings, method: str, path: str, retries: RetryPolicy, body: Any = None
) -> Asking:
    directory = settings.environment.directory
    token = yield from access_token(ctx, settings, directory)
    if not is_current(ctx, settings):  # a kept token may be another client's; and what is old may be in place again
        raise BadRequest(CHANGED, code=upstream.CONFIG_CHANGED)
    request = Request(method, path, {"Authorization": f"Bearer {token}"}, body)
    answer = yield from upstream.ask(ctx, retries, Fetch(directory, request))
    return answer


def _probe(ctx: Context, settings: CloudSettings, pending: Rotation) -> Generator[Fetch, Response, None]:
    """Wait until the cloud takes the new secret; one that it never takes is given up."""
    fetch = token_request(settings._replace(client_secret=pending.secret), settings.environment.management)
    for retry in range(1, PROBES.max_retries + 2):
        answer = yield fetch
        if answer.ok:
            return
        drawn = int.from_bytes(ctx.entropy(upstream.DRAWN_BYTES), "big")
        wait_ns = upstream.delay_ns(PROBES, retry, drawn)
        upstream.report(ctx, fetch, answer, wait_ns if retry <= PROBES.max_retries else None)
        fetch = fetch._replace(not_before_ns=ctx.now + wait_ns)
    pending = _own(ctx, settings, pending, pending.key_id)
    _keep(ctx, pending._replace(left=_united(pending.left, (pending.key_id,))))
    raise upstream.unavailable(ctx, f"it does not take the new secret, {upstream.what_came(answer)}; the old one holds")


def _promote(ctx: Context, secret: str) -> None:
    config = find_config(ctx.storage)
    assert config is not None, "its secret was read in this step"
    store_config(ctx.storage, config._replace(client_secret=secret))


def _remove_left(
    ctx: Context, settings: CloudSettings, done: Rotation, path: str, entries: dict[str, int]
) -> Generator[Fetch, Response, None]:
    """Remove what is known to be of no use any more; what cannot be removed is left for the next rotation.

    ``entries`` is {id: entry of the journal by which it was replaced}: it stays while a secondary has yet to apply it.
    """
    removed: list[str] = []
    staying: list[str] = []
    for key_id in done.left:
        applied = ctx.source.standing()[3]
        if applied is not None and applied < entries[key_id]:
            staying.append(key_id)
            continue
        try:
            answer = yield from _directory(
                ctx, settings, "POST", f"{path}/removePassword", settings.retries, {"keyId": key_id}
            )
            removed += [key_id] if answer.ok or answer.status == 404 else []
        except ServiceError as error:
            if error.code not in ITS_OWN:
                raise
    stored = _stored(ctx)
    own = stored if stored is not None and stored.id == done.id else None
    left = tuple([key_id for key_id in (own or done).left if key_id not in removed])
    if staying:
        ctx.warn(
            f"{len(staying)} secrets that were replaced stay: a secondary has not applied the new one yet; "
            "the next rotation removes them"
        )
    failed = len([key_id for key_id in left if key_id not in staying])
    if failed:
        ctx.warn(f"{failed} secrets that were replaced could not be removed; the next rotation tries again")
    elif not done.left:
        ctx.warn("which secret was replaced is not known to the directory for sure: remove it there")
    if own is None:
        _note_left(ctx, settings, left)
        return
    if not is_current(ctx, settings):  # another client's: whose secret this is does not matter any more
        done = done._replace(secret="", key_id="")
    ctx.storage.put(ROTATION, encode_record(list(done._replace(began_ns=0, left=left))))


def _united(left: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*left, *more)))


def _stored(ctx: Context) -> Rotation | None:
    return ctx.storage.decoded(ROTATION, _decode)


def _own(ctx: Context, settings: CloudSettings, begun: Rotation, added_id: str = "") -> Rotation:
    """Return how far a rotation came that may go on; raise BadRequest for one that may not (rule 5)."""
    stored = _stored(ctx)
    if stored is None or stored.id != begun.id:
        _give_up(ctx, settings, added_id, TAKEN_OVER)
    return stored


def _give_up(ctx: Context, settings: CloudSettings, added_id: str, why: str) -> NoReturn:
    """Leave the secret that was added to be removed, and raise BadRequest."""
    if added_id and not _note_left(ctx, settings, (added_id,)):
        why += f"; the secret with id {added_id} is of no use, remove it from the directory"
    raise BadRequest(why, code=upstream.CONFIG_CHANGED)


def _note_left(ctx: Context, settings: CloudSettings, left: tuple[str, ...]) -> bool:
    """Let the next removal include these, unless the mount has another application's secrets now, or none."""
    try:
        if settings_of(ctx).client[:-1] != settings.client[:-1]:
            return False
    except BadRequest:  # what is left of the configuration names no client
        return False
    stored = _stored(ctx) or Rotation()
    _keep(ctx, stored._replace(left=_united(stored.left, left)))
    return True


def _keep(ctx: Context, rotation: Rotation) -> None:
    """Store how far it came, also where the request is refused in this step."""
    key = ctx.storage.prefix + ROTATION
    ctx.write_even_if_refused(key, ctx.encrypt(key, encode_record(list(rotation))))


def _end(ctx: Context, begun: Rotation) -> None:
    """Let the next rotation begin, after one that failed."""
    stored = _stored(ctx)
    if stored is not None and stored.id == begun.id:
        _keep(ctx, stored._replace(began_ns=0))


def _decode(stored: bytes) -> Rotation:
    began_ns, secret, key_id, left, *own_id = decode_record(stored)
    return Rotation(began_ns, secret, key_id, tuple(left), *own_id)


ROUTES = (Route("write", "rotate-root", rotate_root, (), "fetches"),)
