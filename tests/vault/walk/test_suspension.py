"""Suspension: a request that fetches, cut at any of its fetches and played again, is the uncut one.

A world is a vault on seeded entropy with a test-only engine, whose routes fetch, answer data, wrap, create and update;
it can be rebuilt from its state and store at any instant.  Compared are answer, stored bytes, observations and audit
files.
"""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.front.vault import Vault
from labkit.seeded import SeededEntropy
from labkit.service import fields
from labkit.service.errors import BadRequest
from labkit.service.message import Fetch, Reply, Request, Response, Suspended, respond, silence
from labkit.service.routing import Route, Table
from labkit.vault.core import Environment, Leadership, Settings
from labkit.vault.files import Files
from labkit.vault.mounts import CATALOGUE, EngineKind
from labkit.vault.replication import MODE_KEY
from labkit.vault.replication.mode import Mode, advance
from labkit.vault.replication.trust import admission, api_certificate
from labkit.vault.sealing.initialise import set_up
from labkit.vault.storage import StoreError
from labkit.vault.storage.memory import MemoryStorage
from labkit.vault.walk.suspension import KEYS_REPLACED
from tests.examples import examples

SECOND_NS = 1_000_000_000
START_NS = 1_893_456_000 * SECOND_NS
DR = "/v1/sys/replication/dr/"

# ---- the test-only engine


def exists(ctx, name):
    return ctx.storage.get(name) is not None


def relay(ctx, name, value):
    """Fetch twice; what was read, drawn and stored in each step is in the answer."""
    seen = [ctx.storage.list(), ctx.entropy(4).hex(), ctx.now, ctx.is_create]
    ctx.storage.put("attempt", b"1")
    ctx.observe("relay asked", name=name)
    first = yield Fetch("http://outside", Request("POST", "/one"))
    seen += [ctx.storage.list(), first.status, ctx.now]
    ctx.storage.put(name, str(value).encode())
    second = yield Fetch("http://outside", Request("POST", "/two"))
    if second.status == 400:
        raise BadRequest("the outside refused")
    ctx.warn("relayed")
    ctx.storage.put(f"{name}/done", ctx.entropy(8))
    return Reply({"seen": seen, "second": second.status, "creating": ctx.is_create})


def nothing(ctx, name):
    """Fetch once and answer nothing."""
    yield Fetch("http://outside", Request("GET", f"/{name}"))


NAME = fields.name()
probe: Any = ModuleType("probe_engine")
probe.TABLE = Table(
    (
        Route("write", "relay/<name>", relay, (NAME, fields.text("value", "what is stored")), "fetches", exists=exists),
        Route("read", "nothing/<name>", nothing, (NAME,), "fetches"),
        Route("read", "anywhere/<name>", nothing, (NAME,), "fetches", "any_mode"),
    )
)


@pytest.fixture(autouse=True, scope="module")
def catalogued():
    """The test-only engine, mountable as kind probe."""
    sys.modules["probe_engine"] = probe
    CATALOGUE["probe", ""] = EngineKind("probe", "", "probe_engine:TABLE")
    yield
    del CATALOGUE["probe", ""], sys.modules["probe_engine"]


# ---- the world


class World:
    """A vault, its files and what it reported; ``cut`` rebuilds all of it from plain state."""

    def __init__(self, seed=1, name="node-1"):
        self.now_ns, self.seed, self.reported = START_NS, seed, []
        self.entropy = SeededEntropy(seed, name)
        self.store, self.files = MemoryStorage(), Files()
        self.settings = Settings(node=name, cluster_name=name, cluster_address=f"https://{name}:8201")
        self.vault = Vault(self.store, self._environment(), self.settings, files=self.files)
        self.root_token, _ = set_up(self.vault.core)
        self.send("POST", "sys/mounts/probe", {"type": "probe"})
        self.send("PUT", "sys/audit/file", {"type": "file", "options": {"file_path": "/audit.log"}})

    def _environment(self):
        def observe(kind, **reported):
            self.reported.append((kind, tuple(sorted(reported.items()))))

        return Environment(lambda: self.now_ns, self.entropy, observe, lambda fetch: silence("no address"))

    def cut(self):
        """Drop everything live and go on from store, files and state."""
        state, counter = self.vault.state(), self.entropy.counter
        self.entropy = SeededEntropy(self.seed, self.settings.node, counter=counter)
        self.store = MemoryStorage.from_state(self.store.state())
        self.files = Files(self.files.state())
        self.vault = Vault(self.store, self._environment(), self.settings, state, self.files)

    def send(self, method, path, body=None, **headers):
        """Send one request with the root token unless another is given."""
        sent = {"X-Vault-Token": headers.pop("token", self.root_token)}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        outcome: Any = self.vault.handle(Request(method, path if path[0] == "/" else f"/v1/{path}", sent, body))
        return outcome

    def all_that_is(self):
        """Return stored bytes, audit files, observations, the node's state and how far entropy was drawn."""
        state = self.vault.state()
        return self.store.state(), self.files.state(), self.reported, state, self.entropy.counter


def play(world, outcome, answers, cuts=(), between=None):
    """Go through a suspended request's fetches, cut before those that are named; return its answer."""
    fetched = 0
    while isinstance(outcome, Suspended):
        if between is not None:
            between(world, fetched)
        if fetched in cuts:
            world.cut()
        answer = answers(outcome.fetch) if callable(answers) else answers[fetched]
        outcome = world.vault.resume(outcome, answer)
        fetched += 1
    return outcome


def both(begin, answers, cuts, between=None):
    """Play a request live and cut; hold all that is left of the two against each other; return the answer."""
    ends = []
    for chosen in ((), cuts):
        world = World()
        answer = play(world, begin(world), answers, chosen, between)
        ends.append((answer, world.all_that_is()))
    assert ends[0] == ends[1]
    return ends[0][0]


def token(world, **asked):
    """Make a token that may do anything under probe/."""
    rules = {"policy": 'path "probe/*" { capabilities = ["create", "update", "read"] }'}
    world.send("PUT", "sys/policies/acl/relay", rules)
    made = world.send("POST", "auth/token/create", {"policies": ["relay"], **asked})
    return made.auth["client_token"]


def token_seen_before(world):
    """A token whose record, policies and access list the node has in its caches."""
    text = token(world)
    world.send("GET", "secret/data/nothing", token=text)
    return text


KINDS = {
    "root": lambda world: world.root_token,
    "service": token,
    "seen before": token_seen_before,
    "last use": lambda world: token(world, num_uses=1),
    "one of three": lambda world: token(world, num_uses=3),
    "batch": lambda world: token(world, type="batch", ttl="1h"),
}
FETCHED = {
    "ok": respond(200, {"data": {}}),
    "silence": silence("no address"),
    "refused": respond(400, {"errors": ["no"]}),
}


def meanwhile_nothing(world, fetched):
    pass


def meanwhile_time(world, fetched):
    world.now_ns += SECOND_NS


def meanwhile_writes(world, fetched):
    world.send("POST", "secret/data/other", {"data": {"fetched": fetched}})
    world.vault.core.commit({"logical/unread": b"1"})


def meanwhile_mounts(world, fetched):
    world.send("POST", f"sys/mounts/another-{fetched}", {"type": "kv"})


MEANWHILE = [meanwhile_nothing, meanwhile_time, meanwhile_writes, meanwhile_mounts]


@settings(max_examples=examples(60), deadline=None)
@given(
    kind=st.sampled_from(list(KINDS)),
    updates=st.booleans(),
    wrap=st.sampled_from(["", "60s"]),
    fetched=st.tuples(*[st.sampled_from(list(FETCHED))] * 2),
    cuts=st.sets(st.integers(0, 1), min_size=1),
    between=st.sampled_from(MEANWHILE),
)
def test_a_request_cut_at_any_fetch_is_the_uncut_one(kind, updates, wrap, fetched, cuts, between):
    def begin(world):
        if updates:
            play(world, world.send("POST", "probe/relay/a", {"value": "old"}), [FETCHED["ok"]] * 2)
        headers = {"X_Vault_Wrap_TTL": wrap} if wrap else {}
        return world.send("POST", "probe/relay/a", {"value": "new", "x": 1}, token=KINDS[kind](world), **headers)

    answer = both(begin, [FETCHED[name] for name in fetched], cuts, between)

    if fetched[1] == "refused":
        assert answer.errors == ["the outside refused"]
    elif wrap:
        assert answer.wrap_info["token"]
    else:
        assert answer.data["creating"] is not updates
        assert len(answer.warnings) == 2  # the unknown field's, and the handler's


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_caller_is_the_same_cut_and_uncut(kind):
    answer = both(
        lambda world: world.send("POST", "probe/relay/a", {}, token=KINDS[kind](world)), [FETCHED["ok"]] * 2, (0, 1)
    )

    assert answer.ok


@pytest.mark.parametrize("cuts", [(), (0,), (1,), (0, 1)])
def test_a_last_use_ends_the_token_even_when_a_later_step_is_refused(cuts):
    world = World()
    text = token(world, num_uses=1)
    answer = play(world, world.send("POST", "probe/relay/a", {}, token=text), [FETCHED["ok"], FETCHED["refused"]], cuts)

    assert answer.errors == ["the outside refused"]
    assert len(world.store.list("token/id/")) == 1  # the root token's


@pytest.mark.parametrize("cuts", [(), (0,), (1,), (0, 1)])
def test_another_request_s_last_use_does_not_end_one_that_waits(cuts):
    """The use of the one that waits was taken at its start; the token is revoked when the last of them ends (R4)."""
    world = World()
    text = token(world, num_uses=2)

    def take_the_last_use(world, fetched):
        if fetched == 0:
            world.send("GET", "probe/nowhere", token=text)
            assert world.send("GET", "probe/nothing/a", token=text).status == 403, "no use is left"

    answer = play(
        world, world.send("POST", "probe/relay/a", {}, token=text), [FETCHED["ok"]] * 2, cuts, take_the_last_use
    )

    assert answer.ok, answer.errors
    assert len(world.store.list("token/id/")) == 1  # the root token's
    assert world.vault.core.waiting == {}


def test_of_two_that_wait_the_one_that_ends_last_revokes_the_token():
    world = World()
    text = token(world, num_uses=2)
    waiting = [world.send("GET", f"probe/nothing/{name}", token=text) for name in "ab"]
    statuses = []
    for suspended in waiting:
        statuses.append(play(world, suspended, [FETCHED["ok"]]).status)
        statuses.append(len(world.store.list("token/id/")))

    assert statuses == [204, 2, 204, 1]


def test_a_token_that_is_revoked_ends_a_request_that_waits_with_its_use_taken():
    world = World()
    text = token(world, num_uses=3)
    suspended = world.send("GET", "probe/nothing/a", token=text)
    revoke(world, 0)

    assert play(world, suspended, [FETCHED["ok"]]).status == 403


@pytest.mark.parametrize("cuts", [(), (0,)])
def test_an_answer_of_nothing_has_no_field_warnings(cuts):
    world = World()
    assert play(world, world.send("GET", "probe/nothing/a?x=1"), [FETCHED["ok"]], cuts).status == 204


def test_the_audit_lines_of_a_replay_are_written_once():
    world = World()
    before = len(world.files.state()["/audit.log"])
    play(world, world.send("POST", "probe/relay/a", {}), [FETCHED["ok"]] * 2, (0, 1))

    assert len(world.files.state()["/audit.log"]) == before + 2


@pytest.mark.parametrize("between", ["lose_the_lead", "become_secondary"])
def test_a_node_that_may_not_write_any_more_leaves_a_spent_last_use_alone(between):
    """The store is another node's by then, or another cluster's history."""
    world = World()
    text = token(world, num_uses=1)
    suspended = world.send("GET", "probe/nothing/a", token=text)
    globals()[between](world, 0)
    before = world.store.state()
    answer: Any = world.vault.resume(suspended, FETCHED["ok"])

    assert answer.status in (400, 503)
    assert world.store.state() == before


@pytest.mark.parametrize("cut", [False, True])
def test_a_suspended_request_that_was_resumed_before_goes_on_from_its_own_fetch(cut):
    world = World()
    first = world.send("POST", "probe/relay/a", {})
    world.vault.resume(first, FETCHED["ok"])
    if cut:
        world.cut()
    again = world.vault.resume(first, FETCHED["refused"])

    assert isinstance(again, Suspended), "the answer is that of the first fetch"
    assert again.answers == (FETCHED["refused"],)


def test_the_live_generator_of_another_request_is_not_taken():
    world, other = World(), World(seed=2)
    relay, nothing = world.send("POST", "probe/relay/a", {}), other.send("GET", "probe/nothing/b")
    assert relay.number == nothing.number
    live = world.vault.core.caches.generators
    other.vault.core.caches.generators[nothing.number] = live[relay.number]

    answer: Any = other.vault.resume(nothing, FETCHED["ok"])

    assert answer.status == 204


def test_no_nonce_that_an_earlier_step_drew_is_used_in_a_later_one():
    """Two branches of one suspended request draw other nonces from their first step on (R7)."""
    stored = []
    for branch in ("one", "two"):
        world = World()
        suspended = world.send("POST", "probe/relay/a", {"value": "x"})
        world.cut()
        world.vault.core.entropy = SeededEntropy(1, branch)
        world.vault.resume(suspended, FETCHED["ok"])
        keys = world.store.keys()
        (key,) = (key for key in keys if key.startswith("logical/") and key.endswith("/a"))
        stored.append(world.store.get(key))

    first, second = stored
    assert first
    assert second
    assert first[5:17] != second[5:17]


# ---- what is judged again


def seal(world, fetched):
    world.send("PUT", "sys/seal")


def become_secondary(world, fetched):
    core, mode = world.vault.core, advance(Mode(), "enable_secondary", cluster_id="set")
    core.commit({MODE_KEY: core.keys.encrypt(MODE_KEY, mode.to_bytes(), core.entropy)})


def lose_the_lead(world, fetched):
    world.vault.set_leadership(Leadership(active=False))


def revoke(world, fetched):
    for accessor in world.send("LIST", "auth/token/accessors").data["keys"]:
        known = world.send("POST", "auth/token/lookup-accessor", {"accessor": accessor}).data
        if known["display_name"] == "token":
            world.send("POST", "auth/token/revoke-accessor", {"accessor": accessor})


def pass_an_hour(world, fetched):
    world.now_ns += 3_600 * SECOND_NS


def be_overtaken(world, fetched):
    world.store.claim(9)


def unmount(world, fetched):
    world.send("DELETE", "sys/mounts/probe")


def mount_another(world, fetched):
    unmount(world, fetched)
    world.send("POST", "sys/mounts/probe", {"type": "kv"})


def child_batch(world):
    """A batch token whose parent can be revoked."""
    world.send("PUT", "sys/policies/acl/parent", {"policy": 'path "*" { capabilities = ["create", "update", "sudo"] }'})
    parent = world.send("POST", "auth/token/create", {"policies": ["parent", "relay"]}).auth["client_token"]
    token(world)
    made = world.send("POST", "auth/token/create", {"policies": ["relay"], "type": "batch", "ttl": "2h"}, token=parent)
    return made.auth["client_token"]


JUDGED = {
    "sealed": (KINDS["service"], seal, 503, "Vault is sealed"),
    "a secondary": (KINDS["service"], become_secondary, 400, "path disabled in replication DR secondary mode"),
    "not the leader": (KINDS["service"], lose_the_lead, 503, "not the active one any more"),
    "revoked": (KINDS["service"], revoke, 403, "invalid token"),
    "expired": (lambda world: token(world, ttl="1h"), pass_an_hour, 403, "invalid token"),
    "batch expired": (KINDS["batch"], pass_an_hour, 403, "invalid token"),
    "unmounted": (KINDS["service"], unmount, 404, 'no handler for route "probe/nothing/a"'),
    "another mount at its path": (KINDS["service"], mount_another, 404, 'no handler for route "probe/nothing/a"'),
    "batch without its parent": (child_batch, revoke, 403, "invalid token"),
}


@pytest.mark.parametrize("what", JUDGED)
def test_what_changed_while_a_request_waited_is_judged_again(what):
    make, between, status, text = JUDGED[what]
    answer = both(lambda world: world.send("GET", "probe/nothing/a", token=make(world)), [FETCHED["ok"]], (0,), between)

    assert answer.status == status
    assert text in answer.errors[0]


def test_a_node_that_was_overtaken_while_a_request_waited_steps_down():
    answer = both(lambda world: world.send("POST", "probe/relay/a", {}), [FETCHED["ok"]] * 2, (0,), be_overtaken)

    assert (answer.status, "not the active one any more" in answer.errors[0]) == (503, True)


def test_a_route_for_any_mode_goes_on_when_the_cluster_becomes_a_secondary():
    answer = both(lambda world: world.send("GET", "probe/anywhere/a"), [FETCHED["ok"]], (0,), become_secondary)

    assert answer.status == 204


def test_a_request_that_waits_while_the_keys_are_replaced_is_refused_before_it_is_played():
    def replace_keys(world, fetched):
        other = World(seed=2).vault.core
        world.vault.core.commit(
            {key: other.storage.get(key) for key in ("core/keyring", "core/mounts", "core/audit")}, other.keys
        )

    answer = both(lambda world: world.send("GET", "probe/nothing/a"), [FETCHED["ok"]], (0,), replace_keys)

    assert (answer.status, "keys of this node were replaced" in answer.errors[0]) == (503, True)


# ---- the service's own endpoints that fetch


class Pair:
    """A primary, and the answers that a secondary's fetches get from it."""

    def __init__(self):
        self.primary = World(seed=3, name="paris-1")
        self.primary.send("POST", DR + "primary/enable", {})
        self.silent = ()
        self.files = Files(made=api_certificate.files_of("paris", ("127.0.0.1",), self.primary.entropy, START_NS))

    def activation(self, name="b", **asked):
        issued = self.primary.send("POST", DR + "primary/secondary-token", {"id": name, **asked})
        return issued.wrap_info["token"] if issued.wrap_info else issued.data["token"]

    def answer(self, fetch):
        if fetch.address in self.silent:
            return silence("no address")
        if fetch.channel == "cluster":
            core, body = self.primary.vault.core, fetch.request.body
            if fetch.request.path == api_certificate.PRESENT:
                return api_certificate.present(self.files.read, body["nonce"], "node-1")
            asked = {"challenge": admission.answer_challenge, "bootstrap": admission.bootstrap}
            return asked[fetch.request.path](core, "node-1", body)
        return self.primary.vault.handle(fetch.request)


def join(world, pair, body):
    return play(world, world.send("POST", DR + "secondary/enable", body), pair.answer)


def operation_token(world):
    """Store an operation token as its ceremony does."""
    from labkit.vault.token_record import digest_of

    core, text = world.vault.core, "hvs.operation"
    key = "node/operation-token"
    core.commit({key: core.keys.encrypt(key, digest_of(text).encode(), core.entropy)})
    return text


def enable_by_token(world, pair):
    return world.send("POST", DR + "secondary/enable", {"token": pair.activation()})


def enable_by_authority(world, pair):
    """By a token that is unwrapped where the API's certificate is trusted."""
    for name in ("/etc/trusted/a.pem", "/etc/trusted/b.pem"):
        world.files.write(name, pair.files.read(api_certificate.AUTHORITY_FILE))
    body = {"token": pair.activation(), "ca_file": "/etc/trusted/a.pem", "ca_path": "/etc/trusted"}
    return world.send("POST", DR + "secondary/enable", body)


def enable_by_key(world, pair):
    public = world.send("POST", DR + "secondary/generate-public-key").data["secondary_public_key"]
    return world.send("POST", DR + "secondary/enable", {"token": pair.activation(secondary_public_key=public)})


def update_by_token(world, pair):
    join(world, pair, {"token": pair.activation("a")})
    body = {"dr_operation_token": operation_token(world), "token": pair.activation("b")}
    return world.send("POST", DR + "secondary/update-primary", body)


def update_by_addresses(world, pair):
    join(world, pair, {"token": pair.activation("a")})
    pair.silent = ("https://gone:8201",)
    addresses = ["https://gone:8201", "https://paris-1:8201"]
    body = {"dr_operation_token": operation_token(world), "update_primary_addrs": addresses}
    return world.send("POST", DR + "secondary/update-primary", body)


def enable_in_vain(world, pair):
    pair.silent = ("https://paris-1:8201",)
    return world.send("POST", DR + "secondary/enable", {"token": pair.activation()})


@pytest.mark.parametrize("cuts", [(), (0,), (1,), (0, 1)])
def test_joining_a_replication_set_has_both_its_records(cuts):
    pair, world = Pair(), World()
    answer = play(world, enable_by_token(world, pair), pair.answer, cuts)
    records = [json.loads(line) for line in world.files.lines["/audit.log"]][-2:]

    assert answer.status == 200
    assert [record["type"] for record in records] == ["request", "response"]
    assert [record["request"]["path"] for record in records] == ["sys/replication/dr/secondary/enable"] * 2
    assert records[0]["request"]["id"] == records[1]["request"]["id"]


def test_what_waits_shares_nothing_with_the_one_who_asked():
    world = World()
    body: dict[str, Any] = {"token": "x", "deep": {"a": [1]}}
    sent = {"X-Vault-Token": world.root_token}
    waiting = world.vault.handle(Request("POST", "/v1/probe/relay/a", sent, body))
    assert isinstance(waiting, Suspended)
    kept = waiting.request
    body["deep"]["a"].append(2)
    sent.clear()

    assert kept.body == {"token": "x", "deep": {"a": [1]}}
    assert kept.headers == {"X-Vault-Token": world.root_token}


@pytest.mark.parametrize(
    ("begin", "status"),
    [
        (enable_by_token, 200),
        (enable_by_authority, 200),
        (enable_by_key, 200),
        (update_by_token, 200),
        (update_by_addresses, 204),
        (enable_in_vain, 400),
    ],
)
@pytest.mark.parametrize("cuts", [(0,), (1,), (2,), (0, 1, 2)])
def test_every_endpoint_that_fetches_is_the_same_cut_and_uncut(begin, status, cuts):
    ends = []
    for chosen in ((), cuts):
        pair, world = Pair(), World()
        answer = play(world, begin(world, pair), pair.answer, chosen)
        ends.append((answer, world.all_that_is()))

    assert ends[0][0].status == status, ends[0][0].errors
    assert ends[0] == ends[1]


@pytest.mark.parametrize("cuts", [(), (0,), (1,)])
def test_a_mode_that_changes_while_enable_waits_is_seen_cut_and_uncut(cuts):
    def become_primary(world, fetched):
        if fetched == 1:
            world.send("POST", DR + "primary/enable", {})

    pair, world = Pair(), World()
    answer = play(world, enable_by_token(world, pair), pair.answer, cuts, become_primary)

    assert answer.status == 400
    assert "this cluster is a DR primary" in answer.errors[0]


@pytest.mark.parametrize("cuts", [(), (0,), (1,)])
def test_new_addresses_for_a_cluster_that_was_demoted_meanwhile_are_refused(cuts):
    def demoted(world, fetched):
        core, mode = world.vault.core, advance(advance(Mode(), "enable_primary", cluster_id="set"), "demote")
        core.commit({MODE_KEY: core.keys.encrypt(MODE_KEY, mode.to_bytes(), core.entropy)})

    pair, world = Pair(), World()
    answer = play(world, update_by_addresses(world, pair), pair.answer, cuts, demoted)

    assert answer.status == 400
    assert "newly demoted cluster" in answer.errors[0]


SPENT = "; the token is spent: revoke b on the primary, and issue another one"


@pytest.mark.parametrize(("begin", "spent"), [(update_by_token, SPENT), (update_by_addresses, "")])
@pytest.mark.parametrize("cuts", [(), (0,), (1,)])
def test_an_operation_token_that_is_deleted_while_update_primary_waits_is_refused(begin, spent, cuts):
    def delete_it(world, fetched):
        body = {"dr_operation_token": "hvs.operation"}
        world.send("POST", DR + "secondary/operation-token/delete", body)

    pair, world = Pair(), World()
    answer = play(world, begin(world, pair), pair.answer, cuts, delete_it)

    assert (answer.status, answer.errors) == (403, [f"dr operation token is missing or invalid{spent}"])


def test_a_join_whose_commit_is_stale_leaves_the_keys_as_they_were():
    pair, world = Pair(), World()
    suspended = enable_by_token(world, pair)
    further: Any = world.vault.resume(suspended, pair.answer(suspended.fetch))
    further = world.vault.resume(further, pair.answer(further.fetch))
    keys = world.vault.core.keys.state()
    world.store.claim(9)
    answer: Any = world.vault.resume(further, pair.answer(further.fetch))

    assert answer.status == 503
    assert world.vault.core.keys.state() == keys


class Unreachable:
    """A core of which a fetching handler may reach nothing but settings: the context gives it all the rest."""

    def __init__(self, core):
        self.settings, self.caches, self.keys = core.settings, core.caches, core.keys

    def __getattr__(self, name):
        raise AssertionError(f"a handler that fetches reached core.{name} past its context")


@pytest.mark.parametrize(
    "begin", [enable_by_token, enable_by_authority, enable_by_key, update_by_token, update_by_addresses]
)
def test_a_handler_that_fetches_reaches_nothing_past_its_context(begin, monkeypatch):
    from labkit.vault.walk import request_walk

    call = request_walk.call

    def guarded(ctx, arguments):
        handler = call(ctx, arguments)
        if not request_walk.fetches(ctx):
            return handler
        return guard(ctx, handler)

    def guard(ctx, handler):
        core, answer = ctx.core, None
        while True:
            ctx.core = Unreachable(core)
            try:
                fetch = handler.send(answer)
            except StopIteration as end:
                return end.value
            finally:
                ctx.core = core
            answer = yield fetch

    monkeypatch.setattr("labkit.vault.walk.request_walk.call", guarded)
    pair, world = Pair(), World()
    assert play(world, begin(world, pair), pair.answer, (0,)).ok


@pytest.mark.parametrize("cut", [False, True])
def test_who_waits_with_a_use_taken_is_known_after_a_restore(cut):
    """Else another request's last use would end the one that waits."""
    world = World()
    text = token(world, num_uses=2)
    suspended = world.send("GET", "probe/nothing/a", token=text)
    if cut:
        world.cut()
    assert world.send("GET", "probe/nowhere", token=text).status == 404
    assert len(world.store.list("token/id/")) == 2, "spent, and not ended"
    assert play(world, suspended, [FETCHED["ok"]]).status == 204
    assert len(world.store.list("token/id/")) == 1


def test_damage_that_was_reported_is_not_reported_again_after_a_restore():
    world = World()
    world.vault.core.note_damage("a")
    world.cut()
    before = len(world.reported)
    world.vault.core.note_damage("a")

    assert len(world.reported) == before


@pytest.mark.parametrize("fetched", [0, 1, 2])
def test_a_step_that_the_store_cannot_write_is_a_500_and_ends_the_request(fetched, monkeypatch):
    """Decision C10, at the first step, one in between and the last: nothing of that step is kept."""
    world = World()
    outcome, before = None, world.store.state()

    def full(self, writes, term):
        raise StoreError("lab.db has no space left")

    for step in range(fetched + 1):
        if step == fetched:
            before = world.store.state()
            monkeypatch.setattr(MemoryStorage, "apply", full)
        outcome = (
            world.send("POST", "probe/relay/a", {"value": "x"})
            if outcome is None
            else world.vault.resume(outcome, FETCHED["ok"])
        )

    assert outcome == respond(500, {"errors": ["lab.db has no space left"]})
    assert world.store.state() == before
    assert world.vault.core.waiting == {}


NONCE = "AAAAAAAAAAAAAAAA"
MANAGED = {"type": "managed_key", "managed_key_name": "hsm"}


@pytest.mark.parametrize("cuts", [(), (0,), (0, 1)])
def test_a_route_that_fetches_for_some_keys_is_the_same_cut_and_uncut(cuts):
    """One whose handler is a generator for managed keys only: an ordinary key's request is answered at once."""
    from labkit.front.keystore import KeyStore

    def run(world, cut_at):
        store, answers = KeyStore.dev(seed=3), []
        steps = [
            ("sys/managed-keys/pkcs11/hsm", {"key_label": "l", "mechanism": "0x1087", "allow_generate_key": True}),
            ("transit/keys/k", MANAGED),
            ("transit/encrypt/k", {"plaintext": "aGk=", "nonce": NONCE}),
            ("transit/encrypt/ordinary", {"plaintext": "aGk="}),
        ]
        for path, body in steps:
            outcome, fetched = world.send("POST", path, body), 0
            while isinstance(outcome, Suspended):
                if fetched in cut_at:
                    world.cut()
                outcome, fetched = world.vault.resume(outcome, store.answer(outcome.fetch)), fetched + 1
            answers.append((outcome.status, outcome.data, fetched))
        return answers, world.all_that_is()

    live, cut = run(World(), ()), run(World(), cuts)

    assert cut == live
    assert [(status, fetched) for status, _, fetched in live[0]] == [(204, 0), (200, 2), (200, 1), (200, 0)]


def test_a_tape_of_a_newer_keyring_is_a_refusal() -> None:
    """A vault that was reset from a seed has the root key again, and not the keyring that it had by then."""
    vault = Vault.dev(seed=1)
    key = {"key_label": "l", "mechanism": "CKM_AES_GCM", "allow_generate_key": True}
    vault.put("sys/rotate").raise_for_status()
    vault.put("sys/managed-keys/pkcs11/aes", key).raise_for_status()
    vault.post("transit/keys/ext", {"type": "managed_key", "managed_key_name": "aes"}).raise_for_status()
    sent = {"plaintext": "YQ==", "nonce": "AAAAAAAAAAAAAAAA"}
    waiting = vault.handle(Request("POST", "transit/encrypt/ext", {"X-Vault-Token": vault.root_token}, sent))
    assert isinstance(waiting, Suspended)
    vault.reset()

    refused = vault.resume(waiting, vault._fetch(waiting.fetch))

    assert isinstance(refused, Response)
    assert (refused.status, refused.errors) == (503, [KEYS_REPLACED])
