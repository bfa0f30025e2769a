"""The cloud auth method: a machine of the cloud logs in with the signed token that its cloud gave it."""
