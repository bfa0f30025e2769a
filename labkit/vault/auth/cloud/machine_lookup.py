"""Machine lookup: what the cloud says of the machine that a login names, asked with the configured client.

1. The service's own access token is fetched once for all logins, kept for the client that it was fetched for until
   five minutes before its end, and fetched again when the cloud refuses it, or the clock stands before it was fetched.
2. A machine that the cloud does not know refuses the login; a cloud that does not let the service read is not the
   caller's fault (decision A11).
3. A machine that stands for a scale set is looked up too: the cloud says whether it belongs to it (decision A6).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest
from labkit.service.folding import folded
from labkit.service.message import Fetch, Request, Response
from labkit.vault.auth.cloud import upstream
from labkit.vault.auth.cloud.checks import Presented
from labkit.vault.auth.cloud.machine import (
    ResourceId,
    claimed_resource,
    may_belong,
    principals_in,
    query,
    scale_set_of,
)
from labkit.vault.auth.cloud.refusals import LoginRefused
from labkit.vault.auth.cloud.settings import CloudSettings, is_current

if TYPE_CHECKING:
    from labkit.vault.context import Context

EARLY_NS = 300 * SECOND_NS
MAX_LOOKED_UP = 16
CHANGED = "the configuration was changed while the cloud was asked; try again"
NO_CLIENT = "not configured: client_id and client_secret are needed for roles that bind machines"


def check_machine(ctx: Context, login: Presented) -> Generator[Fetch, Response, None]:
    """Raise LoginRefused unless the machine has the token's identity, and stands where the role wants it."""
    resource, claimed = login.place.resource, claimed_resource(login.claims)
    assert resource is not None, "a role that binds machines wants one named"
    assert claimed is not None, "and its token to name it"
    if may_belong(login.place, claimed):
        machine = yield from _look_up(ctx, login.settings, claimed)
        if scale_set_of(machine) != resource:
            raise LoginRefused("not_in_scale_set")
    metadata = yield from _look_up(ctx, login.settings, resource)
    principal = folded(login.claims["oid"])
    known, unsaid = principals_in(metadata)
    for identity in unsaid[:MAX_LOOKED_UP]:
        if principal in known:
            break
        found = yield from _look_up(ctx, login.settings, identity)
        properties = found.get("properties")
        said = properties.get("principalId") if isinstance(properties, dict) else None
        known += [folded(said)] if isinstance(said, str) and said else []
    if principal not in known:
        raise LoginRefused("identity")
    check_location(login, metadata)


def check_location(login: Presented, metadata: dict[str, Any]) -> None:
    """The machine's location is one of those bound (spec, ``bound_locations``); one without a location is in none."""
    bound = [folded(each) for each in login.role.bound_locations]
    location = metadata.get("location")
    if bound and (not isinstance(location, str) or folded(location) not in bound):
        raise LoginRefused("location")


def _look_up(ctx: Context, settings: CloudSettings, resource: ResourceId) -> Generator[Fetch, Response, dict[str, Any]]:
    """Return what the cloud says of a resource."""
    management = settings.environment.management
    answer = Response(401, {})
    for _ in range(2):  # a token that was refused is fetched again, once
        token = yield from access_token(ctx, settings, management)
        headers = {"Authorization": f"Bearer {token}"}
        answer = yield from upstream.ask(
            ctx, settings.retries, Fetch(management, Request("GET", query(resource), headers))
        )
        if answer.status != 401:
            break
        upstream.keep(ctx, f"token/{management}", [])
    if answer.status == 404:
        raise LoginRefused("machine_missing")
    if not answer.ok or type(answer.body) is not dict:
        why = "does not let the configured client read" if answer.status in (401, 403) else upstream.what_came(answer)
        raise upstream.unavailable(ctx, f"its metadata API {why}", upstream.retry_after_s(ctx, answer))
    return answer.body


def access_token(ctx: Context, settings: CloudSettings, audience: str) -> Generator[Fetch, Response, str]:
    """Return the service's own token for a part of the cloud; raise BadRequest where no client is configured."""
    if not settings.client_id or not settings.client_secret:
        raise BadRequest(NO_CLIENT)
    name = f"token/{audience}"
    wanted = settings.fingerprint(name, client=True)
    kept = _kept(ctx, name, wanted)
    if kept:
        return kept
    if not is_current(ctx, settings):  # what is fetched is kept for all, whose client is another one now
        raise BadRequest(CHANGED, code=upstream.CONFIG_CHANGED)
    request = token_request(settings, audience)
    want = upstream.Want(name, wanted, request, lambda attempt, answer: _take(ctx, name, attempt, answer))
    attempt = yield from upstream.fetch_for_all(ctx, want, settings.retries)
    kept = _kept(ctx, name, wanted)
    if not kept:
        raise upstream.unavailable(ctx, attempt.ended, attempt.retry_after_s)
    return kept


def carry_over(ctx: Context, settings: CloudSettings, secret: str) -> None:
    """Keep the access tokens of a client whose secret is replaced by one that the service itself added."""
    after = settings._replace(client_secret=secret)
    for audience in (settings.environment.management, settings.environment.directory):
        name = f"token/{audience}"
        kept = upstream.own_storage(ctx).decoded(name, upstream.read_kept)
        if kept is not None and kept.wanted == settings.fingerprint(name, client=True):
            upstream.keep(ctx, name, list(kept._replace(wanted=after.fingerprint(name, client=True))))


def token_request(settings: CloudSettings, audience: str) -> Fetch:
    """Return the fetch of an access token for a part of the cloud (RFC 6749, 4.4)."""
    form = {
        "grant_type": "client_credentials",
        "client_id": settings.client_id,
        "client_secret": settings.client_secret,
        "resource": f"{audience}/",
    }
    return Fetch(settings.environment.authority, Request("POST", f"/{settings.tenant_id}/oauth2/token", {}, form))


def _kept(ctx: Context, name: str, wanted: str) -> str:
    """Return the kept token of a client while it is valid long enough, else an empty text."""
    kept = upstream.own_storage(ctx).decoded(name, upstream.read_kept)
    if kept is None or kept.wanted != wanted:
        return ""
    token, left_ns = kept.row
    return token if 0 <= ctx.now - kept.asked_ns < left_ns - EARLY_NS else ""


def _take(ctx: Context, name: str, attempt: upstream.FetchAttempt, answer: Response) -> str:
    body = answer.body if type(answer.body) is dict else {}
    token, left = body.get("access_token"), str(body.get("expires_in"))
    left_s = int(left) if left.isascii() and left.isdigit() and len(left) < 10 else 0
    if not isinstance(token, str) or not token or left_s * SECOND_NS <= EARLY_NS:
        return "answered without a token that is valid for a while"
    upstream.keep_fetched(ctx, name, attempt, token, left_s * SECOND_NS)
    return ""
