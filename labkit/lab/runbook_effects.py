"""Runbook effects: what a runbook yields for the operators' console to carry out, and what it is given for it.

An Ask is answered with a Response, a LookUpCredentials or LookUpNodes with those of a cluster, a LookUpClusters with
the names of all; a Pause ends when its time is over, an AdoptCredentials and a Note at once.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

from labkit.service.message import Body


class Ask(NamedTuple):
    """One request to a cluster's active node, or to the node that is named."""

    cluster: str
    method: str
    path: str
    body: Body | None = None
    node: str = ""
    token: str | None = None

    def __repr__(self) -> str:
        return f"Ask({self.cluster}, {self.method} {self.path})"  # never body or token


class Pause(NamedTuple):
    """Let simulated time pass."""

    delay_ns: int


class LookUpCredentials(NamedTuple):
    """Look up the root token and key shares that unseal a cluster."""

    cluster: str


class LookUpNodes(NamedTuple):
    """Look up the names of a cluster's nodes."""

    cluster: str


class LookUpClusters(NamedTuple):
    """Look up the names of all clusters."""


class AdoptCredentials(NamedTuple):
    """From now on the cluster's root token and key shares are those of another."""

    cluster: str
    of: str


class Note(NamedTuple):
    """Say in the trace what is done next, or waited for."""

    text: str


class Credentials(NamedTuple):
    """What unseals a cluster and acts as root in it: its root token and its key shares in hex."""

    root_token: str
    unseal_keys: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Credentials({len(self.unseal_keys)} shares)"


Wanted = Ask | Pause | LookUpCredentials | LookUpNodes | LookUpClusters | AdoptCredentials | Note

Runbook = Generator[Wanted, Any, str]

Steps = Generator[Wanted, Any, None]
"""A part of a runbook that ends without a result, or in a RunbookError."""


class RunbookError(RuntimeError):
    """A runbook could not go on: which step, what came, what was wanted."""
