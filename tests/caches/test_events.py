"""After each event a request is answered as if it came for the first time: by name, and in every state.

Each row of ``CASES`` is an event, a request, what it was answered before, and what it must be answered now.  Twins play
it, so that with and without memory the answers are also the same in all that a row does not say.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import pytest

from labkit.service.message import Body, Response
from labkit.vault.core import Leadership
from labkit.vault.mounts import MOUNTS
from labkit.vault.token_record import IDS, digest_of
from tests.caches import events
from tests.caches.twins import CACHES, STATE, Point, Twins
from tests.caches.usual_requests import ABOUT, DR, HOT, POLICIES, SECOND_NS, TEAM, about, prepare

HOUR_NS = 3_600 * SECOND_NS
ROOT_ONLY = 'path "sys/health" { capabilities = ["read"] }'
LINE = "/file.log"

Act = Callable[[Twins], Any]


class Asked(NamedTuple):
    """A request as it is sent before and after an event."""

    method: str
    path: str
    body: Body | None = None
    token: str = "reader"
    headers: Any = ()
    address: str = "127.0.0.1"

    def send(self, twins: Twins, ticks: bool = True) -> Response:
        """Send it."""
        headers, body = dict(self.headers), about(twins, self.body)
        return twins.send(self.method, self.path, body, self.token, headers, address=self.address, ticks=ticks)


class Case(NamedTuple):
    """An event, the request, its status before, and after.

    ``data`` is what a secret says afterwards, ``other`` the request that is sent afterwards, where it is another one.
    """

    event: Act
    asked: Asked
    before: int
    after: int
    data: int | None = None
    other: Asked | None = None


READ = Asked("GET", "secret/data/app")
WRITE = Asked("POST", "secret/data/app", {"data": {"n": 1}})
ENCRYPT = Asked("POST", "transit/encrypt/k", {"plaintext": "aGk="})
EXTERNAL = Asked("POST", "transit/keys/outside", {"type": "managed_key", "managed_key_name": "aes"})
BOUND = READ._replace(token="bound")
IN_TEAM = Asked("GET", "team/secret/data/app", None, "team child")
BY_ROOT = READ._replace(token="root")


def post(path: str, body: Body | None = None, token: str = "root", headers: Any = ()) -> Act:
    return lambda twins: done(twins.send("POST", path, body, token, dict(headers)))


def delete(path: str) -> Act:
    return lambda twins: done(twins.send("DELETE", path))


def done(answer: Response) -> None:
    assert answer.ok or answer.status in (202, 204), (answer.status, answer.errors)


def policy(text: str, name: str = "reader", headers: Any = ()) -> Act:
    return post(f"sys/policies/acl/{name}", {"policy": text}, headers=headers)


def then(*acts: Act) -> Act:
    """One event after another."""

    def act(twins: Twins) -> None:
        for one in acts:
            one(twins)

    return act


def by_dice(event: Callable[[Twins, Random], None]) -> Act:
    return lambda twins: event(twins, Random(0))


def revoke(name: str, way: str = "revoke") -> Act:
    return lambda twins: done(twins.send("POST", f"auth/token/{way}", {"token": twins.tokens[name]}))


def revoke_accessor(name: str) -> Act:
    def act(twins: Twins) -> None:
        done(twins.send("POST", "auth/token/revoke-accessor", {"accessor": twins.facts["accessors"][name]}))

    return act


def move_clock(by_ns: int) -> Act:
    def act(twins: Twins) -> None:
        twins.clock.now_ns += by_ns

    return act


def until_end(name: str, by_ns: int) -> Act:
    def act(twins: Twins) -> None:
        twins.clock.now_ns = twins.facts["deadlines"][name] + by_ns

    return act


def times(count: int, asked: Asked) -> Act:
    return lambda twins: [asked.send(twins) for _ in range(count)]


def stored_otherwise(key: Callable[[Twins], str], alter: Callable[[bytes], bytes | None]) -> Act:
    return lambda twins: events.changed(twins, key(twins), alter, "altered")


def flipped(value: bytes) -> bytes:
    return value[:-1] + bytes([value[-1] ^ 1])


def record_of(name: str) -> Callable[[Twins], str]:
    return lambda twins: IDS + digest_of(twins.tokens[name])


def on_other_node(act: Act) -> Act:
    """An event that comes through the other node, which leads for that time."""

    def acting(twins: Twins) -> None:
        twins.both(events.leading(1, events.claim(twins)))
        twins.asked = 1
        act(twins)
        twins.asked = 0
        twins.both(events.leading(0, events.claim(twins)))

    return acting


def put_back(twins: Twins) -> None:
    events.roll_back(twins, Random(0))


def lock(twins: Twins) -> None:
    twins.facts["unlock"] = twins.send("POST", "sys/namespaces/api-lock/lock/team").data["unlock_key"]


def unlock(twins: Twins) -> None:
    done(twins.send("POST", "sys/namespaces/api-lock/unlock/team", {"unlock_key": twins.facts["unlock"]}))


def leads(leadership: Leadership) -> Act:
    return lambda twins: twins.each(lambda node: node.set_leadership(leadership), "leadership")


def seal(twins: Twins) -> None:
    done(twins.send("PUT", "sys/seal"))


def crash(twins: Twins) -> None:
    twins.both(lambda cluster: cluster.rebuild(cluster.nodes[0], None, cluster.nodes[0].files), "crash")


def end_namespace(twins: Twins) -> None:
    for path in ("team/sys/namespaces/sub", "sys/namespaces/team"):
        done(twins.send("DELETE", path))


def make_namespace(twins: Twins) -> None:
    post("sys/namespaces/team")(twins)
    post("team/sys/mounts/secret", {"type": "kv", "options": {"version": "2"}})(twins)
    post("team/secret/data/app", {"data": {"n": 9}})(twins)


def swap_mounts(twins: Twins) -> None:
    """Let two mounts take each other's place."""
    post("sys/mounts/moved", {"type": "kv", "options": {"version": "2"}})(twins)
    post("moved/data/app", {"data": {"n": 7}})(twins)
    for source, target in (("secret", "aside"), ("moved", "secret"), ("aside", "moved")):
        post("sys/remount", {"from": source, "to": target})(twins)


nothing: Act = lambda twins: None  # noqa: E731  # as the others
managed_key = post(
    "sys/managed-keys/pkcs11/aes", {"key_label": "l", "mechanism": "CKM_AES_GCM", "allow_generate_key": True}
)
unseal = by_dice(events.unseal)
rate = post("sys/quotas/rate-limit/r", {"path": "secret", "rate": 1, "interval": "1h"})
audit = post("sys/audit/file", {"type": "file", "options": {"file_path": LINE}})
primary = post(DR + "primary/enable", {})
demote = then(primary, post(DR + "primary/demote", {}))
block = lambda twins: twins.each(lambda node: node.files.block(LINE), "block")  # noqa: E731  # a row's event like others
free = lambda twins: twins.each(lambda node: node.files.unblock(LINE), "free")  # noqa: E731  # as the last
keep = by_dice(events.keep_contents)

CASES: dict[str, dict[str, Case]] = {
    "tokens": {
        "revoked": Case(revoke("reader"), READ, 200, 403),
        "revoked by itself": Case(post("auth/token/revoke-self", None, "reader"), READ, 200, 403),
        "revoked by its accessor": Case(revoke_accessor("reader"), READ, 200, 403),
        "revoked, and written with": Case(revoke("reader"), WRITE, 200, 403),
        "revoked, and encrypted with": Case(revoke("reader"), ENCRYPT, 200, 403),
        "revoked with its parent": Case(revoke("reader"), READ._replace(token="child"), 200, 403),
        "batch, revoked with its parent": Case(revoke("reader"), READ._replace(token="batch child"), 200, 403),
        "kept by revoke-orphan of its parent": Case(
            revoke("reader", "revoke-orphan"), READ._replace(token="child"), 200, 200
        ),
        "revoked with its leases": Case(post("sys/leases/revoke-force/auth/token/create"), READ, 200, 403),
        "a nanosecond before its end": Case(until_end("orphan", -1), READ._replace(token="orphan"), 200, 200),
        "at its end": Case(until_end("orphan", 0), READ._replace(token="orphan"), 200, 403),
        "a nanosecond after its end": Case(until_end("orphan", 1), READ._replace(token="orphan"), 200, 403),
        "batch, before its end": Case(until_end("batch", -1), READ._replace(token="batch"), 200, 200),
        "batch, at its end": Case(until_end("batch", 0), READ._replace(token="batch"), 200, 403),
        "renewed, at its end before": Case(
            then(
                move_clock(60 * SECOND_NS),
                post("auth/token/renew-self", {"increment": "1h"}, "orphan"),
                until_end("orphan", 0),
            ),
            READ._replace(token="orphan"),
            200,
            200,
        ),
        "renewed for a second": Case(
            then(post("auth/token/renew-self", {"increment": "1s"}, "reader"), move_clock(SECOND_NS)), READ, 200, 403
        ),
        "ended, and the clock set back": Case(
            then(until_end("orphan", 0), times(1, READ), until_end("orphan", -1)),
            READ._replace(token="orphan"),
            200,
            403,
        ),
        "without a use left": Case(times(4, READ._replace(token="counted")), READ._replace(token="counted"), 200, 403),
        "removed from the store": Case(stored_otherwise(record_of("reader"), lambda value: None), READ, 200, 403),
        "damaged in the store": Case(stored_otherwise(record_of("reader"), flipped), READ, 200, 500),
        "ended on another node": Case(on_other_node(revoke("reader")), READ, 200, 403),
        "made after the contents that are put back": Case(
            then(revoke("reader"), times(1, READ), put_back), READ, 200, 200
        ),
    },
    "policies": {
        "changed": Case(policy(ROOT_ONLY), READ, 200, 403),
        "deleted": Case(delete("sys/policies/acl/reader"), READ, 200, 403),
        "changed and changed back": Case(then(policy(ROOT_ONLY), policy(POLICIES[0])), READ, 200, 200),
        "deny": Case(policy(POLICIES[5]), READ, 200, 403),
        "of another token": Case(policy(ROOT_ONLY, "other"), READ, 200, 200),
        "changed, asked about by a token with uses": Case(policy(POLICIES[9]), Asked(*ABOUT, "often"), 200, 200),
        "changed, of an audited token with uses": Case(
            then(audit, times(2, READ._replace(token="often")), policy(POLICIES[9])),
            *(READ._replace(token="often"), 200, 200),
        ),
        "written for the first time": Case(
            policy(POLICIES[0], "later"), READ._replace(token="absent policy"), 403, 200
        ),
        "changed, and written with": Case(policy(POLICIES[2]), WRITE, 200, 403),
        "changed, and encrypted with": Case(policy(POLICIES[2]), ENCRYPT, 200, 403),
        "with a refused parameter": Case(policy(POLICIES[7]), ENCRYPT, 200, 403),
        "with a wrap TTL": Case(policy(POLICIES[8]), READ, 200, 403),
        "without create, and the secret is gone": Case(
            then(
                policy('path "secret/data/app" { capabilities = ["update"] }'),
                times(2, WRITE),
                delete("secret/metadata/app"),
            ),
            WRITE,
            200,
            403,
        ),
        "without update, and the secret is there": Case(
            then(
                policy('path "secret/data/new" { capabilities = ["create"] }'),
                times(1, WRITE._replace(path="secret/data/new")),
            ),
            WRITE._replace(path="secret/data/new"),
            200,
            403,
        ),
        "of a namespace": Case(policy(ROOT_ONLY, headers=TEAM), IN_TEAM, 200, 403),
        "of the root namespace, for a namespace's token": Case(policy(ROOT_ONLY), IN_TEAM, 200, 200),
        "changed on another node": Case(on_other_node(policy(ROOT_ONLY)), READ, 200, 403),
        "whose text is damaged": Case(stored_otherwise(lambda twins: "policy/text/reader", flipped), READ, 200, 500),
    },
    "mounts": {
        "disabled": Case(delete("sys/mounts/secret"), READ, 200, 404),
        "disabled and enabled": Case(
            then(delete("sys/mounts/secret"), post("sys/mounts/secret", {"type": "kv", "options": {"version": "2"}})),
            READ,
            200,
            404,
        ),
        "enabled as another kind": Case(
            then(delete("sys/mounts/secret"), post("sys/mounts/secret", {"type": "transit"})), ENCRYPT, 200, 200
        ),
        "enabled": Case(
            post("sys/mounts/nowhere", {"type": "kv"}),
            Asked("PUT", "nowhere/app", {"a": 1}),
            404,
            204,
        ),
        "moved": Case(post("sys/remount", {"from": "secret", "to": "moved"}), READ, 200, 404),
        "moved here": Case(
            post("sys/remount", {"from": "secret", "to": "moved"}), READ._replace(path="moved/data/app"), 404, 200, 1
        ),
        "moved away and back": Case(
            then(
                post("sys/remount", {"from": "secret", "to": "moved"}),
                times(1, READ),
                post("sys/remount", {"from": "moved", "to": "secret"}),
            ),
            READ,
            200,
            200,
            1,
        ),
        "in another's place": Case(swap_mounts, READ, 200, 200, 7),
        "in another's place, by root": Case(swap_mounts, BY_ROOT, 200, 200, 7),
        "of another version": Case(
            post("sys/mounts/kv1/tune", {"options": {"version": "2"}}), Asked("GET", "kv1/app"), 200, 404
        ),
        "moved into a namespace": Case(
            then(
                delete("sys/mounts/secret"),
                post("sys/remount", {"from": "team/secret", "to": "team/moved"}),
            ),
            IN_TEAM,
            200,
            404,
        ),
        "of a namespace, disabled": Case(delete("team/sys/mounts/secret"), IN_TEAM, 200, 404),
        "of a namespace, moved": Case(
            post("sys/remount", {"from": "team/secret", "to": "team/moved"}), IN_TEAM._replace(token="root"), 200, 404
        ),
        "of a namespace, moved within it, by its header": Case(
            post("sys/remount", {"from": "secret", "to": "moved"}, headers=TEAM),
            READ._replace(token="team child", headers=TEAM),
            200,
            404,
        ),
        "disabled on another node": Case(on_other_node(delete("sys/mounts/secret")), READ, 200, 404),
        "an auth method": Case(
            post("sys/auth/cloud2", {"type": "cloud"}), Asked("LIST", "auth/cloud2/role", None, "root"), 404, 404
        ),
        "put back with the contents": Case(
            then(delete("sys/mounts/secret"), times(1, READ), put_back), READ, 200, 200, 1
        ),
    },
    "namespaces": {
        "deleted": Case(end_namespace, IN_TEAM, 200, 403),
        "deleted, by root": Case(end_namespace, IN_TEAM._replace(token="root"), 200, 404),
        "deleted and made again": Case(then(end_namespace, make_namespace), IN_TEAM, 200, 403),
        "deleted and made again, by root": Case(
            then(end_namespace, make_namespace), IN_TEAM._replace(token="root"), 200, 200, 9
        ),
        "locked": Case(lock, IN_TEAM, 200, 503),
        "locked, by root": Case(lock, IN_TEAM._replace(token="root"), 200, 503),
        "locked, named by the header": Case(lock, READ._replace(token="team child", headers=TEAM), 200, 503),
        "locked and unlocked": Case(then(lock, times(1, IN_TEAM), unlock), IN_TEAM, 200, 200),
        "locked, and asked of the root namespace": Case(lock, READ, 200, 200),
        "in a mount's place": Case(
            then(delete("sys/mounts/kv1"), post("sys/namespaces/kv1")), Asked("GET", "kv1/app"), 200, 404
        ),
        "locked on another node": Case(on_other_node(lock), IN_TEAM, 200, 503),
    },
    "quotas and audit": {
        "a rate limit": Case(then(rate, times(1, READ)), READ, 200, 429),
        "a rate limit, by root": Case(then(rate, times(1, BY_ROOT)), BY_ROOT, 200, 429),
        "a rate limit, removed": Case(then(rate, times(2, READ), delete("sys/quotas/rate-limit/r")), READ, 200, 200),
        "a rate limit, another client": Case(then(rate, times(1, READ)), READ._replace(address="10.0.0.7"), 200, 200),
        "a rate limit, exempt": Case(
            then(rate, post("sys/quotas/config", {"rate_limit_exempt_paths": ["secret/"]}), times(1, READ)),
            READ,
            200,
            200,
        ),
        "a rate limit of another mount": Case(
            then(post("sys/quotas/rate-limit/r", {"path": "transit", "rate": 1}), times(2, READ)), READ, 200, 200
        ),
        "a limit of leases": Case(
            post("sys/quotas/lease-count/c", {"max_leases": 1}),
            Asked("POST", "auth/token/create", {"ttl": "1h"}),
            200,
            429,
        ),
        "an audit file that is full": Case(then(audit, times(1, READ), block), READ, 200, 500),
        "an audit file that is full, and written with": Case(then(audit, block), WRITE, 200, 500),
        "an audit device, disabled": Case(
            then(
                audit,
                block,
                times(1, READ),
                free,
                delete("sys/audit/file"),
            ),
            READ,
            200,
            200,
        ),
        "a managed key": Case(managed_key, EXTERNAL, 400, 200),
        "a managed key, asked for twice": Case(then(managed_key, times(2, EXTERNAL)), EXTERNAL, 400, 200),
        "a managed key, deleted": Case(
            then(managed_key, times(1, EXTERNAL), delete("sys/managed-keys/pkcs11/aes")),
            EXTERNAL,
            400,
            400,
            other=EXTERNAL._replace(path="transit/keys/further"),
        ),
    },
    "what else is sent": {
        "another address": Case(nothing, BOUND, 200, 403, other=BOUND._replace(address="10.0.0.7")),
        "an address again": Case(
            times(1, BOUND._replace(address="10.0.0.7")), BOUND, 200, 200, other=BOUND._replace(address="127.1.2.3")
        ),
        "a namespace": Case(nothing, BY_ROOT, 200, 200, data=0, other=BY_ROOT._replace(headers=TEAM)),
        "a namespace that is not there": Case(
            nothing, READ, 200, 404, other=READ._replace(headers={"X-Vault-Namespace": "none"})
        ),
        "no namespace": Case(nothing, BY_ROOT._replace(headers=TEAM), 200, 200, data=1, other=BY_ROOT),
        "a namespace's path, by a token of the root namespace": Case(
            policy(POLICIES[10]), WRITE._replace(path="team/secret/data/app"), 200, 200
        ),
        "a namespace's path, asked for twice": Case(
            then(policy(POLICIES[10]), times(2, WRITE._replace(path="team/secret/data/app"))), WRITE, 200, 403
        ),
        "an index that is none": Case(
            then(primary, times(2, READ)), READ, 200, 400, other=READ._replace(headers={"X-Vault-Index": "x"})
        ),
        "an origin": Case(
            then(post("sys/config/cors", {"allowed_origins": "https://a.example"}), times(2, READ)),
            READ,
            200,
            403,
            other=READ._replace(headers={"Origin": "https://b.example"}),
        ),
        "a token that is none": Case(nothing, READ, 200, 403, other=READ._replace(token="hvs.none")),
        "no token": Case(nothing, READ, 200, 403, other=READ._replace(token="")),
        "another method": Case(policy(POLICIES[2]), READ, 200, 403, other=READ._replace(method="DELETE")),
        "a list": Case(
            nothing, Asked("GET", "secret/metadata?list=true"), 200, 200, other=Asked("LIST", "secret/metadata")
        ),
        "a wrap TTL": Case(
            policy(POLICIES[8]), READ, 200, 200, other=READ._replace(headers={"X-Vault-Wrap-TTL": "15s"})
        ),
        "a body that is refused": Case(
            policy(POLICIES[6]),
            ENCRYPT,
            200,
            403,
            other=ENCRYPT._replace(body={"plaintext": "aGk=", "context": "eA=="}),
        ),
    },
    "seal and keys": {
        "sealed": Case(seal, READ, 200, 503),
        "sealed, by root": Case(seal, BY_ROOT, 200, 503),
        "sealed and unsealed": Case(then(seal, times(1, READ), unseal), READ, 200, 200),
        "sealed, changed by another node, unsealed": Case(
            then(seal, on_other_node(policy(ROOT_ONLY)), unseal, by_dice(events.lead)), READ, 200, 403
        ),
        "crashed": Case(crash, READ, 200, 503),
        "crashed and unsealed": Case(then(crash, unseal), READ, 200, 200),
        "rotated": Case(post("sys/rotate"), READ, 200, 200),
        "rekeyed": Case(by_dice(events.rekey), READ, 200, 200),
        "reset": Case(lambda twins: twins.both(lambda cluster: cluster.reset(), "reset"), READ, 200, 403),
        "reset, by root": Case(lambda twins: twins.both(lambda cluster: cluster.reset(), "reset"), BY_ROOT, 200, 404),
    },
    "nodes and replication": {
        "a standby": Case(leads(Leadership(False, 1, 0, "http://n2:8200")), READ, 200, 307),
        "a standby, by root": Case(leads(Leadership(False, 1, 0, "http://n2:8200")), BY_ROOT, 200, 307),
        "no leader": Case(leads(Leadership(active=False)), READ, 200, 503),
        "a standby that leads again": Case(
            then(leads(Leadership(active=False)), times(1, READ), leads(Leadership())), READ, 200, 200
        ),
        "asked to step down": Case(post("sys/step-down"), READ, 200, 503),
        "overtaken, and written with": Case(by_dice(events.overtake), WRITE, 200, 503),
        "overtaken, and read after a write": Case(then(by_dice(events.overtake), times(1, WRITE)), READ, 200, 503),
        "a primary": Case(primary, READ, 200, 200),
        "a secondary": Case(demote, READ, 200, 400),
        "a secondary, by root": Case(demote, BY_ROOT, 200, 400),
        "a secondary, written with": Case(demote, WRITE, 200, 400),
        "a secondary, promoted": Case(then(demote, times(1, READ), by_dice(events.promote)), READ, 200, 200),
        "demoted on another node": Case(on_other_node(demote), READ, 200, 400),
        "two leaders, and the token is revoked on the other": Case(
            then(by_dice(events.lead_both), lambda twins: on_second(twins, revoke("reader"))), READ, 200, 403
        ),
        "two leaders, and the policy is changed on the other": Case(
            then(by_dice(events.lead_both), lambda twins: on_second(twins, policy(ROOT_ONLY))), READ, 200, 403
        ),
        "two leaders, and the mount is moved on the other": Case(
            then(by_dice(events.lead_both), lambda twins: on_second(twins, swap_mounts)), READ, 200, 200, 7
        ),
        "the mount table, damaged": Case(stored_otherwise(lambda twins: MOUNTS, flipped), READ, 200, 500),
        "the mount table, damaged, by a token of a namespace": Case(
            stored_otherwise(lambda twins: MOUNTS, flipped), READ._replace(token="team child", headers=TEAM), 200, 500
        ),
        "the mount table, copied": Case(
            stored_otherwise(lambda twins: MOUNTS, lambda value: bytes(bytearray(value))), READ, 200, 200
        ),
    },
}


def on_second(twins: Twins, act: Act) -> None:
    twins.asked = 1
    act(twins)
    twins.asked = 0


@pytest.fixture(scope="module")
def point() -> Point:
    """Where every case begins: with something in every engine, tokens of all kinds, and contents that are kept."""
    twins = Twins().begin()
    prepare(twins)
    done(twins.send("POST", "secret/data/app", {"data": {"n": 1}}))
    keep(twins)
    return twins.save()


def check(twins: Twins, case: Case, ticks: bool) -> str:
    """Play a case; return what is wrong."""
    try:
        before = [case.asked.send(twins, ticks).status for _ in range(2)]
        if before != [case.before] * 2:
            return f"before: {before}"
        case.event(twins)
        answer = (case.other or case.asked).send(twins, ticks)
    except AssertionError as error:
        return str(error)
    if answer.status != case.after:
        return f"after: {answer.status} {answer.body}"
    if case.data is not None and answer.data["data"]["n"] != case.data:
        return f"after: {answer.data}"
    return ""


def wrong(point: Point, group: str, forgets: str, ticks: bool) -> list[str]:
    """What is not as a group of rows says."""
    found = {name: check(Twins(forgets=forgets).at(point), case, ticks) for name, case in CASES[group].items()}
    return [f"{group}, {name}: {what}" for name, what in found.items() if what]


@pytest.mark.parametrize("group", CASES)
def test_a_request_after_an_event(point: Point, group: str) -> None:
    assert not (found := wrong(point, group, STATE, ticks=False)), "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("group", CASES)
def test_a_request_after_an_event_where_what_is_due_is_done_first(point: Point, group: str) -> None:
    assert not (found := wrong(point, group, CACHES, ticks=True)), "\n".join(found)


STATES: dict[str, Act] = {
    "as it began": lambda twins: None,
    "audited": then(audit, post("sys/audit/second", {"type": "file", "options": {"file_path": "/second.log"}})),
    "limited": then(post("sys/quotas/rate-limit/r", {"rate": 9, "interval": "1m"})),
    "with narrow policies": then(policy(POLICIES[3]), policy(POLICIES[8], "other")),
    "with managed keys": by_dice(events.keep_key_outside),
    "a primary": primary,
    "a secondary": demote,
    "sealed": seal,
    "a standby": leads(Leadership(False, 1, 0, "http://n2:8200")),
    "two leaders": by_dice(events.lead_both),
    "locked": lock,
    "without its namespaces": end_namespace,
    "rekeyed": by_dice(events.rekey),
    "without policies": delete("sys/policies/acl/reader"),
}
EVERYDAY = ("as it began", "audited")

USUAL = [
    *(Asked(*asked, token) for asked in (*HOT[:2], HOT[13]) for token in ("reader", "root", "child")),
    *(Asked(*asked) for asked in (HOT[5], HOT[8], HOT[10], HOT[21])),
    *(Asked(*asked, "often") for asked in (*HOT[:2], ABOUT)),
    IN_TEAM,
    READ._replace(token="team child", headers=TEAM),
    READ._replace(token="batch child"),
    READ._replace(token="bound"),
]


@pytest.mark.parametrize(
    "state", [state if state in EVERYDAY else pytest.param(state, marks=pytest.mark.slow) for state in STATES]
)
@pytest.mark.slow
def test_every_event_in_a_state(point: Point, state: str) -> None:
    """What is usual is sent, then an event comes, and the same is sent again: the twins agree about all of it."""
    begun = Twins().at(point)
    STATES[state](begun)
    begun_point, differences = begun.save(), []
    for number, event in enumerate(events.EVENTS):
        twins, dice = Twins(forgets=(STATE, CACHES)[number % 2]).at(begun_point), Random(number)
        try:
            send_usual(twins)
            event(twins, dice)
            send_usual(twins)
        except AssertionError as error:
            differences.append(f"{state}, {event.__name__}: {error}")

    assert not differences, "\n".join(differences)


def send_usual(twins: Twins) -> None:
    """Send what is usual, as a node is asked for which nothing was done before."""
    for asked in USUAL:
        asked.send(twins, ticks=False)
