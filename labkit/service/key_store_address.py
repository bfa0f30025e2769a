"""Where the store of external keys is asked: one address, known to vaults and labs before anything of it is loaded."""

from __future__ import annotations

KEY_STORE_HOST = "keystore.cloud.test"
"""A host of the simulated cloud: in a lab the cloud's."""

KEY_STORE_ADDRESS = f"https://{KEY_STORE_HOST}"
