"""The identity store: it is mounted and listed, as clients expect, and has no endpoint."""
