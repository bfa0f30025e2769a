"""The key-value engine: secrets with versions (KV v2), and the plain store without versions (KV v1)."""
