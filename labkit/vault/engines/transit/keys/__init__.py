"""Keys: how named keys are made, configured, imported, exported and certified."""
