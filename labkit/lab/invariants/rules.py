"""Rules: every standing rule of a lab by name: what it says, when it is judged, when not, and what breaks it.

``labkit help invariants`` prints this table; scenario files name the rules as here.  A module beside this one judges
each of them, by the row of ``JUDGES`` in the package.
"""

from __future__ import annotations

from dataclasses import dataclass

ONE_PRIMARY = "one primary"
NO_LOSS = "planned failover loses nothing"
WITHIN_LAG = "loss within lag"
ROOTS = "equal roots, equal contents"
NOTHING_OWN = "a secondary writes nothing of its own"
ONLY_LEADER = "only the leader writes"
WHOLE_COMMITS = "a secondary holds whole commits"
LIVE_CERTIFICATES = "only live certificates replicate"
OPERATION_TOKEN = "a protected call needs the operation token"
SURVIVING_TOKENS = "tokens outlive a promotion"
CATCHING_UP = "a healed secondary catches up"
CLEAR_TEXT = "no secret in clear text"
VERSION_ORDER = "a secret's versions have one order"
CARRIED_ONCE = "carried out once"
WHOLE_COMMIT = "a commit is whole"
NO_NONCE_TWICE = "no nonce twice"
CRASH_FORGETS = "a crash forgets"
TOKEN_OVER = "a token that is over opens nothing"
REINDEX_WRITES = "a reindex loses no write"
STANDBY_FORWARDS = "a standby forwards"


@dataclass(frozen=True, kw_only=True)
class RuleText:
    """One standing rule, in words."""

    name: str
    says: str
    judged: str
    spared: str
    broken_by: str


RULES: tuple[RuleText, ...] = (
    RuleText(
        name=ONE_PRIMARY,
        says="At any time at most one cluster of a replication set accepts clients' writes: its active node is up, "
        "unsealed and primary, and clients reach it.  A disabled cluster takes no write while the set that it left has "
        "a primary.",
        judged="whenever a node's seal, leadership, mode or reachability changes, not at timers; of a disabled cluster "
        "at each write that it acknowledged",
        spared="clusters of different sets; a primary that was cut off from all clients (fenced); a disabled cluster "
        "that nobody writes to",
        broken_by="a promotion beside a primary that clients reach: labkit run first/split-brain",
    ),
    RuleText(
        name=NO_LOSS,
        says="A promotion after the old primary was demoted loses no acknowledged write.",
        judged="at each promotion of a secondary whose upstream was demoted, follows nobody by then, and has no "
        "successor yet",
        spared="it does not apply where nothing was planned",
        broken_by="a promotion that does not wait for what is under way: labkit run first/hasty-failover",
    ),
    RuleText(
        name=WITHIN_LAG,
        says="A promotion without a demotion loses no more acknowledged writes than the survivor lagged by.",
        judged="at each promotion of a secondary whose upstream is a primary, follows another by then, or has a "
        "successor already",
        spared="planned failovers, which have the rule above; what was damaged on purpose",
        broken_by="no fault of a lab; a test plants losses that were not counted as lag",
    ),
    RuleText(
        name=ROOTS,
        says="The roots of two clusters are equal exactly when what is replicated is equal.",
        judged="whenever the lab stands still, at the end of each run: of pairs that stream, with nothing on its way",
        spared="clusters that were damaged on purpose, until they are reindexed",
        broken_by="a stalled leader whose store takes its writes: labkit run dr/no-fencing",
    ),
    RuleText(
        name=NOTHING_OWN,
        says="What a secondary stores of the two trees is what its primary sent (decision D20).",
        judged="at each commit; a step that changes the mode belongs to the mode before it",
        spared="keys outside both trees: a cluster's own mode, position, credentials, lease",
        broken_by="a faulty service that stores something of its own: labkit run dr/secondary-writes",
    ),
    RuleText(
        name=ONLY_LEADER,
        says="What a cluster's store takes comes from the node that claimed it last.",
        judged="at commits, where the store itself refuses nobody (a cluster without fencing)",
        spared="clusters with fencing: their store refuses such a write",
        broken_by="a leader that stalls and goes on: labkit run dr/no-fencing",
    ),
    RuleText(
        name=WHOLE_COMMITS,
        says="What a secondary holds is what its primary held right after one of its commits: no half of a step, "
        "nothing of a later one.",
        judged="at each entry that a secondary reaches, for the keys that its commit changed; where a comparison ends, "
        "for all contents",
        spared="values and indexes that were damaged on purpose; a primary whose store took writes of a node that was "
        "overtaken; it does not apply where nothing was replicated",
        broken_by="no fault of a lab; tests plant an entry of which one key is left out, and a fetch of newer values",
    ),
    RuleText(
        name=LIVE_CERTIFICATES,
        says="A primary answers replication only to nodes of clusters whose activation it issued in this reign and did "
        "not revoke; a secondary takes it only from the primary that it was activated for.",
        judged="at each question that a primary answers, each bootstrap, and whenever a secondary hears another host; "
        "what is accepted counts, not what is sent",
        spared="it does not apply where nothing was replicated",
        broken_by="no fault of a lab; tests plant checks that let in a revoked id, a stranger or a host in the middle",
    ),
    RuleText(
        name=OPERATION_TOKEN,
        says="A secondary carries out promote, disable, update-primary, merkle-check, reindex, recover and the "
        "deletion of its operation token only for its operation token, or a batch token whose policies allow the call.",
        judged="at each such call that was carried out, by the token that the last key share gave",
        spared="a batch token that a change of primary made unreadable; it does not apply without such a call",
        broken_by="no fault of a lab; a test plants a check that lets every token pass",
    ),
    RuleText(
        name=SURVIVING_TOKENS,
        says="The tokens that a secondary holds are valid once it is promoted, until they expire or are revoked.",
        judged="at each promotion, for every record; afterwards at each request that is refused as of an invalid "
        "token, and at each token that is deleted",
        spared="tokens that count their uses, that are written again, or that hang from such; records damaged on "
        "purpose; what is deleted by a commit inside which a process ends; what was on its way when a primary was "
        "lost: that is loss, which has rules of its own; it does not apply without a promotion",
        broken_by="no fault of a lab; tests plant a promotion that deletes, or refuses, what it took over",
    ),
    RuleText(
        name=CATCHING_UP,
        says="Once nothing is in the way between a primary and its secondary, the secondary comes level: it streams, "
        "has every entry, and has its primary's root.",
        judged="whenever a lab stands still: a secondary that stands still itself, for longer than the pauses between "
        "attempts, its line and all contents explain; while anything arrives it is not late, whatever the load",
        spared="while any node of the two clusters is down, sealed, paused, overloaded or out of time, any line of the "
        "lab is treated, one of the two is damaged or reindexed, or the secondary's certificate, address or version "
        "will not do; lines of less than 64 kbit/s, over 5 s, or with more than 5 % loss; it does not apply where "
        "nothing was owed and paid",
        broken_by="no fault of a lab: an open one suspends it; a test plants a secondary that gives up",
    ),
    RuleText(
        name=CLEAR_TEXT,
        says="No root token, key share, or value that clients write or have encrypted stands in clear text in a "
        "journal, in what nodes observe and operators note, or in what replication answers.",
        judged="at each observation, note and answer; primaries' journals at rest, the newest entries since the last "
        "look",
        spared="answers to who asks for a secret by its path; secrets that only an operator's request held",
        broken_by="no fault of a lab; tests plant a status, an observation and a commit that show one",
    ),
    RuleText(
        name=VERSION_ORDER,
        says="The versions of a secret that clients and operators are answered have one order, which is that of time: "
        "what begins after an answer has no earlier version, a write a later one, and no version is given twice; a "
        "write under check-and-set has the version after the one that it names.",
        judged="at each answer that names a version, of each path and each history of a cluster",
        spared="operations without an answer; what is under way while a secret's metadata is deleted, a mount is made, "
        "moved or ended, or a namespace ended, and what was answered before; reading an old version, or while the "
        "cluster is promoted; what a promotion lost begins another history",
        broken_by="no fault of a lab; tests plant a version that is given twice, and a reading of an old one",
    ),
    RuleText(
        name=CARRIED_ONCE,
        says="No attempt of a request is carried out twice in one history.",
        judged="at each commit that ends a request of a client or an operator, against the newest attempts",
        spared="further attempts of one operation; what is stored before an answer from outside is awaited; it does "
        "not apply where nothing was written",
        broken_by="no fault of a lab; a test plants a standby that forwards a request twice",
    ),
    RuleText(
        name=WHOLE_COMMIT,
        says="Of a commit in which a node's process ended, the store keeps every key or none.",
        judged="when a process ends inside a commit: by each key that it was to change",
        spared="it does not apply where no process ended inside a commit",
        broken_by="no fault of a lab; a test plants a store that keeps half of it",
    ),
    RuleText(
        name=NO_NONCE_TWICE,
        says="No node draws again what was drawn before: no two have one stream, and no stream goes back (R7).",
        judged="whenever a node starts, stops, or begins or ceases to serve, and whenever the lab stands still",
        spared="labs restored from one snapshot, which are one lab",
        broken_by="no fault of a lab; tests plant a restart that begins the stream of before again",
    ),
    RuleText(
        name=CRASH_FORGETS,
        says="What a node took before it crashed is answered by no later incarnation of it.",
        judged="at each answer of a node that still held a request when it had crashed",
        spared="it does not apply where no node crashed",
        broken_by="no fault of a lab; a test plants a node that keeps its requests over a crash",
    ),
    RuleText(
        name=TOKEN_OVER,
        says="A token that is over opens nothing: not after its time, nor once its uses are spent.",
        judged="at each request that was carried out, by what the answer said that issued the token, or renewed it",
        spared="calls that are open to all, and what a standby answers itself: no token is asked for; uses, and an "
        "earlier end, that a promotion lost; uses that a secondary answers; it does not apply where no token with an "
        "end was used",
        broken_by="no fault of a lab; tests plant an expiry that is not looked at, and uses that are not counted",
    ),
    RuleText(
        name=REINDEX_WRITES,
        says="A reindex loses no write: while it commits, writes wait, and then its index has what the store has.",
        judged="at each write, and whenever an index of a reindex is in use and stored",
        spared="what was damaged on purpose after the reindex had looked at it; a request that waited for an answer "
        "from outside; it does not apply where nothing was reindexed",
        broken_by="no fault of a lab; tests plant writes that do not wait, and a key that is left out",
    ),
    RuleText(
        name=STANDBY_FORWARDS,
        says="A standby forwards what is for the active node; it sends clients elsewhere only while that is not "
        "connected, or when it is asked not to forward (decision C16).",
        judged="at each answer of a node that does not lead",
        spared="what a node answers for itself; it does not apply where no standby answered",
        broken_by="no fault of a lab; a test plants a standby that redirects",
    ),
)
"""All of them, in the order in which a verdict lists them."""

STANDING = tuple([rule.name for rule in RULES])
