"""Pairs: the types of keys with a private and a public half, and the forms in which such keys are written."""
