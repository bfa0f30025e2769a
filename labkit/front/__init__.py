"""Front: what users hold: ``Lab``, ``Vault``, ``Cloud``, the key store, and the pytest plugin."""
