"""The key-value engine: secrets with versions (KV v2), and the plain store of old (KV v1)."""
