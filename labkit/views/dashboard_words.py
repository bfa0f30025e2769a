"""Dashboard words: what each control of a dashboard is called, and what it does."""

from __future__ import annotations

from labkit.views.dashboard_faults import BUTTONS

WORDS = {
    "step": ("Step", "let the next thing happen"),
    "run 1s": ("Run 1 s", "let a second pass"),
    "run 10s": ("Run 10 s", "let ten seconds pass"),
    "back": ("Back 10 s", "take the lab back by ten seconds, and go on from there"),
    "now": ("Now", "show the lab as it is"),
    "go on": ("Go on from here", "take the lab back to the instant that is shown, and go on from there"),
    "write": ("Write", "write a secret, at the chosen node or at whichever serves the cluster"),
    **BUTTONS,
    "seal": ("Seal", "seal the active node of the chosen cluster"),
    "unseal": ("Unseal", "give the chosen node, or all sealed nodes of the cluster, their key shares"),
    "step down": ("Step down", "let the active node of the chosen cluster give the lead to another one"),
    "promote": ("Promote", "make the chosen secondary the primary"),
    "demote": ("Demote", "make the chosen primary a secondary"),
    "make node fault": ("Make node fault", "do what is chosen beside it to the target"),
    "undo node fault": ("Undo node fault", "undo what is chosen beside it, at the target"),
    "replicate": ("Replicate", "make the other cluster a secondary of the chosen one"),
    "repoint": ("Re-point", "let the chosen secondary follow the other cluster"),
    "failover": ("Fail over", "move the primary from the chosen cluster to the other, as planned: nothing is lost"),
    "heal all": ("Heal all", "restore every line"),
    "make line fault": ("Make line fault", "do what is chosen beside it to the line between the two sites"),
    "undo line fault": ("Undo line fault", "undo what is chosen beside it, between the two sites"),
    "reindex": ("Reindex", "make the chosen cluster's Merkle index again from what its store holds"),
}
"""The buttons by name: words, and what they do."""

ANY_TIME = ("now", "go on")
"""What only makes sense while an earlier instant is shown."""
OF_TIME = ("back", *ANY_TIME)
