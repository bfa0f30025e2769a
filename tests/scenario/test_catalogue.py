"""The catalogues of failures: each file stands on its point, so without that point what it expects is not met."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from labkit import Lab
from labkit.scenario.verdict import judge

EVERYDAY = ("fenced-first", "furthest-ahead", "tokens-survive-a-failover")


class Altered(NamedTuple):
    """What is written in place of a text, and the row of the verdict that is not as expected then."""

    text: str
    instead: str
    row: str


def without(step: str) -> tuple[str, str]:
    """A step, and a note in its place."""
    return step, f"{{do: note, text: nothing is done{step[step.index(', at') :] if ', at' in step else '}'}"


ALTERED = {
    "bad-page": Altered("layer: page", "layer: subpage", "step 3: ask paris POST sys/replication/merkle-check"),
    "bad-subpage": Altered("from: 10s, until: 13s", "from: 30s, until: 33s", "step 5: roots"),
    "bad-subtree": Altered(
        "key: token/id/", "key: orders/136884", "step 4: ask paris POST sys/replication/merkle-check"
    ),
    "bit-rot": Altered(*without("{do: reindex, cluster: tokyo, diff: true}"), "step 9: ask tokyo GET secret/data/app"),
    "every-layer": Altered(*without("{do: reindex, cluster: paris}"), "roots"),
    "primary-rots": Altered(
        *without("{do: failover, old: paris, new: tokyo}"), "step 8: ask tokyo GET secret/data/app"
    ),
    "reindex-interrupted": Altered(*without("{do: crash, target: paris-1, at: 6150ms}"), "step 5: observed"),
    "reindex-under-load": Altered(
        *without("{do: reindex, cluster: paris, force: true, at: 4s}"), "observed: reindexed"
    ),
    "reindex-unflushed": Altered(
        "skip_flush: true", "skip_flush: false", "step 6: ask paris GET sys/replication/dr/status"
    ),
    "reindex-variants": Altered("layer: page", "layer: storage", "step 12: ask paris GET sys/replication/dr/status"),
    "short-backlog": Altered("backlog: 64", "backlog: 4096", "observed: missing_guard"),
    "wrong-side": Altered("{do: reindex, cluster: paris}", "{do: reindex, cluster: tokyo}", "roots"),
    "cut-while-fetching": Altered(
        *without("{do: partition, between: [paris, tokyo], at: 14s}"), "observed: missing_guard"
    ),
    "forced-while-comparing": Altered("force: true", "force: false", "primary"),
    "activation-token-twice": Altered(
        "cluster: lima, primary: paris, token: $(activation)",
        "cluster: lima, primary: paris",
        "step 5: enable-secondary lima",
    ),
    "a-distance-for-each-drill": Altered("latency: $(matrix.latency)", "latency: 700ms", "of them lost"),
    "addresses-after-demotion": Altered("update_primary_addrs: ['https://tokyo-1:8201']", "token: ''", "step 6"),
    "blank-token": Altered("token: ''", "update_primary_addrs: ['https://paris-1:8201']", "step 6: ask tokyo POST"),
    "child-namespace": Altered("X-Vault-Namespace: team", "X-Vault-Namespace: root", "step 4: ask tokyo POST"),
    "client-of-a-secondary": Altered(
        "{do: replicate, primary: paris, secondary: tokyo, at: 1s}", "{do: wait, for: 1s}", "step 3: ask tokyo GET"
    ),
    "clock-ahead": Altered("by: 90s", "by: 1s", "step 4: ask tokyo GET sys/replication/dr/status"),
    "deleted-operation-token": Altered("secondary/operation-token/delete", "secondary/merkle-check", "step 4"),
    "disabled-by-mistake": Altered(*without("{do: disable, cluster: paris, at: 4s}"), "step 5: enable-primary paris"),
    "distance": Altered("latency: 250ms", "latency: 100ms", "lag"),
    "distance-costs-writes": Altered("latency: 5s", "latency: 500ms", "of them lost"),
    "expired-activation-token": Altered("after: 11s", "after: 1s", "step 4: enable-secondary tokyo"),
    "expired-in-the-outage": Altered("at: 40s", "at: 15s", "step 7: ask tokyo GET auth/token/lookup-self"),
    "failback": Altered(*without("{do: failover, old: tokyo, new: paris, at: 25s}"), "primary"),
    "fenced-first": Altered(*without("{do: isolate, target: paris, after: 2s}"), "one primary"),
    "flapping-line": Altered("down: 20s, up: 10s", "down: 5s, up: 10s", "step 3: lag"),
    "forced-too-early": Altered("force: true", "force: false", "primary"),
    "foreign-share": Altered("tokyo.former.share.3", "tokyo.share.3", "step 5: ask tokyo POST"),
    "furthest-ahead": Altered("cluster: boston, after: 2s", "cluster: tokyo, after: 2s", "of them lost"),
    "hot-key": Altered("keys: 1}", "keys: 0}", "keys fetched"),
    "id-in-use": Altered(
        "body: {id: spare}, answer: {status: 400", "body: {id: other}, answer: {status: 400", "step 4"
    ),
    "impostor": Altered(*without("{do: impersonate, target: paris, at: 5s}"), "step 4: connection of tokyo"),
    "key-holders-asleep": Altered("at: 9m", "at: 5m", "recovery time"),
    "loser-is-wiped": Altered(
        "{do: disable, cluster: paris}\n  - {do: enable-secondary, cluster: paris, primary: tokyo}",
        "{do: demote, cluster: paris}\n  - {do: repoint, cluster: paris, to: tokyo}",
        "keys fetched",
    ),
    "lossy-line": Altered("loss: 20%", "loss: 1%", "step 3: lag"),
    "moved-primary": Altered("'https://paris-2:8201'", "'https://paris-1:8201'", "step 5: ask tokyo POST"),
    "moving-target": Altered("backlog: 64", "backlog: 2000", "step 4: state of tokyo"),
    "narrow-line": Altered("bandwidth: 1Mbit", "bandwidth: 10Mbit", "step 2: lag"),
    "newest-entry-leads": Altered("from: paris, to: lima, at: 10s", "from: paris, to: tokyo, at: 10s", "primary"),
    "no-fencing": Altered("fencing: false", "fencing: true", "only the leader writes"),
    "no-slot": Altered("backlog: 200", "backlog: 16384", "observed: missing_guard"),
    "old-key-shares": Altered("tokyo.former.share", "tokyo.share", "step 8: ask tokyo POST sys/unseal"),
    "old-primary-returns": Altered(
        "{do: restart, target: paris, at: 20s}",
        "{do: isolate, target: paris, at: 19s}\n  - {do: restart, target: paris, at: 20s}",
        "one primary",
    ),
    "one-way-line": Altered("from: paris, to: tokyo, at: 10s", "from: tokyo, to: paris, at: 10s", "step 4: lag"),
    "prepared-operation-token": Altered("at: 23s", "at: 20s", "step 12: ask tokyo POST"),
    "primary-standby-takes-over": Altered("target: paris-1", "target: paris-2", "observed: missing_guard"),
    "promoted-too-early": Altered("at: 12s", "at: 18s", "step 5: ask tokyo POST sys/replication/dr/secondary/promote"),
    "refused-shares": Altered("'%%%'", "$(tokyo.share.2)", "step 6: ask tokyo POST"),
    "reindexed-and-promoted": Altered(
        "says: rebuilt}", "says: rebuilt}\n    after: 1s", "step 5: ask tokyo POST sys/replication/dr/secondary/promote"
    ),
    "rekeyed-while-cut-off": Altered(*without("{do: heal, at: 20s}"), "step 15"),
    "rejoined-after-a-split": Altered(
        "{do: demote, cluster: paris}\n  - {do: repoint, cluster: paris, to: tokyo}",
        "{do: demote, cluster: tokyo}\n  - {do: repoint, cluster: tokyo, to: paris}",
        "primary",
    ),
    "revoked-secondary": Altered("body: {id: tokyo}", "body: {id: lima}", "step 4: ask paris GET"),
    "second-attempt": Altered("method: DELETE", "method: GET", "step 6: ask tokyo GET"),
    "secondary-standby-takes-over": Altered("paris: {site: paris}", "paris: {site: paris, backlog: 8}", "step 4"),
    "secondary-writes": Altered(*without("{do: stray-write, cluster: tokyo, at: 70s}"), "observed: merkle_diff"),
    "seven-secondaries": Altered(*without("{do: isolate, target: main, at: 19s}"), "observed: missing_guard"),
    "standby-after-a-promotion": Altered(
        "{do: crash, target: tokyo-1, at: 4s}\n  - {do: restart, target: tokyo-1, at: 7s}",
        "{do: note, text: tokyo-1 leads}\n  - {do: note, text: it always did}",
        "step 7: ask tokyo GET sys/health",
    ),
    "steady-replication": Altered("latency: 80ms", "latency: 800ms", "step 2: lag"),
    "through-a-balancer": Altered("use: [paris]}\n", "use: [paris], ends tls: true}\n", "step 4"),
    "tls-ends-too-early": Altered(", ends tls: true", "", "step 5: ask tokyo POST sys/replication/dr/secondary/enable"),
    "token-and-addresses": Altered("update_primary_addrs: ['https://paris-1:8201']", "primary_api_addr: ''", "step 4"),
    "tokens-survive-a-failover": Altered("[app], ttl: 1h", "[app], ttl: 3s", "step 7: ask tokyo GET secret/data/app"),
    "twice-over": Altered("ttl: 1h", "ttl: 10s", "step 7: ask paris GET secret/data/app"),
    "unknown-role": Altered(
        "bank: {site: tokyo, use: [tokyo]", "bank: {site: tokyo, use: [paris]", "operations refused"
    ),
    "unreachable-address": Altered(*without("{do: partition, between: [paris, tokyo], at: 3s}"), "step 7"),
    "upgraded-from-the-wrong-end": Altered("1.16.3+ent", "1.17.0+ent", "step 2: replicate paris to tokyo"),
    "wiped-by-enable": Altered(
        "cluster: tokyo, primary: paris}", "cluster: tokyo, primary: paris, token: none}", "step 5"
    ),
    "wrong-one-time-password": Altered("otp: $(first)", "otp: $(second)", "step 10: ask tokyo POST"),
}

OF_CLOUD = {
    "keys-roll": Altered(*without("{do: roll-keys, at: 3m}"), "step 9: ask paris POST auth/cloud/login"),
    "outage-during-a-failover": Altered(
        "{do: cloud-outage, endpoint: discovery, at: 5s}\n  - {do: cloud-outage, endpoint: keys, idle: fine}",
        "{do: note, text: the cloud answers, at: 5s}\n  - {do: note, text: and goes on to}",
        "step 13: ask tokyo POST auth/cloud/login",
    ),
}
OF_KEYS = {
    "rotated-too-late": Altered(
        "{do: crash, target: paris}", "{do: crash, target: paris, at: 6s}", "step 10: ask tokyo POST transit/decrypt"
    ),
}
OF_CLIENTS = {
    "an-outage-that-only-clients-see": Altered(
        *without("{do: partition, between: [paris, lisbon], at: 12s}"), "shop: in doubt"
    ),
    "deleted-and-back": Altered("latency: 200ms", "latency: 1ms", "of them lost"),
    "logins-without-the-cloud": Altered(
        *without("{do: cloud-outage, endpoint: machine, at: 10s}"), "operations refused"
    ),
    "passwords-and-ids": Altered("password: a-guess", "password: another-one", "operations refused"),
    "tokens-in-the-outage": Altered("ttl: 6s", "ttl: 1h", "operations refused"),
    "used-up-before-the-failover": Altered(
        "num_uses: 5", "num_uses: 9", "step 7: ask tokyo GET auth/token/lookup-self"
    ),
    "two-writers-of-one-key": Altered("cas: true", "cas: false", "operations refused"),
}
OTHERS = {
    **{f"clients/{name}": row for name, row in OF_CLIENTS.items()},
    **{f"cloud/{name}": row for name, row in OF_CLOUD.items()},
    **{f"keys/{name}": row for name, row in OF_KEYS.items()},
}


@pytest.mark.parametrize(
    "name", [name if name in EVERYDAY else pytest.param(name, marks=pytest.mark.slow) for name in ALTERED]
)
@pytest.mark.slow
def test_without_its_point_a_scenario_is_not_as_expected(name: str, checkout: Path, tmp_path: Path) -> None:
    play_altered(checkout / f"scenarios/dr/{name}.lab.yaml", ALTERED[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_without_its_point_a_scenario_of_clients_cloud_or_keys_is_not_as_expected(
    name: str, checkout: Path, tmp_path: Path
) -> None:
    play_altered(checkout / f"scenarios/{name}.lab.yaml", OTHERS[name], tmp_path)


def play_altered(path: Path, altered: Altered, folder: Path) -> None:
    """Play a file in which one text is replaced; its verdict fails in the row that is named."""
    written, file = path.read_text(), folder / path.name
    assert altered.text in written
    file.write_text(written.replace(altered.text, altered.instead))
    lab = Lab.load(file).run()
    assert lab.scenario is not None
    verdict = judge(lab.scenario, lab.queries, lab.ledger, lab.invariants)

    assert verdict.exit_code == 1
    assert [row.what for row in verdict.failures() if row.what.startswith(altered.row)], verdict


def test_every_scenario_of_the_catalogues_is_altered(checkout: Path) -> None:
    for folder, altered in (("clients", OF_CLIENTS), ("cloud", OF_CLOUD), ("dr", ALTERED), ("keys", OF_KEYS)):
        names = {path.name.removesuffix(".lab.yaml") for path in (checkout / "scenarios" / folder).iterdir()}
        assert names == set(altered), folder
