"""Sealing: root key, key shares and keyring: how a vault is set up, sealed, unsealed and rekeyed."""
