"""Runbook effects: what a runbook yields for the operators' console to carry out, and what it is given for it.

An Ask is answered with a Response, a LookUpCredentials or LookUpNodes with those of a cluster, a LookUpClusters with
the names of all, a LookUpValues with what is kept by name; a Pause ends when its time is over, the others at once.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

from labkit.service.message import Body, Response


class Ask(NamedTuple):
    """One request to a cluster's active node, or to the node that is named."""

    cluster: str
    method: str
    path: str
    body: Body | None = None
    node: str = ""
    token: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    shown: str = ""  # the path as a reader may see it, when it holds a kept value

    def __repr__(self) -> str:
        return f"Ask({self.cluster}, {self.method} {self.shown or self.path})"  # never body, token or headers


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


class LookUpValues(NamedTuple):
    """Look up what is kept under a name, and what operators have of each cluster (``kept_values``)."""


class KeepValues(NamedTuple):
    """Keep values under their names, each in place of what was kept so."""

    values: tuple[tuple[str, Any], ...]

    def __repr__(self) -> str:
        return f"KeepValues({', '.join(name for name, _ in self.values)})"  # never a value


class Note(NamedTuple):
    """Say in the trace what is done next, or waited for."""

    text: str


class Credentials(NamedTuple):
    """What unseals a cluster and acts as root in it: its root token and its key shares in hex."""

    root_token: str
    unseal_keys: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Credentials({len(self.unseal_keys)} shares)"


Step = LookUpCredentials | LookUpNodes | LookUpClusters | AdoptCredentials | LookUpValues | KeepValues | Note
"""What ends at once."""

Wanted = Ask | Pause | Step

Runbook = Generator[Wanted, Any, str]

Steps = Generator[Wanted, Any, None]
"""A part of a runbook that ends without a result, or in a RunbookError."""


class RunbookError(RuntimeError):
    """A runbook could not go on: which step, what came, what was wanted."""


def check(answer: Response, what: str) -> Response:
    """Return an answer that is a success; raise RunbookError with what was asked, and what the answer says."""
    if not answer.ok:
        texts = "; ".join(answer.errors) or "no text"
        raise RunbookError(f"{what}: {f'answered {answer.status}' if answer.status else 'no answer'}: {texts}")
    return answer
