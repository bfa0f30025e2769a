"""Rotating the root credential: ``rotate-root`` replaces the client's secret by one that only the service knows.

1. In this order (decision A7): add a secret, store it beside the configuration, wait until the cloud takes it, put it
   in place of the old one, remove the old one.  Logins go on with the secret that is in place.
2. How far it came is stored before each question to the cloud: a node that stops in between leaves a secret that works,
   and the next rotation removes what the last one left behind.
3. Removed is only what is known to be the old secret: by the id it was added under, else by the one hint that fits.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest, ServiceError
from labkit.service.message import Fetch, Request, Response
from labkit.service.record import NamedTuple
from labkit.service.routing import Route
from labkit.vault.auth.cloud import upstream
from labkit.vault.auth.cloud.machine import GUID
from labkit.vault.auth.cloud.machine_lookup import access_token, token_request
from labkit.vault.auth.cloud.settings import (
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
ITS_OWN = (upstream.CLOUD_UNAVAILABLE, upstream.CONFIG_CHANGED)  # any other refusal is of a node that may not write now

Asking = Generator[Fetch, Response, Response]


class Rotation(NamedTuple):
    """How far a rotation came: when it began, 0 once it ended; the secret it added and its id; ids to be removed."""

    began_ns: int = 0
    secret: str = ""
    key_id: str = ""
    left: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Rotation({'under way' if self.began_ns else 'ended'}, {len(self.left)} left)"


def rotate_root(ctx: Context) -> Generator[Fetch, Response, None]:
    """Replace the configured client's secret."""
    settings = settings_of(ctx)
    old_secret = _stored_secret(ctx)
    kept = ctx.storage.decoded(ROTATION, _decode) or Rotation()
    if kept.began_ns and ctx.now < kept.began_ns + PATIENCE_NS:
        raise BadRequest("a rotation is under way; ask again when it has ended")
    unused = (kept.key_id,) if kept.key_id and kept.secret != old_secret else ()
    begun = kept._replace(began_ns=ctx.now, left=tuple(dict.fromkeys((*kept.left, *unused))))
    _keep(ctx, begun)
    try:
        added, old_ids, path = yield from _add(ctx, settings, kept, old_secret)
        pending = Rotation(begun.began_ns, added["secretText"], added["keyId"], begun.left)
        _keep(ctx, pending)
        yield from _probe(ctx, settings, pending)
        if find_config(ctx.storage) is None or not is_current(ctx, settings):
            _keep(ctx, Rotation(left=(*pending.left, pending.key_id)))
            raise BadRequest(CHANGED, code=upstream.CONFIG_CHANGED)
        _promote(ctx, pending.secret)
        pending = pending._replace(left=tuple(dict.fromkeys((*pending.left, *old_ids))))
        _keep(ctx, pending)
        yield from _remove_left(ctx, settings._replace(client_secret=pending.secret), pending, path)
    except ServiceError as error:
        if error.code in ITS_OWN:
            _end(ctx)
        raise


def _stored_secret(ctx: Context) -> str:
    config = find_config(ctx.storage)
    if config is None or not config.client_secret or not GUID.fullmatch(config.client_id):
        raise BadRequest("not configured: client_id, a GUID, and client_secret are needed here, not in the environment")
    return config.client_secret


def _add(
    ctx: Context, settings: CloudSettings, kept: Rotation, old_secret: str
) -> Generator[Fetch, Response, tuple[dict[str, Any], tuple[str, ...], str]]:
    """Add a secret; return what the directory says of it, the old one's id where that is known, and where they are."""
    wanted = quote(f"appId eq '{settings.client_id}'", safe="")
    answer = yield from _directory(ctx, settings, "GET", f"/v1.0/applications?$filter={wanted}", settings.retries)
    found = answer.body.get("value") if answer.ok and type(answer.body) is dict else None
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    if len(rows) != 1 or not GUID.fullmatch(str(rows[0].get("id"))):
        what = f"has {len(rows)} applications of that client_id" if isinstance(found, list) else _what(answer)
        raise upstream.unavailable(ctx, f"its directory {what}")
    path = f"/v1.0/applications/{rows[0]['id']}"
    credential = {"passwordCredential": {"displayName": NAME}}
    answer = yield from _directory(ctx, settings, "POST", f"{path}/addPassword", NO_RETRY, credential)
    added = answer.body if answer.ok and type(answer.body) is dict else {}
    if not all(isinstance(added.get(name), str) and added[name] for name in ("secretText", "keyId")):
        raise upstream.unavailable(ctx, f"its directory {_what(answer)} when a secret was to be added")
    if kept.secret == old_secret and kept.key_id:
        return added, (kept.key_id,), path
    return added, _hinted(rows[0].get("passwordCredentials"), old_secret), path


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
        fetch = fetch._replace(not_before_ns=ctx.now + upstream.delay_ns(PROBES, retry, drawn))
    _keep(ctx, pending._replace(left=(*pending.left, pending.key_id)))
    raise upstream.unavailable(ctx, f"it does not take the new secret, {upstream.what_came(answer)}; the old one holds")


def _promote(ctx: Context, secret: str) -> None:
    config = find_config(ctx.storage)
    assert config is not None, "its secret was read in this step"
    store_config(ctx.storage, config._replace(client_secret=secret))


def _remove_left(ctx: Context, settings: CloudSettings, done: Rotation, path: str) -> Generator[Fetch, Response, None]:
    """Remove what is known to be of no use any more; what cannot be removed is left for the next rotation."""
    left = []
    for key_id in done.left:
        try:
            answer = yield from _directory(
                ctx, settings, "POST", f"{path}/removePassword", settings.retries, {"keyId": key_id}
            )
            removed = answer.ok or answer.status == 404
        except ServiceError as error:
            if error.code not in ITS_OWN:
                raise
            removed = False
        if not removed:
            left.append(key_id)
    if left:
        ctx.warn(f"{len(left)} secrets that were replaced could not be removed; the next rotation tries again")
    elif not done.left:
        ctx.warn("which secret was replaced is not known to the directory for sure: remove it there")
    if not is_current(ctx, settings):  # another client's, or none: whose secret this is does not matter any more
        done = done._replace(secret="", key_id="")
    ctx.storage.put(ROTATION, encode_record(list(done._replace(began_ns=0, left=tuple(left)))))


def _keep(ctx: Context, rotation: Rotation) -> None:
    """Store how far it came, also where the request is refused in this step."""
    key = ctx.storage.prefix + ROTATION
    ctx.write_even_if_refused(key, ctx.encrypt(key, encode_record(list(rotation))))


def _end(ctx: Context) -> None:
    """Let the next rotation begin, after one that failed."""
    kept = ctx.storage.decoded(ROTATION, _decode)
    if kept is not None:  # nothing is left of it where the configuration was deleted
        _keep(ctx, kept._replace(began_ns=0))


def _decode(stored: bytes) -> Rotation:
    began_ns, secret, key_id, left = decode_record(stored)
    return Rotation(began_ns, secret, key_id, tuple(left))


ROUTES = (Route("write", "rotate-root", rotate_root, (), "fetches"),)
