"""Disaster-recovery replication: one cluster's storage, carried to others that can take its place."""

from __future__ import annotations

MODE_KEY = "node/mode"
"""Where the record of the cluster's mode is stored.

It is this cluster's own, and in no tree.  Every request asks whether it is there, so the key is known without loading
what the record means.
"""
