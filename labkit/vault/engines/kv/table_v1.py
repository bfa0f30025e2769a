"""The routes of version 1 of the engine."""

from __future__ import annotations

from labkit.service.routing import Table
from labkit.vault.engines.kv.passthrough import ROUTES

TABLE = Table(ROUTES)
