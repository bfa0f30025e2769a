"""Auth methods: how a caller comes by a token, and what may be done with tokens."""

from __future__ import annotations
