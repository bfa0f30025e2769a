"""The AppRole auth method: programs log in with a role id and a secret id (decision C23)."""
