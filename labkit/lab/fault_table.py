"""Fault table: a row for each fault of a lab, which verbs, help, dashboard, history, causes and pictures read.

1. A fault is a method of ``LabFaults`` and a row here, in the order in which verbs are listed.  Its sentence in every
   help is the method's docstring, up to the first empty line; its defaults are the method's.
2. A fault names what undoes it.  What undoes faults is a row of its own, and is undone by the first of them.
3. What is done to the cloud is recorded as its host observes it: the words for that are in the table of cloud faults.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labkit.cloud.failures import ENDPOINTS
from labkit.vault.replication.tree import tree_nodes
from labkit.vault.storage.interruption import MOMENTS

MAX_FACTOR = 1_000_000
MIN_FLAP_NS = 1_000_000  # 1 ms
LAYERS = (*tree_nodes.LAYERS, "storage")

NODE, LINE, WAY, SITE, AROUND, CLUSTER, CLOUD = "node", "line", "way", "site", "around", "cluster", "cloud"
"""What a fault's target is: nodes (of a cluster all), the line between two sites, one direction of it, all lines of a
site, the lines between two, around one or everywhere, a cluster, or the cloud."""

CUT, SLOW, LOSE, DUPLICATE = "cut", "slow", "lose", "duplicate"
"""What a line is under."""

CLUSTER_NAME, TEXT, FLAG, WHOLE = "cluster name", "text", "flag", "whole number"
DURATION, OFFSET, DRIFT, SHARE = "duration", "offset", "drift", "share"
"""The kinds of values that fields have."""


LOST, SLOWED, SENT_AGAIN, DOUBLED = "lost", "slowed", "sent again", "doubled"
CHANGED, WAITED, TAKEN, FIRED, ASKED, DECIDED = "changed", "waited", "taken", "fired", "asked", "decided"
"""What a fault, or what undoes one, has done when it had an effect: messages were lost by it, slowed, sent again or
lost for good, doubled; something was changed; messages or timers waited; an impostor took messages; it happened, as it
was set to; the cloud was asked; a wall clock was read, which decides something only now and then."""


class FaultField(NamedTuple):
    """What a fault takes beside its target: the method's parameter, what to write there in files, the words before it.

    ``in_files`` is its name in files where that is another.  A text may be one of ``names``, which are ``what``; a
    number has limits (0: none), a duration in nanoseconds.
    """

    name: str
    kind: str
    expected: str
    words: str = ""
    in_files: str = ""
    names: tuple[str, ...] = ()
    what: str = ""
    least: int = 0
    most: int = 0

    @property
    def key(self) -> str:
        """Its name in files."""
        return self.in_files or self.name.replace("_", " ")


class FaultChoice(NamedTuple):
    """A fault as the dashboard's lists offer it: its words there, and what the method takes beside its target."""

    words: str
    given: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()


class Fault(NamedTuple):
    """One fault, or what undoes faults; ``name`` is that of the history, with hyphens that of scenario files.

    ``cause`` is its sentence in a chain of causes; ``observed`` what the cloud's host records in its place; ``effect``
    what it has done when it had one.
    ``ended_by`` are faults that end it too, without undoing it.  Of the fields in ``one_of`` exactly one is given.
    ``line_is`` and ``node_is`` say what lines and nodes are from then on; ``reconnects`` that connections may come back
    by it.  ``button`` has the words and the hint of a button of the dashboard.
    """

    name: str
    target: str
    effect: str
    cause: str = ""
    observed: str = ""
    undone_by: str = ""
    python: str = ""
    fields: tuple[FaultField, ...] = ()
    one_of: tuple[str, ...] = ()
    ended_by: tuple[str, ...] = ()
    line_is: str = ""
    node_is: str = ""
    reconnects: bool = False
    button: tuple[str, str] | None = None
    choices: tuple[FaultChoice, ...] = ()

    @property
    def method(self) -> str:
        """The name of its method, of ``LabFaults`` and of a lab."""
        return self.python or self.name.replace(" ", "_")

    @property
    def verb(self) -> str:
        """Its name in scenario files."""
        return self.name.replace(" ", "-")

    @property
    def undoes(self) -> tuple[Fault, ...]:
        """The faults that it undoes, in order; none where it is a fault itself."""
        return tuple([fault for fault in FAULTS if fault.undone_by == self.name])

    @property
    def opposite(self) -> Fault | None:
        """What undoes it, or the first of the faults that it undoes; None for a fault that stays."""
        return NAMED[self.undone_by] if self.undone_by else next(iter(self.undoes), None)


_ENDPOINT = FaultField(
    "endpoint",
    TEXT,
    f"{', '.join(ENDPOINTS)}; all unless given",
    "at",
    names=ENDPOINTS,
    what="an endpoint of the cloud",
)

FAULTS = (
    Fault(
        name="crash",
        target=NODE,
        effect=CHANGED,
        undone_by="restart",
        cause="{target} goes down",
        node_is="down",
        button=("Crash", "take the chosen node, or all nodes of the cluster, down"),
    ),
    Fault(
        name="crash in commit",
        target=NODE,
        effect=FIRED,
        undone_by="restart",
        cause="{target} is set to go down inside its next commit, {detail}",
        fields=(
            FaultField(
                "moment",
                TEXT,
                "before its keys, between two of them, or after them: before, between, after",
                names=MOMENTS,
                what="a moment of a commit",
            ),
        ),
        choices=(FaultChoice("crash inside its next commit"),),
    ),
    Fault(
        name="restart",
        target=NODE,
        effect=CHANGED,
        cause="{target} is started again",
        node_is="sealed",
        reconnects=True,
        button=("Restart", "start the chosen node, or all nodes of the cluster; they come up sealed"),
    ),
    Fault(
        name="crash site",
        target=SITE,
        effect=CHANGED,
        undone_by="restart site",
        cause="{target} goes down with all that stands there",
    ),
    Fault(
        name="restart site",
        target=SITE,
        effect=CHANGED,
        cause="{target} is started again with all that stands there",
        reconnects=True,
    ),
    Fault(
        name="pause",
        target=NODE,
        effect=WAITED,
        undone_by="resume",
        ended_by=("crash",),
        cause="the process of {target} stands still",
        node_is="paused",
        button=("Pause", "stop the process of the chosen node, or of all nodes of the cluster, where it stands"),
    ),
    Fault(
        name="resume",
        target=NODE,
        effect=CHANGED,
        cause="the process of {target} goes on",
        node_is="resumed",
        reconnects=True,
        button=("Resume", "let the chosen node, or all nodes of the cluster, go on with what waits"),
    ),
    Fault(
        name="skew",
        target=NODE,
        effect=DECIDED,
        undone_by="correct",
        cause="the wall clock of {target} becomes wrong ({detail})",
        fields=(
            FaultField("by", OFFSET, "a duration that it is ahead such as 90s, or behind such as -90s", "by"),
            FaultField("drift", DRIFT, "a share such as 0.02%, or -0.02% for a clock that is slow", "drifting"),
        ),
        choices=(FaultChoice("clock 90 s ahead", ("90s",)), FaultChoice("clock 2 % too fast", (), (("drift", 2),))),
    ),
    Fault(name="correct", target=NODE, effect=CHANGED, cause="the wall clock of {target} is right again"),
    Fault(
        name="impersonate",
        target=NODE,
        effect=TAKEN,
        undone_by="expose",
        cause="an impostor takes the place of {target}",
        choices=(FaultChoice("impostor in its place"),),
    ),
    Fault(name="expose", target=NODE, effect=CHANGED, cause="the impostor of {target} is gone", reconnects=True),
    Fault(
        name="partition",
        target=LINE,
        effect=LOST,
        undone_by="heal",
        cause="the line {target} is cut both ways",
        line_is=CUT,
        button=("Partition", "cut the line between the two sites, both ways"),
    ),
    Fault(
        name="cut",
        target=WAY,
        effect=LOST,
        undone_by="heal",
        cause="the way {target} is cut",
        line_is=CUT,
        button=("Cut one way", "cut the line from the first site to the other"),
    ),
    Fault(
        name="isolate",
        target=SITE,
        effect=LOST,
        undone_by="heal",
        cause="{target} is cut off from every other site",
        line_is=CUT,
    ),
    Fault(
        name="heal",
        target=AROUND,
        effect=CHANGED,
        cause="cuts end ({target})",
        reconnects=True,
        button=("Heal", "restore the line between the two sites"),
    ),
    Fault(
        name="slow",
        target=LINE,
        effect=SLOWED,
        undone_by="restore",
        cause="the line {target} becomes slower ({detail})",
        line_is=SLOW,
        fields=(
            FaultField("latency", DURATION, "a duration such as 300ms", "to"),
            FaultField("factor", WHOLE, f"a whole number from 2 to {MAX_FACTOR}", "by", least=2, most=MAX_FACTOR),
            FaultField("one_way", FLAG, "true for messages from the first to the second only", "one way"),
        ),
        one_of=("latency", "factor"),
        choices=(
            FaultChoice("1 s one way", (), (("latency", "1s"), ("one_way", True))),
            FaultChoice("1 s both ways", (), (("latency", "1s"),)),
            FaultChoice("ten times as slow", (), (("factor", 10),)),
        ),
    ),
    Fault(
        name="lose",
        target=LINE,
        effect=SENT_AGAIN,
        undone_by="restore",
        cause="the line {target} loses messages ({detail})",
        line_is=LOSE,
        fields=(FaultField("percent", SHARE, "a share such as 5%", "by", in_files="loss"),),
        choices=(FaultChoice("loses 5 % of messages", (5,)),),
    ),
    Fault(
        name="duplicate",
        target=LINE,
        effect=DOUBLED,
        undone_by="restore",
        cause="the line {target} delivers datagrams twice ({detail})",
        line_is=DUPLICATE,
        fields=(FaultField("percent", SHARE, "a share such as 5%", "by", in_files="share"),),
        choices=(FaultChoice("doubles 20 % of datagrams", (20,)),),
    ),
    Fault(
        name="restore",
        target=AROUND,
        effect=CHANGED,
        python="restore_links",
        cause="lines are as they were ({target})",
        reconnects=True,
    ),
    Fault(
        name="flap",
        target=LINE,
        effect=LOST,
        undone_by="steady",
        cause="the line {target} begins to flap ({detail})",
        fields=(
            FaultField("down", DURATION, "a duration such as 2s for which it is down", "down", least=MIN_FLAP_NS),
            FaultField(
                "up", DURATION, "a duration such as 5s for which it is up before and between", "up", least=MIN_FLAP_NS
            ),
        ),
        choices=(FaultChoice("down 2 s, up 3 s, and so on", ("2s", "3s")),),
    ),
    Fault(name="steady", target=AROUND, effect=CHANGED, cause="the line {target} flaps no more"),
    Fault(
        name="corrupt",
        target=CLUSTER,
        effect=CHANGED,
        cause="{target} is damaged on purpose ({detail})",
        fields=(
            FaultField("cluster", CLUSTER_NAME, "the cluster that is damaged"),
            FaultField("layer", TEXT, ", ".join(LAYERS), "in its", names=LAYERS, what="a layer"),
            FaultField("key", TEXT, "the storage key; the first, or the last of a secret, unless given", "at"),
        ),
        button=("Corrupt", "alter one node of the chosen cluster's Merkle index, or with storage a stored value"),
    ),
    Fault(
        name="stray write",
        target=CLUSTER,
        effect=CHANGED,
        cause="{target} stores something that nobody asked for ({detail})",
        fields=(FaultField("cluster", CLUSTER_NAME, "the cluster that writes of its own accord"),),
    ),
    Fault(
        name="cloud outage",
        target=CLOUD,
        effect=ASKED,
        undone_by="cloud recover",
        observed="cloud outage",
        fields=(_ENDPOINT,),
    ),
    Fault(name="cloud recover", target=CLOUD, effect=ASKED, observed="cloud recovered", fields=(_ENDPOINT,)),
    Fault(
        name="cloud slow",
        target=CLOUD,
        effect=ASKED,
        undone_by="cloud restore",
        observed="cloud slow",
        fields=(FaultField("delay", DURATION, "a duration such as 2s", "by"), _ENDPOINT),
    ),
    Fault(name="cloud restore", target=CLOUD, effect=ASKED, observed="cloud restored", fields=(_ENDPOINT,)),
    Fault(name="roll keys", target=CLOUD, effect=ASKED, observed="keys rolled"),
)

NAMED = {fault.name: fault for fault in FAULTS}
