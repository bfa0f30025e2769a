"""Where the store of external keys is asked: one address, known to vaults and labs before anything of it is loaded."""

from __future__ import annotations

KEY_STORE_ADDRESS = "https://keystore.test"
"""Of the one store beside a vault, or of a lab."""
