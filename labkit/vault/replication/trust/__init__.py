"""Trust: how a secondary is activated, recognised and given the root key, and who may promote it."""
