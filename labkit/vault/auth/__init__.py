"""Auth methods: how a caller gets a token, and what can be done with tokens."""

from __future__ import annotations
