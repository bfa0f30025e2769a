"""Mistakes of the vault and of runbooks: versions, tokens, modes, and what an operator waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.invariants import rules
from labkit.lab.operations import runbooks
from labkit.service.durations import SECOND_NS
from labkit.service.errors import DR_SECONDARY, BadRequest
from labkit.vault import tokens, wrapping
from labkit.vault.context import Context
from labkit.vault.engines.kv import data, store, versions
from labkit.vault.replication import endpoints, index_state
from labkit.vault.replication.mode import Mode
from labkit.vault.replication.trust import activation, operation_token
from labkit.vault.storage.storage_view import StorageView
from labkit.vault.token_record import IDS, Token, encode_token
from labkit.vault.walk import request_walk
from tests.zoo.planting import EXPLORE, FILE, Mistake

HOUR_NS = 3_600 * SECOND_NS


def _version_reused(key: Any, config: Any, now_ns: int) -> Any:
    grown, version, pruned = versions.add_version(key, config, now_ns)
    return (grown._replace(current=key.current), version, range(0)) if key.current == 4 else (grown, version, pruned)


def _one_before(find: Callable[..., Any]) -> Callable[..., Any]:
    def found(storage: StorageView, path: str, number: int | None) -> Any:
        key = store.read_key(storage, path)
        late = key is not None and not number and key.current > 1 and not key.current % 5
        return find(storage, path, key.current - 1 if late and key is not None else number)

    return found


def _an_hour_late(token: Token) -> bytes:
    return encode_token(token._replace(expires_ns=token.expires_ns + HOUR_NS) if token.expires_ns else token)


def _uses_not_taken(ctx: Context, token: Token, digest: str) -> None:
    if ctx.mode.mode == "disabled":
        tokens.use(ctx, token, digest)


def _not_used_up(ctx: Context, text: str) -> Any:
    return wrapping.read_wrapped(ctx, text)


def _secondary_serves(check: Callable[[Context], None]) -> Callable[[Context], None]:
    def checked(ctx: Context) -> None:
        try:
            check(ctx)
        except BadRequest as error:
            if error.code != DR_SECONDARY:
                raise

    return checked


def _keeps_its_mode(store_mode: Callable[[Context, Mode], None]) -> Callable[[Context, Mode], None]:
    def stored(ctx: Context, mode: Mode) -> None:
        if not mode.newly_demoted:
            store_mode(ctx, mode)

    return stored


def _does_not_wait(*given: Any) -> Any:
    yield from ()


def _drops_a_token(inherit: Callable[[Context], None]) -> Callable[[Context], None]:
    def inherited(ctx: Context) -> None:
        inherit(ctx)
        for digest in ctx.core.storage.list(IDS)[-1:]:
            ctx.write(IDS + digest, None)

    return inherited


OF_THE_VAULT: dict[str, Mistake] = {
    "version-reused": Mistake(
        "the fifth version does not count", ((store, "add_version", _version_reused),), EXPLORE, rules.VERSION_ORDER
    ),
    "cas-ignored": Mistake(
        "a write under check-and-set is carried out whatever the version",
        ((data, "check_cas", lambda options, **found: None),),
        EXPLORE,
        rules.VERSION_ORDER,
    ),
    "one-version-behind": Mistake(
        "each fifth version is not shown: readings show the one before",
        ((data, "find_version", _one_before(store.find_version)),),
        EXPLORE,
        rules.VERSION_ORDER,
    ),
    "expiry-ignored": Mistake(
        "tokens last an hour longer than was said",
        ((tokens, "encode_token", _an_hour_late),),
        EXPLORE,
        rules.TOKEN_OVER,
    ),
    "uses-not-counted": Mistake(
        "a cluster that replicates takes no uses off tokens",
        ((tokens, "admit", _uses_not_taken),),
        FILE,
        rules.TOKEN_OVER,
    ),
    "unwrapped-again": Mistake(
        "unwrapping does not use the token up", ((wrapping, "unwrap", _not_used_up),), EXPLORE, rules.TOKEN_OVER
    ),
    "any-operation-token": Mistake(
        "every operation token passes",
        ((operation_token, "check", lambda ctx, token: None),),
        EXPLORE,
        rules.OPERATION_TOKEN,
    ),
    "secondary-serves": Mistake(
        "a secondary carries clients' requests out",
        ((request_walk, "check_node", _secondary_serves(request_walk.check_node)),),
        EXPLORE,
        rules.NOTHING_OWN,
    ),
    "demotion-forgotten": Mistake(
        "a demotion is answered and not stored",
        (
            (endpoints, "store_mode", _keeps_its_mode(endpoints.store_mode)),
            (activation, "drop_authority", lambda ctx: None),
        ),
        FILE,
        rules.ONE_PRIMARY,
    ),
    "hasty-failover": Mistake(
        "a planned failover does not wait until the other is level",
        ((runbooks, "_wait_for_root", _does_not_wait), (runbooks, "_catch_up", _does_not_wait)),
        FILE,
        rules.NO_LOSS,
    ),
    "token-dropped": Mistake(
        "a promotion deletes a token that the cluster held",
        ((index_state, "inherit", _drops_a_token(index_state.inherit)),),
        EXPLORE,
        rules.SURVIVING_TOKENS,
    ),
}
