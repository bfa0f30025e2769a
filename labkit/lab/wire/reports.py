"""Reports: the records that nodes, clients, the operators' console and faults emit; whoever emits waits for nothing.

They are consumed at once, in the order in which they are emitted: a commit before its answer is sent, an upstream that
is left before the sync is dropped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.lab.wire.messages import Correlation
from labkit.lab.wire.seen_versions import HiddenVersions, SeenVersion
from labkit.service.message import Request, Response

ANSWERED, REFUSED, UNKNOWN = "answered", "refused", "unknown"

BEGUN, GONE_ON, ENDED = "begun", "gone on", "ended"
"""The parts of a request that waits for Fetches: its first step, those between, its last."""

INTERRUPTED = "interrupted"
"""The part of a commit inside which the process ended: who asked for it, if anybody, is not known."""

MESSAGE_REFUSED = "message refused"
CONNECTION_REFUSED = "connection_refused"
REVOKED = "secondary_revoked"
REINDEX_BEGUN = "reindex_started"
NOT_ASKED = "an answer of a host that was not asked"
REFUSALS = (MESSAGE_REFUSED, CONNECTION_REFUSED)
"""Kinds of observations that a node counts: somebody sent what it may not."""
"""What a host observes that received a malformed message; its fields are the source and the reason."""


class Observed(NamedTuple):
    """A node's vault, or another host, observed something."""

    at_ns: int
    node: str
    kind: str
    fields: tuple[tuple[str, Any], ...]


class Committed(NamedTuple):
    """A step of a cluster's node committed something: with each commit, its journal entry (0: none) and what it left.

    What it left is pairs of a key and the 20-byte digest of its stored value, None where it was deleted.  Without a
    correlation nobody asked for it, or by a read; else ``version`` is the one that the answer names (0: none),
    ``options`` are the names of the fields that were sent, ``made`` is the version of a secret that was made, and
    ``value_digest`` the digest of what the request said to write, empty where it did not say it all.  ``part`` says
    which part of its request a step was that waits for a Fetch, ``hidden`` which versions it hid or showed again.
    ``ends_lives``: it may have ended secrets with all their versions, and no answer says which; ``of_system``: the
    system backend carried it out, in whichever namespace.
    """

    cluster: str
    commits: tuple[tuple[int, tuple[tuple[str, bytes | None], ...]], ...]
    correlation: Correlation | None = None
    method: str = ""
    version: int = 0
    options: tuple[str, ...] = ()
    made: SeenVersion | None = None
    value_digest: bytes = b""
    part: str = ""
    hidden: HiddenVersions | None = None
    ends_lives: bool = False
    of_system: bool = False


class CommitEnded(NamedTuple):
    """A node's process ended inside a commit: each key, what the store had, and what the commit was to leave there.

    What was there is 20-byte digests of stored values, None where there is none.  ``kept``: the store took all of it.
    """

    cluster: str
    node: str
    rows: tuple[tuple[str, bytes | None, bytes | None], ...]
    kept: bool = False


class OwnEntryMade(NamedTuple):
    """A secondary's node committed something of the two trees that no upstream sent: its entry, and the keys."""

    cluster: str
    entry_number: int
    changed: tuple[str, ...]


class Wiped(NamedTuple):
    """A cluster's contents were deleted: it joined a replication set."""

    cluster: str


class LeaderTaken(NamedTuple):
    """A node took its cluster's lease."""

    at_ns: int
    cluster: str
    node: str
    term: int


class ServiceChanged(NamedTuple):
    """A node of a cluster began or ceased to serve: it was sealed or unsealed, or its leadership began or ended."""

    at_ns: int
    cluster: str


class ModeChanged(NamedTuple):
    """A cluster's replication mode or state changed, as its active node knows it; ``set_id`` is the replication set."""

    at_ns: int
    cluster: str
    mode: str
    state: str
    set_id: str = ""


class Progressed(NamedTuple):
    """How far a cluster is: its own newest entry, or the one of the upstream that it reached; None when not known."""

    at_ns: int
    cluster: str
    upstream: str
    entry_number: int | None


class ConnectionChanged(NamedTuple):
    """The connection of a secondary to its upstream came into another state."""

    at_ns: int
    cluster: str
    state: str


class Noted(NamedTuple):
    """A runbook says what it does or waits for."""

    at_ns: int
    text: str


class UpstreamFollowed(NamedTuple):
    """A secondary follows a cluster from now on: none when empty; ``demoted`` when it was a primary until now.

    ``activation`` stands for the credentials that it was given: others mean that it was activated again; they are those
    of ``secondary_id``.
    """

    cluster: str
    upstream: str
    demoted: bool
    activation: str = ""
    secondary_id: str = ""


class UpstreamLeft(NamedTuple):
    """A secondary is about to leave its upstream: mode and replication set now, and how far its contents were."""

    at_ns: int
    cluster: str
    mode: str
    position: int | None
    complete: bool
    set_id: str = ""


class OperationEnded(NamedTuple):
    """A client's operation ended as answered, refused or unknown; ``seen`` is what the reading of a secret showed."""

    at_ns: int
    started_ns: int
    client: str
    operation: str
    path: str
    cluster: str
    outcome: str
    status: int
    attempts: int
    correlation: Correlation
    seen: SeenVersion | None = None


class AskEnded(NamedTuple):
    """An operator's request ended as answered, refused or unknown; ``reason`` is why, where it was not answered.

    ``seen`` is what the reading of a secret showed, ``method`` how it was asked.
    """

    at_ns: int
    asker: str
    path: str
    outcome: str
    correlation: Correlation
    status: int = 0
    reason: str = ""
    node: str = ""
    started_ns: int = 0
    cluster: str = ""
    seen: SeenVersion | None = None
    method: str = ""


class AnswerPassedOn(NamedTuple):
    """A load balancer passed on what a node answered to a request."""

    correlation: Correlation
    node: str


class RunbookEnded(NamedTuple):
    """A runbook ended: its closing sentence, or why it could not go on."""

    number: int
    ok: bool
    text: str


class ReachChanged(NamedTuple):
    """A fault, or the end of one, changed which hosts run or which sites reach each other."""

    at_ns: int


class NodeTreated(NamedTuple):
    """A fault of a node, or the end of one, beside crashes; ``changed`` is false where it was so already."""

    at_ns: int
    verb: str
    node: str
    changed: bool
    detail: str = ""


class OvertakenWrote(NamedTuple):
    """A node committed under a term, though a newer leader had claimed the cluster's store."""

    cluster: str
    node: str
    term: int
    key: str


class Corrupted(NamedTuple):
    """A cluster's index or store was damaged on purpose, in this layer; ``missed``: by the reindex under way.

    ``altered`` is the storage key whose value was changed, empty for a node of the index; ``digests`` are those of
    what was stored there before and of what is now.  ``place`` is tree, page and subpage, -1 where one does not apply.
    """

    at_ns: int
    cluster: str
    layer: str
    missed: bool = False
    altered: str = ""
    digests: tuple[bytes, bytes] | None = None
    place: tuple[int, int, int] = (-1, -1, -1)


class IndexReplaced(NamedTuple):
    """A cluster was reindexed: an index of what its store held is in use, and stored."""

    cluster: str


class SecondaryServed(NamedTuple):
    """A primary answered a question (``what``) of a host, or its bootstrap, as one of its secondaries."""

    cluster: str
    host: str
    secondary_id: str
    what: str


class UpstreamHeard(NamedTuple):
    """A secondary takes answers or pushes from another host than the one before."""

    cluster: str
    host: str


class CallAnswered(NamedTuple):
    """A node answered a call of replication, one whose path is percent-encoded, or any call with 403."""

    cluster: str
    node: str
    request: Request
    answer: Response


class RequestAnswered(NamedTuple):
    """A node answered any request, or handed the answer to the standby that forwarded it."""

    cluster: str
    node: str
    request: Request
    answer: Response
    correlation: Correlation


Report = (
    Observed
    | Committed
    | OwnEntryMade
    | Wiped
    | LeaderTaken
    | ServiceChanged
    | ModeChanged
    | Progressed
    | ConnectionChanged
    | Noted
    | UpstreamFollowed
    | UpstreamLeft
    | OperationEnded
    | AskEnded
    | AnswerPassedOn
    | RunbookEnded
    | ReachChanged
    | NodeTreated
    | OvertakenWrote
    | Corrupted
    | IndexReplaced
    | SecondaryServed
    | UpstreamHeard
    | CallAnswered
    | RequestAnswered
    | CommitEnded
)

JUDGED_ONLY = (SecondaryServed, UpstreamHeard, CallAnswered, RequestAnswered)
"""What enters no book: standing rules judge it."""
