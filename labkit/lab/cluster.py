"""Cluster: the handle of one cluster of a lab; answers like a Vault, over the simulated network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.cloud.cloud_service import CloudService
from labkit.lab.operations.operation_tokens import DR, generate_token
from labkit.lab.operations.runbook_effects import Ask, Credentials
from labkit.lab.plan.blueprint import ClusterPlan
from labkit.lab.queries import Queries
from labkit.lab.wire.turns import EachInTurn, Turns
from labkit.service.arguments import one_of, text, whole_number, wrong
from labkit.service.message import Body, Request, Response, Unreadable
from labkit.service.short_forms import ShortForms
from labkit.vault.files import Files
from labkit.vault.sealing.shamir import MAX_SHARES

if TYPE_CHECKING:
    from labkit.vault.mount_caches import CacheCounts


class ClusterDriver(NamedTuple):
    """What a handle needs of its lab: calls that move the clock, queries, credentials, files and turns.

    - ``ask(request, timeout=..., headers=...)``: send a request and let time pass until its answer
    - ``work_through(runbook, **arguments)``: work through a runbook and let time pass until its end
    - ``copied(name)``: a branch of the lab, which stays as it is
    """

    ask: Callable[..., Response]
    work_through: Callable[..., str]
    cloud: Callable[[], CloudService]
    queries: Queries
    credentials: MutableMapping[str, Credentials]
    files: Mapping[str, Files]
    turns: Turns
    copied: Callable[[str], Any]


class Cluster(
    EachInTurn,
    ShortForms,
    but="request promote demote repoint disable enable_primary enable_secondary seal unseal operation_token rekey"
    " merkle_check reindex status",
):
    """One cluster of a lab, asked from an operator's host beside it."""

    __slots__ = ("_driver", "plan")

    def __init__(self, driver: ClusterDriver, plan: ClusterPlan) -> None:
        self._driver, self.plan = driver, plan

    def __repr__(self) -> str:
        return f"Cluster({self.name}, {self.mode})"

    @property
    def _turns(self) -> Turns:
        return self._driver.turns

    @property
    def name(self) -> str:
        """The cluster's name."""
        return self.plan.name

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of its nodes."""
        return self.plan.node_names

    @property
    def active(self) -> str:
        """The name of the node that serves; empty while there is none."""
        return self._driver.queries.active_node(self.name)

    @property
    def root_token(self) -> str:  # type: ignore[override]  # a lab's credentials change with replication
        """The root token that is valid here."""
        return self._driver.credentials[self.name].root_token

    @property
    def unseal_keys(self) -> tuple[str, ...]:
        """The key shares (hex) that open it."""
        return self._driver.credentials[self.name].unseal_keys

    @property
    def files(self) -> Files:
        """The cluster's simulated files; ``/etc/labkit/api-ca.pem`` is the authority of its API (decision D13)."""
        return self._driver.files[self.name]

    @property
    def cloud(self) -> CloudService:
        """The lab's cloud; it comes to the site of the first cluster where no blueprint names one."""
        return self._driver.cloud()

    @property
    def mode(self) -> str:
        """The replication mode as its active node knows it: disabled, primary, secondary; unknown without one."""
        return self._driver.queries.mode_of(self.name)

    @property
    def cache_counts(self) -> tuple[CacheCounts, ...]:
        """What its active node's caches of mounts hold, and how often they served; none without such a node."""
        return self._driver.queries.cache_counts(self.name)

    def judge_large(self, request: Request) -> Unreadable | None:
        """Return what stands for a large body whose sender may not send one, as its active node judges it now."""
        return self._driver.queries.judge_large(self.name, request)

    def request(
        self,
        method: str,
        path: str,
        json: Body | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        node: str = "",
        timeout: str = "30s",
    ) -> Response:
        """Send one request with exactly these headers; the clock moves until the answer, or raises Silence."""
        method = text("method", "a method such as GET", method)
        path = text("path", "a path such as secret/data/app", path)
        if node != "":
            node = one_of("node", f"a node of {self.name}", node, self.nodes)
        if headers is not None and not isinstance(headers, Mapping):
            raise wrong("headers", "a mapping of names to texts", headers)
        return self._driver.ask(Ask(self.name, method, path, json, node), timeout=timeout, headers=dict(headers or {}))

    def promote(self, force: bool = False) -> str:
        """Make this secondary the primary, with an operation token generated from key shares."""
        return self._driver.work_through("promote", cluster=self.name, force=force)

    def demote(self) -> str:
        """Make this primary a secondary without an upstream."""
        return self._driver.work_through("demote", cluster=self.name)

    def repoint(self, to: str) -> str:
        """Give this secondary another primary to follow, with a fresh activation token issued there."""
        return self._driver.work_through("repoint", cluster=self.name, to=to)

    def disable(self) -> str:
        """Take this cluster out of replication, whatever it is in it."""
        return self._driver.work_through("disable", cluster=self.name)

    def enable_primary(self) -> str:
        """Make this cluster a disaster-recovery primary."""
        return self._driver.work_through("enable-primary", cluster=self.name)

    def enable_secondary(self, primary: str, token: str = "", address: str = "") -> str:
        """Make this cluster a secondary of a primary, with a given activation token or one that is issued there.

        ``address``: where the token is unwrapped, unless where it says.
        """
        arguments = {"primary": primary, "token": token, "address": address}
        return self._driver.work_through("enable-secondary", cluster=self.name, **arguments)

    def seal(self) -> str:
        """Seal the active node."""
        return self._driver.work_through("seal", cluster=self.name)

    def unseal(self, node: str = "") -> str:
        """Give every sealed node, or the one that is named, its key shares."""
        return self._driver.work_through("unseal", cluster=self.name, node=node)

    def operation_token(self) -> str:
        """Generate an operation token of this secondary from key shares; raise RunbookError where that is refused."""
        steps, answer = generate_token(self.name), None
        try:
            while True:
                wanted = steps.send(answer)
                answer = self._driver.ask(wanted) if isinstance(wanted, Ask) else self._driver.credentials[self.name]
        except StopIteration as end:
            return str(end.value)

    def rekey(self, shares: int = 5, threshold: int = 3) -> tuple[str, ...]:
        """Give it another root key, with its present key shares; its operator has the new ones from then on.

        A secondary's operator goes on with those of before until ``use_unseal_keys``.  Return the new shares; raise
        RuntimeError where the rekey is refused, and then end it.
        """
        whole_number("shares", "a number of key shares", shares, 1, MAX_SHARES)
        whole_number("threshold", "how many of them unseal", threshold, 1, shares)
        sent = {"secret_shares": shares, "secret_threshold": threshold}
        rekey = self.put("sys/rekey/init", sent, token="").raise_for_status().body or {}
        done: Body = {}
        for share in self.unseal_keys[: rekey["required"]]:
            answer = self.put("sys/rekey/update", {"key": share, "nonce": rekey["nonce"]}, token="")
            if not answer.ok:
                self.delete("sys/rekey/init", token="")
            done = answer.raise_for_status().body or {}
        self.use_unseal_keys(done["keys"])
        return self.unseal_keys

    def use_unseal_keys(self, keys: Iterable[str]) -> None:
        """Let its operator use these key shares (hex) from now on, as after a rekey of its primary."""
        if isinstance(keys, str) or not isinstance(keys, list | tuple) or not all(isinstance(key, str) for key in keys):
            raise wrong("keys", "a list of key shares in hex", keys)
        credentials = self._driver.credentials
        credentials[self.name] = credentials[self.name]._replace(unseal_keys=tuple(keys))

    def merkle_check(self) -> Response:
        """Let it compare its Merkle tree with what that should be; a secondary asks for an operation token first."""
        if self.mode != "secondary":
            return self.post("sys/replication/merkle-check")
        body = {"dr_operation_token": self.operation_token()}
        answer = self.post(DR + "secondary/merkle-check", body, token="")
        self.post(DR + "secondary/operation-token/delete", body, token="")
        return answer

    def reindex(self, diff: bool = False, force: bool = False, skip_flush: bool = False) -> str:
        """Make its Merkle index again from what its store holds; the clock moves until that is in use.

        ``diff`` compares key by key and reports the keys; ``force`` stores every page; ``skip_flush`` stores the index
        a second after it came into use.
        """
        options = {"diff": diff, "force": force, "skip_flush": skip_flush}
        return self._driver.work_through("reindex", cluster=self.name, **options)

    def status(self) -> Any:
        """Return what the replication status endpoint answers, as data."""
        return self.get("sys/replication/dr/status", token="").data

    @property
    def root(self) -> str:
        """The Merkle root of what it replicates, forty hex digits; empty while it does not replicate."""
        return self._driver.queries.root(self.name)
