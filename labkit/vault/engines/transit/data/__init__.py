"""Data: the endpoints that work on callers' data: encrypt, sign, hash and their opposites."""
