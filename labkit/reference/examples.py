"""Examples: for each verb of the scenario language a whole file that shows it; a test runs every one."""

from __future__ import annotations

from typing import NamedTuple

LAB = """\
lab:
  sites: [paris, tokyo]
  links:
    - {between: [paris, tokyo], latency: 80ms}
  clusters:
    paris: {site: paris}
    tokyo: {site: tokyo}
"""

DR = "sys/replication/dr/secondary"
ATTEMPT = f"{DR}/generate-operation-token"
REPLICATE = "{do: replicate, primary: paris, secondary: tokyo}"
CLOUD = "  cloud: {site: paris}\n"
POST = "{do: ask, cluster: paris, method: POST, path: "
TRUST = (
    POST + "sys/auth/cloud, body: {type: cloud}}",
    POST + "auth/cloud/config, body: {tenant_id: $(cloud.tenant_id), resource: $(cloud.resource),\n"
    "     client_id: $(cloud.client_id), client_secret: $(cloud.client_secret), max_retries: 0}}",
    POST + "auth/cloud/role/web, body: {bound_locations: [$(cloud.web-1.location)]}}",
)
LOGIN = (
    POST + "auth/cloud/login, token: none,\n"
    "     body: {role: web, jwt: $(cloud.web-1.token), vm_name: web-1,\n"
    "     subscription_id: $(cloud.web-1.subscription_id), resource_group_name: $(cloud.web-1.resource_group)}}"
)
FAILED_LOGIN = LOGIN.removesuffix("}") + ",\n     answer: {status: 503}}"


class Example(NamedTuple):
    """What a file with a verb shows: its title, its steps, and what it expects."""

    title: str
    steps: tuple[str, ...]
    expect: str = "{lost: 0}"
    more: str = ""  # of the lab

    @property
    def text(self) -> str:
        """The whole file."""
        steps = "".join(f"  - {step}\n" for step in self.steps)
        return f"scenario: {self.title}\n{LAB}{self.more}timeline:\n{steps}expect: {self.expect}\n"


EXAMPLES = {
    "enable-primary": Example(
        "A primary without a secondary", ("{do: enable-primary, cluster: paris}",), "{primary: paris}"
    ),
    "enable-secondary": Example(
        "A primary and then its secondary",
        ("{do: enable-primary, cluster: paris}", "{do: enable-secondary, cluster: tokyo, primary: paris}"),
        "{primary: paris, roots: equal}",
    ),
    "replicate": Example("Two clusters that hold the same", (REPLICATE,), "{primary: paris, roots: equal}"),
    "promote": Example(
        "A secondary takes over",
        (REPLICATE, "{do: crash, target: paris, at: 5s}", "{do: promote, cluster: tokyo, after: 2s}"),
        "{primary: tokyo}",
    ),
    "demote": Example(
        "A primary that no longer accepts writes", (REPLICATE, "{do: demote, cluster: paris, at: 5s}"), "{primary: []}"
    ),
    "repoint": Example(
        "The old primary follows the new one",
        (
            REPLICATE,
            "{do: demote, cluster: paris, at: 5s}",
            "{do: promote, cluster: tokyo, after: 1s}",
            "{do: repoint, cluster: paris, to: tokyo}",
        ),
        "{primary: tokyo, roots: equal}",
    ),
    "failover": Example(
        "A planned move", (REPLICATE, "{do: failover, old: paris, new: tokyo, at: 5s}"), "{primary: tokyo, lost: 0}"
    ),
    "disable": Example(
        "The end of a replication",
        (REPLICATE, "{do: disable, cluster: tokyo, at: 5s}", "{do: disable, cluster: paris}"),
        "{primary: []}",
    ),
    "reindex": Example(
        "Damage under the index, found and mended",
        (
            REPLICATE,
            "{do: ask, cluster: paris, method: POST, path: secret/data/app, body: {data: {n: 1}}}",
            "{do: corrupt, cluster: tokyo, layer: storage, at: 5s}",
            "{do: reindex, cluster: tokyo, diff: true, at: 6s}",
        ),
        "{roots: equal, lost: 0}",
    ),
    "unseal": Example(
        "A node that comes back",
        (
            "{do: crash, target: paris-2, at: 2s}",
            "{do: restart, target: paris-2, at: 4s}",
            "{do: unseal, cluster: paris, node: paris-2, after: 500ms}",
        ),
    ),
    "seal": Example(
        "An emergency stop and a new start",
        ("{do: seal, cluster: paris, at: 2s}", "{do: unseal, cluster: paris, after: 1s}"),
    ),
    "ask": Example(
        "A secret is written and read",
        (
            "{do: ask, cluster: paris, method: POST, path: secret/data/app, body: {data: {user: ada}}}",
            "{do: ask, cluster: paris, method: GET, path: secret/data/app}",
            "{do: ask, cluster: paris, method: GET, path: secret/data/other, answer: {status: 404}}",
            "{do: ask, cluster: paris, method: POST, path: auth/token/create, body: {policies: [default]},\n"
            "     keep: {user: auth.client_token}}",
            "{do: ask, cluster: paris, method: GET, path: secret/data/app, token: $(user),\n"
            "     answer: {status: 403, says: permission denied}}",
        ),
        "{acknowledged: 2}",
    ),
    "operation-token": Example(
        "An operation token that is made before it is needed",
        (
            REPLICATE,
            "{do: operation-token, cluster: tokyo, keep: drop}",
            "{do: demote, cluster: paris}",
            f"{{do: ask, cluster: tokyo, method: POST, path: {DR}/promote, token: none,\n"
            "     body: {dr_operation_token: $(drop)}}",
        ),
        "{primary: tokyo}",
    ),
    "decode": Example(
        "An operation token by hand",
        (
            REPLICATE,
            f"{{do: ask, cluster: tokyo, method: POST, path: {ATTEMPT}/attempt, keep: {{nonce: nonce, otp: otp}}}}",
            f"{{do: ask, cluster: tokyo, method: POST, path: {ATTEMPT}/update,\n"
            "     body: {key: $(tokyo.share.1), nonce: $(nonce)}, answer: {has: {progress: 1}}}",
            f"{{do: ask, cluster: tokyo, method: POST, path: {ATTEMPT}/update,\n"
            "     body: {key: $(tokyo.share.2), nonce: $(nonce)}}",
            f"{{do: ask, cluster: tokyo, method: POST, path: {ATTEMPT}/update,\n"
            "     body: {key: $(tokyo.share.3), nonce: $(nonce)}, keep: {encoded: encoded_token}}",
            "{do: decode, value: $(encoded), otp: $(otp), keep: drop}",
            f"{{do: ask, cluster: tokyo, method: POST, path: {DR}/operation-token/delete, token: none,\n"
            "     body: {dr_operation_token: $(drop)}, answer: {status: 204}}",
        ),
        "{primary: paris}",
    ),
    "crash": Example("A region is lost", (REPLICATE, "{do: crash, target: paris, at: 5s}"), "{primary: []}"),
    "crash-in-commit": Example(
        "A leader that is lost in the middle of a write",
        (
            REPLICATE,
            "{do: crash-in-commit, target: paris, moment: between, at: 5s}",
            "{do: ask, cluster: paris, method: POST, path: secret/data/app, body: {data: {user: ada}}, fails: answer}",
        ),
        "{primary: paris, roots: equal}",
    ),
    "restart": Example(
        "A node that comes back sealed",
        ("{do: crash, target: paris-2, at: 2s}", "{do: restart, target: paris-2, at: 4s}"),
    ),
    "crash-site": Example(
        "A region is lost with its clients",
        (REPLICATE, "{do: crash-site, target: paris, at: 5s}", "{do: promote, cluster: tokyo, after: 2s}"),
        "{primary: tokyo}",
    ),
    "restart-site": Example(
        "A region comes back, sealed",
        (
            "{do: crash-site, target: paris, at: 5s}",
            "{do: restart-site, target: paris, at: 8s}",
            "{do: unseal, cluster: paris, after: 1s}",
        ),
    ),
    "pause": Example(
        "A leader that stalls is overtaken, and its late writes are refused",
        (
            "{do: pause, target: paris-1, at: 2s}",
            "{do: ask, cluster: paris, method: POST, path: secret/data/app, body: {data: {user: ada}}}",
            "{do: resume, target: paris-1, at: 8s}",
        ),
        "{acknowledged: 1}",
    ),
    "resume": Example(
        "A cluster stands still and goes on",
        (REPLICATE, "{do: pause, target: tokyo, at: 5s}", "{do: resume, target: tokyo, at: 10s}"),
        "{primary: paris, roots: equal}",
    ),
    "skew": Example(
        "A secondary whose clock is ahead",
        (
            REPLICATE,
            "{do: skew, target: tokyo, by: 90s, drift: -0.02%, at: 5s}",
            "{do: correct, target: tokyo, at: 9s}",
        ),
        "{primary: paris, roots: equal}",
    ),
    "correct": Example(
        "A clock that is behind is set right",
        ("{do: skew, target: paris-1, by: -1h, at: 2s}", "{do: correct, target: paris-1, at: 4s}"),
        "{primary: []}",
    ),
    "impersonate": Example(
        "Nobody believes an impostor",
        (REPLICATE, "{do: impersonate, target: paris, at: 5s}", "{do: expose, target: paris, at: 30s}"),
        "{primary: paris, roots: equal}",
    ),
    "expose": Example(
        "A node whose place was taken is itself again",
        (REPLICATE, "{do: impersonate, target: paris-1, at: 5s}", "{do: expose, target: paris-1, at: 10s}"),
        "{primary: paris, roots: equal}",
    ),
    "partition": Example(
        "Two regions cannot see each other",
        (
            REPLICATE,
            "{do: partition, between: [paris, tokyo], at: 5s}",
            "{do: heal, between: [paris, tokyo], at: 10s}",
        ),
        "{primary: paris, roots: equal}",
    ),
    "cut": Example(
        "Messages are lost in one direction",
        (REPLICATE, "{do: cut, from: paris, to: tokyo, at: 5s}", "{do: heal, between: [paris, tokyo], at: 10s}"),
        "{primary: paris, roots: equal}",
    ),
    "isolate": Example(
        "A region on its own",
        (REPLICATE, "{do: isolate, target: tokyo, at: 5s}", "{do: heal, target: tokyo, at: 10s}"),
        "{primary: paris, roots: equal}",
    ),
    "heal": Example(
        "Every cut is undone at once",
        (REPLICATE, "{do: isolate, target: tokyo, at: 5s}", "{do: heal, at: 10s}"),
        "{primary: paris, roots: equal}",
    ),
    "slow": Example(
        "A line takes ten times as long",
        (
            REPLICATE,
            "{do: slow, between: [paris, tokyo], factor: 10, at: 5s}",
            "{do: restore, between: [paris, tokyo], at: 10s}",
        ),
        "{primary: paris, roots: equal}",
    ),
    "lose": Example(
        "A line loses one message in ten",
        (
            "{do: lose, between: [paris, tokyo], loss: 10%}",
            REPLICATE,
            "{do: restore, between: [paris, tokyo], after: 5s}",
        ),
        "{primary: paris, roots: equal}",
    ),
    "duplicate": Example(
        "Announcements that come twice",
        (
            REPLICATE,
            "{do: duplicate, between: [paris, tokyo], share: 100%, at: 5s}",
            "{do: crash, target: paris-1, at: 6s}",
        ),
        "{primary: paris, roots: equal}",
    ),
    "restore": Example(
        "A line is as before",
        (
            "{do: slow, between: [paris, tokyo], latency: 300ms}",
            REPLICATE,
            "{do: restore, between: [paris, tokyo], at: 10s}",
        ),
        "{primary: paris, roots: equal}",
    ),
    "flap": Example(
        "A line that comes and goes",
        (
            REPLICATE,
            "{do: flap, between: [paris, tokyo], down: 1s, up: 2s, at: 5s}",
            "{do: steady, between: [paris, tokyo], at: 20s}",
        ),
        "{primary: paris, roots: equal}",
    ),
    "steady": Example(
        "All lines are steady again",
        (REPLICATE, "{do: flap, between: [paris, tokyo], down: 300ms, up: 300ms, at: 5s}", "{do: steady, at: 9s}"),
        "{primary: paris, roots: equal}",
    ),
    "corrupt": Example(
        "Two clusters that no longer hold the same",
        (REPLICATE, "{do: corrupt, cluster: tokyo, layer: subpage, at: 5s}"),
        "{primary: paris}",
    ),
    "stray-write": Example(
        "A secondary that stores something of its own",
        (REPLICATE, "{do: stray-write, cluster: tokyo, at: 5s}"),
        '{primary: paris, roots: equal, invariants: {"a secondary writes nothing of its own": broken}}',
    ),
    "cloud-outage": Example(
        "A login while the cloud publishes no keys",
        (*TRUST, "{do: cloud-outage, endpoint: keys}", FAILED_LOGIN),
        more=CLOUD,
    ),
    "cloud-recover": Example(
        "A login after an outage",
        (*TRUST, "{do: cloud-outage, endpoint: keys}", FAILED_LOGIN, "{do: cloud-recover, at: 1m}", LOGIN),
        more=CLOUD,
    ),
    "cloud-slow": Example(
        "A login that takes its time", (*TRUST, "{do: cloud-slow, delay: 2s, endpoint: keys}", LOGIN), more=CLOUD
    ),
    "cloud-restore": Example(
        "A cloud that is quick again",
        (*TRUST, "{do: cloud-slow, delay: 15s}", FAILED_LOGIN, "{do: cloud-restore, at: 2m}", LOGIN),
        more=CLOUD,
    ),
    "roll-keys": Example(
        "Logins before and after the cloud signs with its next key",
        (*TRUST, LOGIN, "{do: roll-keys}", LOGIN),
        more=CLOUD,
    ),
    "wait": Example(
        "A while passes, and then as long as it takes",
        ("{do: wait, for: 2s}", REPLICATE, "{do: wait, until: lag 0, within: 10s}"),
        "{primary: paris, roots: equal}",
    ),
    "check": Example(
        "What holds in the middle",
        (
            REPLICATE,
            "{do: partition, between: [paris, tokyo], at: 5s}",
            "{do: check, states: {tokyo: stream-wals}, connections: {tokyo: not ready}, after: 20s}",
            "{do: heal}",
        ),
        "{primary: paris, roots: equal}",
    ),
    "luck": Example(
        "A failover whose messages take another time than with any other number",
        (REPLICATE, "{do: luck, number: 3, at: 5s}", "{do: crash, target: paris}", "{do: promote, cluster: tokyo}"),
        "{primary: tokyo}",
    ),
    "note": Example(
        "A note in the log", ("{do: note, text: the disaster begins, at: 5s}", "{do: crash, target: paris, at: 5s}")
    ),
}
