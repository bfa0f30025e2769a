"""Leaders in turn: nodes lead by turns while modes, mounts, tokens and keys change; what holds of each lab.

    python tests/torture/test_leaders_in_turn.py [seeds] [first seed] [processes]

1. A lab that goes on from a snapshot before about half of what is done answers as one that was never saved, and ends
   with the same trace and the same stores.
2. The index of a leader is that of what its store holds.
3. No standing rule breaks but what an operator can break: there may be two primaries, and who is promoted right after a
   demotion loses what was under way.

What is done is a function of the seed, so that a failure can be met again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from labkit import Lab
from labkit.lab.invariants.rules import NO_LOSS, ONE_PRIMARY
from labkit.lab.nodes.node_host import NodeHost
from labkit.lab.operations.runbook_effects import Ask, RunbookError
from labkit.lab.plan.blueprint import Blueprint, pair, triangle
from labkit.service.message import Response
from labkit.service.silence import Silence
from labkit.vault.replication.tree.merkle import MerkleTree
from tests.torture.many_seeds import played

EVERYDAY, MORE, ACTS_OF_A_LAB = 2, 16, 160
SECOND_NS = 1_000_000_000
NAMES = "abc"
DR, TEAM = "sys/replication/dr/", {"X-Vault-Namespace": "team"}
ALL = 'path "*" { capabilities = ["create", "read", "update", "delete", "list", "patch", "sudo"] }'

REQUESTS: tuple[tuple[str, str, Any], ...] = (
    ("POST", "secret/data/{}", {"data": {"n": 1}}),
    ("POST", "secret/data/{}", {"data": {"n": 2}, "options": {"cas": 2}}),
    ("PATCH", "secret/data/{}", {"data": {"m": 3}}),
    ("GET", "secret/data/{}", None),
    ("DELETE", "secret/data/{}", None),
    ("POST", "secret/undelete/{}", {"versions": [1]}),
    ("PUT", "secret/destroy/{}", {"versions": [1, 2]}),
    ("LIST", "secret/metadata", None),
    ("DELETE", "secret/metadata/{}", None),
    ("POST", "secret/metadata/{}", {"max_versions": 2, "delete_version_after": "20s"}),
    ("POST", "sys/mounts/{}", {"type": "kv", "options": {"version": "1"}}),
    ("POST", "sys/mounts/{}", {"type": "transit"}),
    ("DELETE", "sys/mounts/{}", None),
    ("POST", "sys/mounts/{}/tune", {"max_lease_ttl": "30s", "description": "tuned"}),
    ("POST", "{}/x", {"n": 4}),
    ("GET", "{}/x", None),
    ("POST", "transit/keys/{}", {"type": "ed25519"}),
    ("POST", "transit/keys/{}", None),
    ("POST", "transit/keys/{}/rotate", None),
    ("POST", "transit/keys/{}/config", {"deletion_allowed": True, "auto_rotate_period": "1h"}),
    ("DELETE", "transit/keys/{}", None),
    ("POST", "transit/encrypt/{}", {"plaintext": "aGVsbG8="}),
    ("POST", "transit/sign/{}", {"input": "aGVsbG8="}),
    ("POST", "auth/token/create", {"ttl": "10s", "policies": ["all"]}),
    ("POST", "auth/token/create", {"ttl": "1h", "policies": ["all"], "num_uses": 2}),
    ("POST", "auth/token/create", {"type": "batch", "ttl": "30s", "policies": ["all"]}),
    ("POST", "auth/token/renew-self", {"increment": "30s"}),
    ("GET", "auth/token/lookup-self", None),
    ("LIST", "auth/token/accessors", None),
    ("LIST", "sys/leases/lookup/auth/token/create", None),
    ("PUT", "sys/policies/acl/all", {"policy": ALL}),
    ("DELETE", "sys/policies/acl/all", None),
    ("POST", "sys/quotas/rate-limit/{}", {"rate": 20, "interval": "5s"}),
    ("DELETE", "sys/quotas/rate-limit/{}", None),
    ("PUT", "sys/audit/{}", {"type": "file", "options": {"file_path": "/audit.log"}}),
    ("DELETE", "sys/audit/{}", None),
    ("PUT", "sys/rotate", None),
    ("POST", "sys/namespaces/team", None),
    ("DELETE", "sys/namespaces/team", None),
    ("PUT", "sys/config/cors", {"allowed_origins": "*"}),
    ("POST", "sys/replication/reindex", None),
    ("POST", "sys/replication/reindex", {"skip_flush": True}),
    ("GET", "sys/replication/merkle-check", None),
    ("POST", DR + "primary/secondary-token", {"id": "{}"}),
    ("POST", DR + "primary/revoke-secondary", {"id": "tokyo"}),
    ("GET", DR + "status", None),
    ("GET", "sys/health", None),
)
"""Method, path and body; for ``{}`` stands one of three names."""

MODES = (DR + "primary/enable", DR + "primary/enable", DR + "primary/disable", DR + "primary/demote")


class Drill:
    """One lab, the draws that decide what is done to it, and what came of that."""

    def __init__(self, seed: int, *, cuts: bool) -> None:
        self.random, self.cuts = Random(seed), Random(seed) if cuts else None
        self.lab = Lab(blueprint(self.random), seed).run("1s")
        self.clusters = list(self.lab.clusters)
        self.tokens: list[str] = []
        self.accessors, self.wrapped = ["none"], ["hvs.none"]
        self.acts, self.outcomes = 0, list[Any]()

    def any(self, *options: Any) -> Any:
        """One of some options."""
        return options[self.random.randrange(len(options))]

    @property
    def cluster(self) -> str:
        """One of the clusters, the first one more often than the others."""
        return str(self.any(*self.clusters[:1] * 3, *self.clusters))

    @property
    def node(self) -> str:
        """One of the nodes."""
        return str(self.any(*self.lab.parts.nodes))

    def send(
        self, method: str, path: str, body: Any = None, headers: Any = None, token: str = "", timeout: str = "3s"
    ) -> None:
        """Send a request to a cluster's leader or to one of its nodes; remember what it was answered, and tokens."""
        cluster = self.lab[self.cluster]
        node = self.any("", "", "", *cluster.nodes)
        sent = {"X-Vault-Token": token or cluster.root_token, **(headers or {})}
        answer = cluster.request(method, path, body, sent, node=node, timeout=timeout)
        self.outcomes.append((answer.status, answer.body))
        self.learn(answer)

    def learn(self, answer: Response) -> None:
        """Remember the newest tokens of some answer."""
        if answer.auth:
            self.tokens = [*self.tokens[-3:], answer.auth["client_token"]]
            self.accessors = [*self.accessors[-3:], answer.auth["accessor"] or "none"]
        if answer.wrap_info:
            self.wrapped = [*self.wrapped[-3:], answer.wrap_info["token"]]


def blueprint(random: Random) -> Blueprint:
    """Two or three clusters of three nodes, perhaps with backlogs of eight entries."""
    chosen, entries = random.choice((pair, pair, triangle))(), random.choice((16_384, 8))
    return replace(chosen, clusters=tuple([replace(plan, backlog_entries=entries) for plan in chosen.clusters]))


# ---- what is done


def request(drill: Drill) -> None:
    """Send any request, by any token, and wait for its answer, or not long enough."""
    method, path, body = drill.any(*REQUESTS)
    name = drill.any(*NAMES)
    if body == {"id": "{}"}:
        body = {"id": name}
    headers = {**drill.any({}, {}, {}, {}, {}, TEAM), **drill.any({}, {}, {}, {}, {}, {"X-Vault-Wrap-TTL": "5s"})}
    token = drill.any("", "", *drill.tokens)
    drill.send(method, path.format(name), body, headers, token, timeout=drill.any("3s", "3s", "3s", "300us"))


def request_left_alone(drill: Drill) -> None:
    """Send a request that nobody waits for."""
    method, path, body = drill.any(*REQUESTS[:24])
    cluster = drill.cluster
    asked = Ask(cluster, method, path.format(drill.any(*NAMES)), body, drill.any("", *drill.lab[cluster].nodes))
    drill.lab.parts.console.ask(asked, SECOND_NS)


def use_accessor(drill: Drill) -> None:
    """Look a token up, renew it or revoke it, by its accessor."""
    work = drill.any("lookup", "renew", "revoke")
    drill.send("POST", f"auth/token/{work}-accessor", {"accessor": drill.any(*drill.accessors)})


def unwrap(drill: Drill) -> None:
    """Unwrap an answer, or look it up."""
    drill.send("POST", f"sys/wrapping/{drill.any('unwrap', 'lookup', 'rewrap')}", {"token": drill.any(*drill.wrapped)})


def change_mode(drill: Drill) -> None:
    """Let a cluster be a primary, or no more."""
    drill.send("POST", drill.any(*MODES), {})


def step_down(drill: Drill) -> None:
    """Let another node lead."""
    drill.send("PUT", "sys/step-down")


def seal(drill: Drill) -> None:
    """Seal a leader."""
    drill.send("PUT", "sys/seal")


def unseal(drill: Drill) -> None:
    """Unseal all nodes of a cluster."""
    drill.lab[drill.cluster].unseal()


def runbook(drill: Drill) -> None:
    """Let clusters replicate, or end it."""
    one, other = drill.random.sample(drill.clusters, 2)
    drill.any(
        lambda: drill.lab.replicate(one, other),
        lambda: drill.lab.replicate(one, other),
        lambda: drill.lab[one].promote(force=True),
        lambda: drill.lab[one].repoint(other),
        lambda: drill.lab[one].disable(),
    )()


def fault(drill: Drill) -> None:
    """Do something to nodes or lines."""
    lab, (one, other) = drill.lab, drill.random.sample(drill.clusters, 2)
    drill.any(
        lambda: lab.pause(drill.node),
        lambda: lab.pause(lab[one].active or drill.node),
        lambda: lab.pause(lab[one].active or drill.node),
        lambda: lab.resume(drill.any(*drill.clusters)),
        lambda: lab.resume(drill.any(*drill.clusters)),
        lambda: lab.crash(drill.node),
        lambda: lab.crash_in_commit(one, drill.any("before", "after")),
        lambda: lab.restart(drill.any(*drill.clusters)),
        lambda: lab.restart(drill.any(*drill.clusters)),
        lambda: lab.skew(drill.node, drill.any("-20s", "-1s", "5s", "20s")),
        lambda: lab.partition(one, other),
        lambda: lab.heal(),
    )()


def wait(drill: Drill) -> None:
    """Let some time pass."""
    drill.lab.run(drill.any("1ms", "50ms", "400ms", "2s", "6s", "20s"))


def bring_back(drill: Drill) -> None:
    """Bring all nodes back, and let a while pass."""
    for name in drill.clusters:
        drill.lab.restart(name)
        drill.lab.resume(name)
    for name in drill.clusters:
        try:
            drill.lab[name].unseal()
        except RunbookError as error:
            drill.outcomes.append(str(error))
    drill.lab.run("40s")


USUAL: tuple[Callable[[Drill], None], ...] = (
    *(request,) * 30,
    *(request_left_alone,) * 8,
    *(wait,) * 4,
    *(change_mode, fault, fault, fault) * 2,
    *(use_accessor, unwrap, step_down, step_down, seal, unseal, unseal, runbook),
)


def attempt(drill: Drill, act: Callable[[Drill], None]) -> None:
    """Do something, where cuts are made perhaps in a lab restored from a snapshot; a call may only be refused."""
    if drill.cuts is not None and drill.cuts.random() < 0.5:
        drill.lab = Lab.restore(drill.lab.snapshot())
    drill.acts += 1
    try:
        act(drill)
    except (Silence, RunbookError, ValueError) as error:
        drill.outcomes.append(f"{act.__name__}: {error}")


# ---- what holds


def check_indexes(lab: Lab) -> None:
    """Check that the index of each leader is that of its store."""
    for name, node in lab.parts.nodes.items():
        tree = node.journal.tree
        if node.active and node.core.writes_alone and tree is not None:
            assert tree.guard() == MerkleTree.build(lab.queries.contents(node.cluster).items()).guard(), name


def run(seed: int, *, cuts: bool) -> Drill:
    """Do to a lab what its seed says, then bring all nodes back; check indexes and rules."""
    drill = Drill(seed, cuts=cuts)
    drill.lab["paris"].put("sys/policies/acl/all", {"policy": ALL}).raise_for_status()
    try:
        for _ in range(ACTS_OF_A_LAB):
            attempt(drill, drill.any(*USUAL))
            check_indexes(drill.lab)
        attempt(drill, bring_back)
        check_indexes(drill.lab)
        assert not set(drill.lab.invariants.broken) - {NO_LOSS, ONE_PRIMARY}, f"{drill.lab.invariants.broken}"
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, act {drill.acts}: {error}") from error
    return drill


def compare(seed: int) -> None:
    """Compare a lab that is cut with one that is not."""
    cut, uncut = run(seed, cuts=True), run(seed, cuts=False)
    for number, outcomes in enumerate(zip_longest(cut.outcomes, uncut.outcomes)):
        assert outcomes[0] == outcomes[1], f"seed {seed}, outcome {number}: cut {outcomes[0]}, uncut {outcomes[1]}"
    assert cut.lab.trace.digest() == uncut.lab.trace.digest(), f"seed {seed}: another trace"
    assert stored(cut.lab) == stored(uncut.lab), f"seed {seed}: other stores"


def stored(lab: Lab) -> dict[str, dict[str, bytes]]:
    """What each cluster stores."""
    return {name: dict(store.values) for name, store in lab.parts.stores.items()}


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.slow) if seed >= EVERYDAY else seed for seed in range(MORE)]
)
def test_whoever_leads_and_whenever_it_is_cut_a_lab_is_the_same(seed: int) -> None:
    compare(seed)


def test_what_is_not_saved_with_a_node_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    state = NodeHost.state
    monkeypatch.setattr(NodeHost, "state", lambda node: {**state(node), "forwarding": None})

    assert any(map(tried, range(EVERYDAY)))


def test_an_index_that_is_not_that_of_its_store_is_found() -> None:
    lab = Lab.pair()
    lab["paris"].enable_primary()
    lab["paris"].post("secret/data/a", {"data": {}}).raise_for_status()
    check_indexes(lab)
    lab.corrupt("paris", layer="storage")
    with pytest.raises(AssertionError, match="paris-1"):
        check_indexes(lab)


def tried(seed: int) -> str:
    """Compare a seed's labs; return what is wrong."""
    try:
        compare(seed)
    except AssertionError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    sys.exit(played(tried, *map(int, sys.argv[1:])))
