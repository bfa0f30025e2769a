"""The routes of version 2 of the engine, put together from its endpoint files."""

from __future__ import annotations

from labkit.service.routing import Groups
from labkit.vault.engines.kv.segments import ENDPOINTS
from labkit.vault.engines.kv.unknown_paths import ROUTES

TABLE = Groups(ENDPOINTS.modules, ROUTES)
