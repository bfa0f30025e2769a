"""The engine's routes, put together from its endpoint files."""

from __future__ import annotations

from labkit.service.routing import Table
from labkit.vault.engines.transit import decrypt, encrypt, key_config, keys, rewrap, settings

TABLE = Table((*encrypt.ROUTES, *decrypt.ROUTES, *rewrap.ROUTES, *keys.ROUTES, *key_config.ROUTES, *settings.ROUTES))
