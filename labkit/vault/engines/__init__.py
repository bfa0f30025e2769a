"""Secrets engines: each is a table of routes over its own part of the store, and knows nothing of the others."""
