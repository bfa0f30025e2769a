"""Observation causes: a rule for each kind of thing that nodes and the cloud's host observe.

1. What has a reason that the row does not hold has a rule of its own: here, or where the subject's other rules stand.
2. ``BY_ITS_ITEM`` names the other kinds: a node observed them while it worked on a request, a fault or a timer, which
   is their cause.  A kind that no rule has yet is explained so too; a test of the house finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.lab.causes import cloud_causes, replication_causes
from labkit.lab.causes.explanation import Cause
from labkit.lab.causes.recorded_run import RecordedRun
from labkit.lab.causes.replication_causes import by_its_item
from labkit.lab.cloud_fault_table import OBSERVED as DONE_TO_CLOUD
from labkit.lab.wire.addresses import CLOUD_HOST

BY_ITS_ITEM = (
    *("addresses not stored", "answer_refused", "audit device failed", "key rotated", "keyring_rotated", "mount moved"),
    *("mounted", "namespace created", "namespace deleted", "namespace locked", "namespace unlocked", "not announced"),
    *("operation token issued", "plugin reloaded", "reindex_started", "rekeyed", "replication_stopped"),
    *("root key not stored", "root token issued", "root_key_received", "scheduled work failed", "secondary_revoked"),
    *("stream not applied", "token revoked", "unmounted", "unsealed", "user locked out"),
)
"""Kinds whose cause is what the node was working on."""


def observed(run: RecordedRun, number: int) -> Cause:
    """What a node or the cloud's host observed."""
    _, _, host, what, _ = run.rows[number]
    if host == CLOUD_HOST and what in DONE_TO_CLOUD:
        return cloud_causes.done_to_cloud(run, number)
    return OBSERVED.get(what, by_its_item)(run, number)


def _damaged_value(run: RecordedRun, number: int) -> Cause:
    """A node came upon stored values that do not open: each was altered on purpose, or came so from another cluster."""
    cause, fields = by_its_item(run, number), dict(run.rows[number][4])
    names = fields["names"] if "names" in fields else [fields["key"]]
    altered = [
        row
        for row in run.facts_before(number)
        if run.rows[row][0] == "observed"
        and run.rows[row][3] == "corrupted"
        and dict(run.rows[row][4]).get("key") in names
    ]
    nodes = run.nodes_of(run.cluster_of(run.rows[number][2]))
    own = [row for row in altered if run.rows[row][2] in nodes]
    found = own or altered
    return Cause(cause.step, ("observed", found[0])) if found else cause


OBSERVED: dict[str, Callable[[RecordedRun, int], Cause]] = {
    **dict.fromkeys(BY_ITS_ITEM, by_its_item),
    **dict.fromkeys(("reindex_damage", "stored value damaged"), _damaged_value),
    **replication_causes.OBSERVED,
    **cloud_causes.OBSERVED,
}
"""{kind of observation: its rule}."""

RULES: dict[str, Callable[[RecordedRun, Any], Cause]] = {"observed": observed}
