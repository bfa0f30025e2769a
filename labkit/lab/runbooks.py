"""Runbooks: what an operator does step by step, every step a request of the API.

1. A runbook is a generator over nothing but its arguments and the answers it gets: it yields an Ask (answered with a
   Response), a Pause, a LookUpCredentials or LookUpNodes (answered with those of a cluster) or an AdoptCredentials, and
   returns a sentence.
2. What is kept of one that runs is its name, arguments and answers; it can be played again to where it stands (R2).
3. RunbookError says why it cannot go on; nothing is undone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from labkit.service.durations import MILLISECOND_NS
from labkit.service.encoding import from_unpadded_base64
from labkit.service.errors import ATTEMPT_IN_PROGRESS
from labkit.service.message import Body, Response

DR = "sys/replication/dr/"
POLL_NS = 250 * MILLISECOND_NS
MAX_POLLS = 480  # two minutes


class Ask(NamedTuple):
    """One request to a cluster's active node, or to the node that is named."""

    cluster: str
    method: str
    path: str
    body: Body | None = None
    node: str = ""
    token: str | None = None


class Pause(NamedTuple):
    """Let simulated time pass."""

    delay_ns: int


class LookUpCredentials(NamedTuple):
    """Look up the root token and key shares that unseal a cluster."""

    cluster: str


class LookUpNodes(NamedTuple):
    """Look up the names of a cluster's nodes."""

    cluster: str


class AdoptCredentials(NamedTuple):
    """From now on the cluster's root token and key shares are those of another."""

    cluster: str
    of: str


class Credentials(NamedTuple):
    """What unseals a cluster and acts as root in it: its root token and its key shares in hex."""

    root_token: str
    unseal_keys: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Credentials({len(self.unseal_keys)} shares)"


Wanted = Ask | Pause | LookUpCredentials | LookUpNodes | AdoptCredentials

Runbook = Generator[Wanted, Any, str]


class RunbookError(RuntimeError):
    """A runbook could not go on: which step, what came, what was wanted."""


def ask(cluster: str, method: str, path: str, body: Body | None = None) -> Runbook:
    """Send one request; an answer that refuses ends the runbook."""
    answer = yield Ask(cluster, method, path, body)
    _check(answer, f"{method} {path} on {cluster}")
    return f"{method} {path}: {answer.status}"


def enable_primary(cluster: str) -> Runbook:
    """Make a cluster a disaster-recovery primary."""
    answer = yield Ask(cluster, "POST", DR + "primary/enable", {})
    _check(answer, f"enable {cluster} as primary")
    yield from _wait_for(cluster, "primary", "running")
    return f"{cluster} is a DR primary"


def enable_secondary(cluster: str, primary: str) -> Runbook:
    """Issue an activation token on the primary and enable the other cluster with it, then open its standbys."""
    token = yield from _activation_token(primary, cluster)
    keys = yield LookUpCredentials(cluster)
    answer = yield Ask(cluster, "POST", DR + "secondary/enable", {"token": token}, token=keys.root_token)
    _check(answer, f"enable {cluster} as secondary of {primary}")
    yield AdoptCredentials(cluster, primary)
    yield from _wait_for(cluster, "secondary", "stream-wals")
    yield from unseal(cluster)
    return f"{cluster} streams from {primary}"


def replicate(primary: str, secondary: str) -> Runbook:
    """Enable replication by the API's own calls: primary enable, secondary token, secondary enable."""
    yield from enable_primary(primary)
    return (yield from enable_secondary(secondary, primary))


def promote(cluster: str, force: bool = False) -> Runbook:
    """Generate an operation token from key shares, promote the secondary with it, and delete the token."""
    token = yield from operation_token(cluster)
    body = {"dr_operation_token": token, "force": force}
    for _ in range(MAX_POLLS):
        answer = yield Ask(cluster, "POST", DR + "secondary/promote", body)
        if answer.status != 503:
            break
        yield Pause(POLL_NS)
    _check(answer, f"promote {cluster}")
    yield from _wait_for(cluster, "primary", "running")
    answer = yield Ask(cluster, "POST", DR + "secondary/operation-token/delete", {"dr_operation_token": token})
    return f"{cluster} is the primary now"


def demote(cluster: str) -> Runbook:
    """Make a primary a secondary without an upstream."""
    answer = yield Ask(cluster, "POST", DR + "primary/demote", {})
    _check(answer, f"demote {cluster}")
    yield from _wait_for(cluster, "secondary", "idle")
    return f"{cluster} is a secondary without a primary"


def repoint(cluster: str, to: str) -> Runbook:
    """Give a secondary another primary: a fresh activation token there, update-primary here."""
    token = yield from operation_token(cluster)
    activation = yield from _activation_token(to, cluster)
    answer = yield Ask(
        cluster, "POST", DR + "secondary/update-primary", {"dr_operation_token": token, "token": activation}
    )
    _check(answer, f"point {cluster} at {to}")
    yield from _wait_for(cluster, "secondary", "stream-wals")
    yield Ask(cluster, "POST", DR + "secondary/operation-token/delete", {"dr_operation_token": token})
    return f"{cluster} streams from {to}"


def disable(cluster: str) -> Runbook:
    """Take a cluster out of replication, whatever it is in it."""
    status = yield Ask(cluster, "GET", DR + "status")
    mode = (status.data or {}).get("mode")
    if mode == "primary":
        answer = yield Ask(cluster, "POST", DR + "primary/disable", {})
    else:
        token = yield from operation_token(cluster)
        answer = yield Ask(cluster, "POST", DR + "secondary/disable", {"dr_operation_token": token})
    _check(answer, f"disable replication on {cluster}")
    return f"{cluster} stands alone"


def unseal(cluster: str, node: str = "") -> Runbook:
    """Give every sealed node of a cluster (or the one that is named) as many key shares as it wants."""
    keys = yield LookUpCredentials(cluster)
    opened = 0
    names = [node] if node else (yield LookUpNodes(cluster))
    for name in names:
        status = yield Ask(cluster, "GET", "sys/seal-status", node=name)
        if not status.body or not status.body.get("sealed"):
            continue
        for share in keys.unseal_keys[: status.body["t"]]:
            answer = yield Ask(cluster, "POST", "sys/unseal", {"key": share}, node=name)
            _check(answer, f"unseal {name}")
        opened += 1
    return f"{opened} node{'s' if opened != 1 else ''} of {cluster} unsealed"


def seal(cluster: str) -> Runbook:
    """Seal a cluster's active node."""
    answer = yield Ask(cluster, "POST", "sys/seal", {})
    _check(answer, f"seal {cluster}")
    return f"the active node of {cluster} is sealed"


def operation_token(cluster: str) -> Runbook:
    """Go through the ceremony: start an attempt, give key shares until it is complete, decode with the OTP."""
    attempt = DR + "secondary/generate-operation-token/"
    keys = yield LookUpCredentials(cluster)
    answer = yield Ask(cluster, "POST", attempt + "attempt", {})
    if answer.code == ATTEMPT_IN_PROGRESS:
        _check((yield Ask(cluster, "DELETE", attempt + "attempt")), "cancel the attempt that runs")
        answer = yield Ask(cluster, "POST", attempt + "attempt", {})
    started = _check(answer, f"start an operation token on {cluster}").body or {}
    for share in keys.unseal_keys[: started["required"]]:
        answer = yield Ask(cluster, "POST", attempt + "update", {"key": share, "nonce": started["nonce"]})
        _check(answer, f"give a key share to {cluster}")
    encoded = (answer.body or {})["encoded_token"]
    masked = from_unpadded_base64(encoded)
    return bytes(a ^ b for a, b in zip(masked, started["otp"].encode(), strict=True)).decode()


def _activation_token(primary: str, secondary: str) -> Runbook:
    """Ask the primary for an activation token; an id that is still known from an earlier life is revoked first."""
    body = {"id": secondary}
    answer = yield Ask(primary, "POST", DR + "primary/secondary-token", body)
    if answer.status == 400:
        _check((yield Ask(primary, "POST", DR + "primary/revoke-secondary", body)), f"revoke {secondary}")
        answer = yield Ask(primary, "POST", DR + "primary/secondary-token", body)
    _check(answer, f"issue an activation token for {secondary} on {primary}")
    return str(answer.wrap_info["token"])


def _wait_for(cluster: str, mode: str, state: str) -> Runbook:
    """Ask for the status until mode and state are reached."""
    data: Body = {}
    for _ in range(MAX_POLLS):
        answer = yield Ask(cluster, "GET", DR + "status")
        data = answer.data or {}
        if data.get("mode") == mode and data.get("state") == state:
            return state
        yield Pause(POLL_NS)
    raise RunbookError(
        f"{cluster} did not become {mode} in state {state} within two minutes; it is {data.get('mode')} "
        f"in state {data.get('state')}"
    )


def _check(answer: Response, what: str) -> Response:
    if not answer.ok:
        texts = "; ".join(answer.errors) or "no text"
        raise RunbookError(f"{what}: {f'answered {answer.status}' if answer.status else 'no answer'}: {texts}")
    return answer


RUNBOOKS: dict[str, Callable[..., Runbook]] = {
    "ask": ask,
    "enable-primary": enable_primary,
    "enable-secondary": enable_secondary,
    "replicate": replicate,
    "promote": promote,
    "demote": demote,
    "repoint": repoint,
    "disable": disable,
    "unseal": unseal,
    "seal": seal,
}
