"""Disaster-recovery replication: one cluster's storage, copied to clusters that can replace it."""

from __future__ import annotations

MODE_KEY = "node/mode"
"""Where the record of the cluster's mode is stored.

It belongs to this cluster and is in neither Merkle tree.  Every request checks whether it is stored, so the key is
here, without the module that decodes the record.
"""

OUTSIDE = ("node/",)
"""How the keys begin that are only this cluster's: what is in neither tree, and never shipped."""
