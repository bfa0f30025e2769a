"""The routes of the identity store: none."""

from __future__ import annotations

from labkit.service.routing import Table

TABLE = Table(())
