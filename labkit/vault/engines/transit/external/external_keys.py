"""External keys: keyrings whose versions are managed keys, and how their store is asked.

1. A version names its managed key by id; the key's bytes are never here.
2. A request for such a key fetches: the walk lets its handler yield only where ``fetches`` said so beforehand.
3. All of a request's items are asked for at once.  A store that does not answer is 503: nothing was changed here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from labkit.service.durations import SECOND_NS
from labkit.service.errors import BadRequest, Unavailable
from labkit.service.key_mechanisms import VERIFY
from labkit.service.key_store_address import KEY_STORE_ADDRESS
from labkit.service.message import Fetch, Request, Response
from labkit.vault.engines.transit import batch
from labkit.vault.engines.transit.keyring import Keyring
from labkit.vault.managed_keys import ManagedKey

if TYPE_CHECKING:
    from labkit.vault.engine_context import EngineContext

TIMEOUT_NS = 10 * SECOND_NS
NO_ANSWER = "the key store did not answer as it should; nothing was changed, try again"

Prepared = dict[str, Any]
Asking = Generator[Fetch, Response, Any]


def managed_key(ctx: EngineContext, name: str, key_id: str) -> ManagedKey:
    """Return the managed key of a name or id; raise BadRequest."""
    if not name and not key_id:
        raise BadRequest("managed_key_name or managed_key_id is required for keys of type managed_key")
    found = ctx.managed_key(name, key_id)
    if found is None:
        named = f"named {name}" if name else f"with id {key_id}"
        raise BadRequest(f"no managed key {named}; create it with POST sys/managed-keys/<type>/<name>")
    return found


def key_of_version(ctx: EngineContext, keyring: Keyring, version: int, usage: str) -> ManagedKey:
    """Return the managed key of a live version, if it may be used so; raise BadRequest."""
    key = managed_key(ctx, "", keyring.live(version).managed_id)
    if usage not in key.usages:
        raise BadRequest(f"the managed key {key.name} is used to {' and '.join(key.usages)}, not to {usage}")
    return key


def ensure_stored(key: ManagedKey) -> Asking:
    """Return once the store has the key, which is generated there where that is allowed; raise BadRequest."""
    from urllib.parse import quote  # a label may have any characters

    path = f"/v1/keys/{quote(key.label, safe='')}"
    answer = yield _fetch("GET", path, None)
    if answer.status == 404:
        if not (key.may_generate and key.mechanism.generates):
            other = (
                ", or set allow_generate_key" if key.mechanism.generates else f": {key.mechanism_name} never generates"
            )
            raise BadRequest(
                f"the key store has no key {key.label}, and may not generate it for the managed key {key.name}: "
                f"make it there{other}"
            )
        answer = yield _fetch("POST", path, {"mechanism": key.mechanism_name, "size_bits": key.size_bits})
        if answer.status == 409:  # somebody else was first
            answer = yield _fetch("GET", path, None)
    body = _checked(answer)
    if body.get("mechanism") != key.mechanism_name:
        raise BadRequest(
            f"the key {key.label} of the key store is for {body.get('mechanism')}; the managed key {key.name} says "
            f"{key.mechanism_name}"
        )


def _fetch(method: str, path: str, body: dict[str, Any] | None) -> Fetch:
    return Fetch(KEY_STORE_ADDRESS, Request(method, path, {}, body), TIMEOUT_NS)


def _checked(answer: Response) -> dict[str, Any]:
    if answer.status == 400 and isinstance(answer.body, dict):
        raise BadRequest(f"the key store refused: {answer.body.get('error')}")
    if answer.status != 200 or not isinstance(answer.body, dict):
        raise Unavailable(NO_ANSWER)
    return answer.body


def work_in_store(
    operation: str,
    items: Sequence[batch.Item],
    prepare: Callable[[batch.Item], Prepared],
    finish: Callable[[Prepared, dict[str, Any]], batch.Result],
) -> Generator[Fetch, Response, list[batch.Result | BadRequest]]:
    """Have the store work on the items that can be prepared; return for each its result, or why it was refused."""
    prepared = [_refusal_or(prepare, item) for item in items]
    asked = [each for each in prepared if not isinstance(each, BadRequest)]
    results: list[dict[str, Any]] = []
    if asked:
        sent = [{name: value for name, value in each.items() if name != "version"} for each in asked]
        answer = yield _fetch("POST", "/v1/operations", {"operation": operation, "items": sent})
        results = _results(answer, "valid" if operation == VERIFY else "output", len(sent))
    left = iter(results)
    return [each if isinstance(each, BadRequest) else _outcome(each, next(left), finish) for each in prepared]


def _results(answer: Response, member: str, count: int) -> list[dict[str, Any]]:
    """Return the store's results, one for each item; raise Unavailable for anything else."""
    results = _checked(answer).get("results")
    if type(results) is list and len(results) == count:
        kind = bool if member == "valid" else str
        if all(
            type(row) is dict and (type(row.get("error")) is str or type(row.get(member)) is kind) for row in results
        ):
            return results
    raise Unavailable(NO_ANSWER)


def _refusal_or(prepare: Callable[[batch.Item], Prepared], item: batch.Item) -> Prepared | BadRequest:
    try:
        return prepare(item)
    except BadRequest as refused:
        return refused


def _outcome(
    prepared: Prepared, result: dict[str, Any], finish: Callable[[Prepared, dict[str, Any]], batch.Result]
) -> batch.Result | BadRequest:
    return BadRequest(result["error"]) if "error" in result else finish(prepared, result)


def only(outcomes: list[batch.Result | BadRequest]) -> batch.Result:
    """Return the result of a request of one item, or raise its refusal."""
    (outcome,) = outcomes
    if isinstance(outcome, BadRequest):
        raise outcome
    return outcome


def as_batch(
    items: Sequence[batch.Item], outcomes: list[batch.Result | BadRequest], empty: batch.Result
) -> tuple[list[batch.Result], int]:
    """Return outcomes as a batch's results, and how many failed."""

    def one(item: batch.Item, position: int) -> batch.Result:
        return only([outcomes[position]])

    return batch.work(items, one, empty)
