"""Testing: ``labkit.front.testing``, as programs import it."""

from __future__ import annotations

from labkit.front.testing import Dropped, ServedVault, Silence, environment, fill, patched, serve_tls

__all__ = ["Dropped", "ServedVault", "Silence", "environment", "fill", "patched", "serve_tls"]
