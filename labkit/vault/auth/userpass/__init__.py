"""The userpass auth method: people log in with a name and a password (decision C23)."""
