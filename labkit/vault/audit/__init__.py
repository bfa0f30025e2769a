"""Audit: a record of each request and one of its response, written before the answer leaves (``recording``).

``devices`` says what a device is and where it writes, ``records`` what a record holds, ``callers`` what of who asks,
``hiding`` what is hidden in it, ``filters`` which records a device has, ``formats`` how one becomes a line.  Without a
device nothing of it is loaded (R24): the walk of a request looks only whether there are any.
"""

from __future__ import annotations

# Status endpoints, which are polled often.
UNRECORDED = ("sys/health", "sys/seal-status", "sys/leader", "sys/replication/dr/status", "sys/replication/status")
