"""Events that change what a request may do, or what it answers.

Each event is a function of twins and of dice: it sends requests, moves the clock, or does something to both clusters.
What it needs to know later (tokens by name, accessors, what was damaged) stands in the twins' facts.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from labkit import Vault
from labkit.lab.operations.operation_tokens import _decoded
from labkit.service.message import Body, Request
from labkit.vault.core import Leadership
from labkit.vault.mounts import AUDIT_DEVICES, MANAGED_KEYS, MOUNTS, QUOTAS
from labkit.vault.policies.store import TEXTS
from labkit.vault.replication import MODE_KEY
from labkit.vault.storage.barrier import KEYRING
from labkit.vault.token_record import IDS, digest_of
from tests.caches.twins import ANY_TERM, Cluster, Twins
from tests.caches.usual_requests import CLIENTS, DR, POLICIES, SECOND_NS, TEAM, hot, make_token, others

UNNOTICED = "config/cache"
"""What is not altered behind a node's back: how much a mount keeps is read once, until the plugin is reloaded (T14)."""


# ---- tokens


def make_tokens(twins: Twins, dice: Random) -> None:
    """Make those tokens again by which most is asked."""
    for name in CLIENTS[1:]:
        make_token(twins, dice, name)


def revoke(twins: Twins, dice: Random) -> None:
    """Revoke a token in one of the ways there are."""
    name = dice.choice(others(twins))
    text, accessor = twins.tokens[name], twins.facts["accessors"].get(name, "")
    path, body, by = dice.choice(
        (
            ("revoke-self", None, name),
            ("revoke", {"token": text}, "root"),
            ("revoke-accessor", {"accessor": accessor}, "root"),
            ("revoke-orphan", {"token": text}, "root"),
        )
    )
    twins.send("POST", f"auth/token/{path}", body, by)


def revoke_parent(twins: Twins, dice: Random) -> None:
    """Revoke the token that others come from."""
    twins.send("POST", "auth/token/revoke", {"token": twins.tokens["reader"]})


def renew(twins: Twins, dice: Random) -> None:
    """Renew a token, by itself or by its accessor."""
    name = dice.choice(others(twins))
    body: Body = {"increment": dice.choice(("1s", "1h", "5m"))}
    if dice.random() < 0.5:
        answer = twins.send("POST", "auth/token/renew-self", body, name)
    else:
        body["accessor"] = twins.facts["accessors"].get(name, "")
        answer = twins.send("POST", "auth/token/renew-accessor", body)
    if answer.auth:
        twins.facts["deadlines"][name] = twins.clock.now_ns + answer.auth["lease_duration"] * SECOND_NS


def revoke_leases(twins: Twins, dice: Random) -> None:
    """Revoke the leases below a path."""
    twins.send("POST", "sys/leases/revoke-force/auth/token/create")


def tidy(twins: Twins, dice: Random) -> None:
    """Delete what is left of tokens that are not there."""
    twins.send("POST", "auth/token/tidy")


# ---- time


def wait(twins: Twins, dice: Random) -> None:
    """Let some time pass."""
    twins.clock.now_ns += dice.choice((1, SECOND_NS, 60 * SECOND_NS, 1_000 * SECOND_NS, 4_000 * SECOND_NS))
    if dice.random() < 0.3:
        twins.each(Vault.tick, "tick")


def wait_for_an_end(twins: Twins, dice: Random) -> None:
    """Ask just before the next token ends, when it does, and just after it, as a node that did not delete it yet."""
    due = sorted((at_ns, name) for name, at_ns in twins.facts["deadlines"].items() if at_ns > twins.clock.now_ns)
    for at_ns, name in due[:1]:
        for by_ns in (-1, 0, 1):
            twins.clock.now_ns = at_ns + by_ns
            twins.send("GET", "secret/data/app", None, name, ticks=False)


def set_clock_back(twins: Twins, dice: Random) -> None:
    """Set the clock back, as somebody who corrects it does."""
    twins.clock.now_ns -= dice.choice((1, SECOND_NS, 600 * SECOND_NS))


# ---- policies


def write_policy(twins: Twins, dice: Random) -> None:
    """Write a policy that tokens have, or will have."""
    name = dice.choice(("reader", "reader", "other", "later"))
    headers = TEAM if dice.random() < 0.2 else {}
    twins.send(
        "POST", f"sys/policies/acl/{name}", {"policy": dice.choice((*POLICIES[:1] * 6, *POLICIES))}, headers=headers
    )


def allow_all(twins: Twins, dice: Random) -> None:
    """Let the usual policy allow everything."""
    twins.send("PUT", "sys/policy/reader", {"policy": POLICIES[0]})


def delete_policy(twins: Twins, dice: Random) -> None:
    """Delete a policy that tokens have."""
    headers = TEAM if dice.random() < 0.2 else {}
    twins.send("DELETE", f"sys/policies/acl/{dice.choice(('reader', 'other', 'later'))}", headers=headers)


# ---- mounts and namespaces


def enable_mount(twins: Twins, dice: Random) -> None:
    """Enable an engine, perhaps where one was, perhaps another kind of it."""
    path, version = dice.choice(("moved", "secret", "kv1", "transit", "nowhere")), dice.choice("12")
    body: Body = {"type": "transit"} if path == "transit" else {"type": "kv", "options": {"version": version}}
    twins.send("POST", f"sys/mounts/{path}", body, headers=TEAM if dice.random() < 0.2 else {})
    if path == "transit":
        twins.send("POST", "transit/keys/k")


def disable_mount(twins: Twins, dice: Random) -> None:
    """Disable an engine."""
    path = dice.choice(("moved", "secret", "kv1", "transit", "nowhere"))
    twins.send("DELETE", f"sys/mounts/{path}", headers=TEAM if dice.random() < 0.3 else {})


def move_mount(twins: Twins, dice: Random) -> None:
    """Move a mount, away or back, or into another namespace."""
    places = ["secret", "moved", "kv1", "team/secret", "team/moved"]
    source, target = dice.sample(places, 2)
    twins.send("POST", "sys/remount", {"from": source, "to": target})


def tune_mount(twins: Twins, dice: Random) -> None:
    """Tune a mount: its version, its texts, what of it is audited."""
    body = dice.choice(
        (
            {"options": {"version": "2"}},
            {"description": f"of {dice.random()}"},
            {"listing_visibility": dice.choice(("unauth", "hidden"))},
            {"audit_non_hmac_request_keys": dice.choice((["data", "plaintext"], []))},
            {"passthrough_request_headers": ["X-Request"]},
        )
    )
    twins.send("POST", f"sys/mounts/{dice.choice(('secret', 'kv1', 'transit'))}/tune", body)


def change_auth_method(twins: Twins, dice: Random) -> None:
    """Enable or disable an auth method."""
    twins.send(dice.choice(("POST", "DELETE")), "sys/auth/cloud2", {"type": "cloud"})


def change_namespace(twins: Twins, dice: Random) -> None:
    """Make, delete, describe or name a namespace."""
    method, path, body = dice.choice(
        (
            ("POST", "sys/namespaces/team", None),
            ("DELETE", "sys/namespaces/team", None),
            ("POST", "team/sys/namespaces/sub", None),
            ("DELETE", "team/sys/namespaces/sub", None),
            ("POST", "sys/namespaces/team", {"custom_metadata": {"n": str(dice.random())}}),
            ("POST", "team/sys/mounts/secret", {"type": "kv", "options": {"version": "2"}}),
        )
    )
    twins.send(method, path, body)


def lock_namespace(twins: Twins, dice: Random) -> None:
    """Lock a namespace."""
    path = "sys/namespaces/api-lock/lock/" + dice.choice(("team", "team/sub"))
    data = twins.send("POST", path).data
    twins.facts["unlock"] = (data or {}).get("unlock_key", "")


def unlock_namespace(twins: Twins, dice: Random) -> None:
    """Unlock a namespace."""
    path = "sys/namespaces/api-lock/unlock/" + dice.choice(("team", "team/sub"))
    twins.send("POST", path, {"unlock_key": twins.facts.get("unlock", "")})


# ---- quotas, audit, CORS, engines' own


def set_rate_limit(twins: Twins, dice: Random) -> None:
    """Set a rate limit."""
    path = dice.choice(("", "secret", "secret/data/app", "transit/*", "team/", "sys/health"))
    body: Body = {"path": path, "rate": dice.choice((1, 3)), "interval": "10s"}
    if dice.random() < 0.3:
        body["block_interval"] = "60s"
    twins.send("POST", f"sys/quotas/rate-limit/{dice.choice('ab')}", body)


def remove_rate_limit(twins: Twins, dice: Random) -> None:
    """Remove a rate limit."""
    twins.send("DELETE", f"sys/quotas/rate-limit/{dice.choice('ab')}")


def set_lease_count(twins: Twins, dice: Random) -> None:
    """Set or remove a limit of leases."""
    twins.send(dice.choice(("POST", "DELETE")), "sys/quotas/lease-count/c", {"max_leases": dice.choice((1, 30))})


def configure_quotas(twins: Twins, dice: Random) -> None:
    """Let quotas answer headers, be recorded, or exempt paths."""
    body: Body = {name: dice.random() < 0.5 for name in ("enable_rate_limit_response_headers",)}
    body["enable_rate_limit_audit_logging"] = dice.random() < 0.5
    body["rate_limit_exempt_paths"] = dice.choice(([], ["secret/data"], ["sys/health", "transit"]))
    twins.send("POST", "sys/quotas/config", body)


def change_audit(twins: Twins, dice: Random) -> None:
    """Enable or disable an audit device, or let its file take no more lines."""
    name = dice.choice(("file", "second"))
    kind = dice.random()
    if kind < 0.5:
        options = {"file_path": f"/{name}.log", **dice.choice(({}, {"log_raw": "true"}, {"hmac_accessor": "false"}))}
        twins.send("POST", f"sys/audit/{name}", {"type": "file", "options": options})
    elif kind < 0.9:
        twins.send("DELETE", f"sys/audit/{name}")
    else:
        twins.each(lambda node: node.files.block("/file.log"), "the audit file is blocked")
        twins.send("GET", "secret/data/app")
        twins.each(lambda node: node.files.unblock("/file.log"), "the audit file is free")


def change_audited_headers(twins: Twins, dice: Random) -> None:
    """Let a header be audited, or no more."""
    twins.send(
        dice.choice(("POST", "DELETE")),
        "sys/config/auditing/request-headers/X-Request",
        {"hmac": dice.random() < 0.5},
    )


def change_cors(twins: Twins, dice: Random) -> None:
    """Allow origins, or none."""
    body: Body = {"allowed_origins": dice.choice(("*", "https://a.example", "https://b.example"))}
    twins.send(dice.choice(("POST", "DELETE")), "sys/config/cors", body)


def reload_plugin(twins: Twins, dice: Random) -> None:
    """Reload an engine; perhaps its cache has another size from then on."""
    twins.send("POST", "transit/cache-config", {"size": dice.choice((0, 10, 20))})
    twins.send("POST", "sys/plugins/reload/backend", {"plugin": dice.choice(("transit", "kv"))})


def change_key(twins: Twins, dice: Random) -> None:
    """Make, configure, rotate or delete a transit key."""
    method, path, body = dice.choice(
        (
            ("POST", "transit/keys/other", {"type": dice.choice(("aes256-gcm96", "chacha20-poly1305"))}),
            ("POST", "transit/keys/other/config", {"deletion_allowed": True}),
            ("DELETE", "transit/keys/other", None),
            ("POST", "transit/keys/k/config", {"min_encryption_version": dice.choice((0, 1))}),
            ("POST", "transit/config/keys", {"disable_upsert": dice.random() < 0.5}),
            ("POST", "secret/config", {"cas_required": dice.random() < 0.3}),
            ("DELETE", "secret/metadata/app", None),
        )
    )
    twins.send(method, path, body)


def keep_key_outside(twins: Twins, dice: Random) -> None:
    """Write a managed key, and a transit key that is kept there."""
    body: Body = {"key_label": "l", "mechanism": "CKM_AES_GCM", "allow_generate_key": True}
    twins.send("POST", "sys/managed-keys/pkcs11/aes", body)
    twins.send("POST", "transit/keys/ext/config", {"deletion_allowed": True})
    twins.send("DELETE", "transit/keys/ext")
    twins.send("POST", "transit/keys/ext", {"type": "managed_key", "managed_key_name": "aes"})


def delete_managed_key(twins: Twins, dice: Random) -> None:
    """Delete the managed key."""
    twins.send("DELETE", "sys/managed-keys/pkcs11/aes")


# ---- requests that wait


def begin_request(twins: Twins, dice: Random) -> None:
    """Begin a request that waits for an answer from outside, if it gets that far."""
    if dice.random() < 0.5:
        keep_key_outside(twins, dice)
    name = "root" if dice.random() < 0.5 else dice.choice((*CLIENTS, "counted"))
    path, body = dice.choice(
        (
            ("transit/encrypt/ext", {"plaintext": "aGk="}),
            ("transit/encrypt/ext", {"plaintext": "aGk="}),
            ("transit/keys/ext/rotate", {"managed_key_name": "aes"}),
            (DR + "secondary/enable", {"token": "x", "primary_api_addr": "http://a:8200"}),
        )
    )
    twins.begin_request(Request("POST", path, {"X-Vault-Token": twins.tokens.get(name, "")}, body, "127.0.0.1"))


def go_on(twins: Twins, dice: Random) -> None:
    """Let the requests that wait go on, to their ends."""
    twins.go_on()


# ---- seal, keys


def seal(twins: Twins, dice: Random) -> None:
    """Seal the node that leads, or the standby."""
    if dice.random() < 0.7:
        twins.send("PUT", "sys/seal")
    else:
        twins.asked = 1
        twins.send("PUT", "sys/seal")
        twins.asked = 0


def unseal(twins: Twins, dice: Random) -> None:
    """Give both nodes their key shares."""
    for number in (0, 1):
        twins.asked = number
        if twins.each(lambda node: node.sealed, "is it sealed?"):
            for share in twins.facts.get("shares", twins.node.unseal_keys)[:3]:
                twins.send("PUT", "sys/unseal", {"key": share}, "")
    twins.asked = 0


def give_one_share(twins: Twins, dice: Random) -> None:
    """Give a key share, or start again."""
    share = dice.choice(twins.facts.get("shares", twins.node.unseal_keys))
    twins.send("PUT", "sys/unseal", {"key": share} if dice.random() < 0.7 else {"reset": True}, "")


def rotate(twins: Twins, dice: Random) -> None:
    """Rotate the keyring."""
    twins.send("PUT", "sys/rotate")


def rekey(twins: Twins, dice: Random) -> None:
    """Give the cluster another root key."""
    twins.send("DELETE", "sys/rekey/init", token="")
    began = twins.send("PUT", "sys/rekey/init", {"secret_shares": 3, "secret_threshold": 2}, "")
    if not began.ok:
        return
    done = give_shares(twins, "sys/rekey/update", began.body or {})
    if done.get("complete"):
        twins.facts["shares"] = tuple(done["keys"])


def give_shares(twins: Twins, path: str, began: Body) -> Body:
    """Give as many key shares as an attempt wants; return the body of the last answer, empty where it is refused."""
    for share in twins.facts.get("shares", twins.node.unseal_keys)[: began["required"]]:
        done = twins.send("PUT", path, {"key": share, "nonce": began["nonce"]}, "")
    return (done.body or {}) if done.ok else {}


# ---- replication


def enable_primary(twins: Twins, dice: Random) -> None:
    """Make the cluster a primary, or let it leave replication."""
    if not twins.facts.get("two lead"):
        twins.send("POST", DR + dice.choice(("primary/enable", "primary/enable", "primary/disable")), {})


def demote(twins: Twins, dice: Random) -> None:
    """Make the cluster a secondary."""
    if not twins.facts.get("two lead"):
        twins.send("POST", DR + "primary/enable", {})
        twins.send("POST", DR + "primary/demote", {})


def promote(twins: Twins, dice: Random) -> None:
    """Make a secondary the primary, or let it leave replication."""
    token = operation_token(twins)
    if token:
        twins.send("POST", DR + dice.choice(("secondary/promote", "secondary/disable")), {"dr_operation_token": token})


def operation_token(twins: Twins) -> str:
    """An operation token of key shares; empty where it is refused."""
    attempt = DR + "secondary/generate-operation-token/"
    twins.send("DELETE", attempt + "attempt", token="")
    began = twins.send("POST", attempt + "attempt", {}, "")
    if not began.ok:
        return ""
    started = began.body or {}
    done = give_shares(twins, attempt + "update", started)
    return _decoded(done["encoded_token"], started["otp"]) if done.get("complete") else ""


# ---- nodes


def leading(number: int, term: int) -> Callable[[Cluster], None]:
    """Let a node of each cluster lead, and the others follow it."""

    def lead(cluster: Cluster) -> None:
        address = f"http://n{number + 1}:8200"
        for place, node in enumerate(cluster.nodes):
            node.reload_keyring()
            node.set_leadership(Leadership(place == number, term, term if place == number else 0, address))

    return lead


def claim(twins: Twins) -> int:
    """Claim another term in both stores."""
    term = twins.facts["term"] = twins.facts.get("term", 0) + 1
    twins.both(lambda cluster: cluster.store.claim(term), f"term {term} is claimed")
    return term


def hand_over(twins: Twins, dice: Random) -> None:
    """Let another node lead."""
    twins.facts["two lead"] = False
    twins.both(leading(dice.choice((0, 1)), claim(twins)), "another node leads")


def lead(twins: Twins, dice: Random) -> None:
    """Let the first node lead."""
    twins.facts["two lead"] = False
    twins.both(leading(0, claim(twins)), "the first node leads")


def overtake(twins: Twins, dice: Random) -> None:
    """Claim a newer term: the leader notices at its next commit."""
    claim(twins)


def lose_the_leader(twins: Twins, dice: Random) -> None:
    """Let no leader be known."""
    twins.each(lambda node: node.set_leadership(Leadership(active=False)), "no leader is known")


def lead_both(twins: Twins, dice: Random) -> None:
    """Let both nodes lead under one term, and write by turns; not where a journal follows what is stored."""
    if twins.pair[0].store.get(MODE_KEY) is not None:
        return
    term = claim(twins)
    twins.facts["two lead"] = True

    def both_lead(cluster: Cluster) -> None:
        for node in cluster.nodes:
            node.reload_keyring()
            node.set_leadership(Leadership(True, term, term, ""))

    twins.both(both_lead)


def act_on_the_other_node(twins: Twins, dice: Random) -> None:
    """Let something happen on the other node."""
    twins.asked = 1
    dice.choice((write_policy, revoke, make_token, move_mount, set_rate_limit, change_audit, lock_namespace))(
        twins, dice
    )
    twins.asked = 0
    twins.both(Cluster.look_again)


def lead_by_turns(twins: Twins, dice: Random) -> None:
    """Let the other node lead while something happens there, and then the first one again."""
    twins.facts["two lead"] = False
    twins.both(leading(1, claim(twins)), "the other node leads")
    twins.asked = 1
    for event in dice.choices((enable_primary, enable_primary, write_policy, change_key, rotate, disable_mount), k=3):
        event(twins, dice)
    twins.asked = 0
    lead(twins, dice)


def step_down(twins: Twins, dice: Random) -> None:
    """Ask the leader to step down."""
    twins.send("PUT", "sys/step-down")


def crash(twins: Twins, dice: Random) -> None:
    """Start the node again: it comes up sealed, and nothing waits; a store in a file is opened again."""
    twins.held.clear()

    def start_again(cluster: Cluster) -> None:
        cluster.reopen()
        cluster.rebuild(cluster.nodes[0], None, cluster.nodes[0].files)

    twins.both(start_again)
    unseal(twins, dice)


def reset(twins: Twins, dice: Random) -> None:
    """Go back to where the cluster began, with other tokens or the same."""
    if twins.pair[0].store.kind != "inmem":
        return
    twins.held.clear()
    twins.both(Cluster.reset)
    twins.tokens["root"] = twins.node.root_token
    twins.facts.pop("shares", None)
    twins.facts["term"] = 0
    if dice.random() < 0.5:
        twins.send("POST", "sys/policies/acl/reader", {"policy": dice.choice(POLICIES)})
        make_token(twins, dice)


# ---- the store


def changed(twins: Twins, key: str, alter: Callable[[bytes], bytes | None], named: str) -> None:
    """Change a stored value behind the nodes' backs."""

    def change(cluster: Cluster) -> None:
        stored = cluster.store.get(key)
        if stored is not None:
            cluster.store.apply({key: alter(stored)}, ANY_TERM)
        cluster.look_again()

    twins.both(change, f"{named} {key}")


def damage(twins: Twins, dice: Random) -> None:
    """Alter a bit of a stored value that much rests on, or of any."""
    store = twins.pair[0].store
    digest = digest_of(twins.tokens[dice.choice(others(twins))])
    system = (TEXTS + "reader", MOUNTS, QUOTAS, AUDIT_DEVICES, MODE_KEY, KEYRING, MANAGED_KEYS)
    key = dice.choice((*system, IDS + digest, "", ""))
    key = key or dice.choice([name for name in store.keys() if UNNOTICED not in name])  # noqa: SIM118  # a store is no dict
    stored = store.get(key)
    if stored:
        altered = stored[:-1] + bytes([stored[-1] ^ 1])
        twins.facts.setdefault("damaged", {})[key] = (stored, altered)
        changed(twins, key, lambda value: altered, "damaged")


def repair(twins: Twins, dice: Random) -> None:
    """Put back what was damaged and not written since, as other objects of the same bytes."""
    store = twins.pair[0].store
    for key, (stored, altered) in twins.facts.pop("damaged", {}).items():
        if store.get(key) == altered:
            changed(twins, key, replacing(stored), "repaired")


def replacing(stored: bytes) -> Callable[[bytes], bytes]:
    """What puts a copy of a value in the place of another."""
    return lambda value: copy_of(stored)


def copy_of(stored: bytes) -> bytes:
    """The same bytes in another object."""
    return bytes(bytearray(stored))


def remove(twins: Twins, dice: Random) -> None:
    """Delete a stored value of a token behind the node's back."""
    digest = digest_of(twins.tokens[dice.choice(others(twins))])
    changed(twins, IDS + digest, lambda value: None, "removed")


def swap(twins: Twins, dice: Random) -> None:
    """Put a copy of a stored value in its place."""
    store = twins.pair[0].store
    key = dice.choice([MOUNTS, TEXTS + "reader", *[IDS + name for name in store.list(IDS)]])
    changed(twins, key, copy_of, "copied")


def keep_contents(twins: Twins, dice: Random) -> None:
    """Remember what is stored, to be put back later."""
    twins.facts["kept"] = {key: twins.pair[0].store.get(key) for key in twins.pair[0].store.keys()}  # noqa: SIM118  # a store is no dict


def roll_back(twins: Twins, dice: Random) -> None:
    """Put back what was stored before, under the running nodes; not where a journal follows what is stored."""
    kept: dict[str, Any] = twins.facts.get("kept", {})
    if MODE_KEY in kept or twins.pair[0].store.get(MODE_KEY) is not None:
        return

    def put_back(cluster: Cluster) -> None:
        extra = {key: None for key in cluster.store.keys() if key not in kept}  # noqa: SIM118  # a store is no dict
        cluster.store.apply({**extra, **kept}, ANY_TERM)
        cluster.look_again()

    if kept:
        twins.both(put_back)


EVENTS: tuple[Callable[[Twins, Random], None], ...] = (
    *(make_token, revoke, revoke_parent, renew, revoke_leases, tidy),
    *(wait, wait_for_an_end, set_clock_back),
    *(write_policy, allow_all, delete_policy),
    *(enable_mount, disable_mount, move_mount, tune_mount, change_auth_method),
    *(change_namespace, lock_namespace, unlock_namespace),
    *(set_rate_limit, remove_rate_limit, set_lease_count, configure_quotas),
    *(change_audit, change_audited_headers, change_cors, reload_plugin, change_key),
    *(keep_key_outside, delete_managed_key, begin_request, begin_request, begin_request, go_on),
    *(seal, unseal, give_one_share, rotate, rekey),
    *(enable_primary, demote, promote),
    *(hand_over, lead, lead_by_turns, overtake, lose_the_leader, lead_both, act_on_the_other_node),
    *(step_down, crash, reset),
    *(damage, repair, remove, swap, keep_contents, roll_back),
)

MENDING = (repair, unseal, lead, promote, unlock_namespace, remove_rate_limit, allow_all, make_tokens, go_on)
"""What brings a cluster back that answers nothing but refusals, in this order."""

MANY_REFUSALS = 6


def play(twins: Twins, dice: Random, steps: int) -> None:
    """Send usual requests, and let something happen now and then; bring back what answers refusals only."""
    refused = 0
    for _ in range(steps):
        if twins.facts.get("two lead"):
            twins.both(Cluster.look_again)
        if dice.random() < 0.2:
            dice.choice(EVENTS)(twins, dice)
            continue
        answer = hot(twins, dice)
        refused = 0 if answer.status in (200, 204, 404) else refused + 1
        if refused >= MANY_REFUSALS:
            refused = 0
            for mend in MENDING:
                mend(twins, dice)
