"""The token auth method: create, look up, renew and revoke tokens; and the roles that tokens are created under."""
