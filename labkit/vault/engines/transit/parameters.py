"""The parameters that several of the engine's endpoints share, each declared once."""

from __future__ import annotations

from labkit.service.fields import anything, flag, integer, name, segment, text

NAME = name(help="name of the key")
URL_ALGORITHM = segment("urlalgorithm", "the hash algorithm")

MANAGED_NAME = text("managed_key_name", "name of the managed key, for keys of type managed_key", "")
MANAGED_ID = text("managed_key_id", "id of the managed key, where it is not named", "")

PLAINTEXT = text("plaintext", "data to encrypt, in base64; may be empty")
MISSING_PLAINTEXT = "missing plaintext to encrypt"
INPUT = text("input", "data to work on, in base64")
CIPHERTEXT = text("ciphertext", "ciphertext as the service gave it: vault:v<version>:<base64>")
CONTEXT = text("context", "context for key derivation, in base64; required when the key is derived")
NONCE = text("nonce", "12 bytes in base64; only for convergent keys made by version 0.6.1 of the service")
ASSOCIATED_DATA = text("associated_data", "authenticated additional data, in base64; the same for encrypt and decrypt")
KEY_VERSION = integer("key_version", "version of the key to use; 0 is the latest", 0)
REFERENCE = text("reference", "copied into the matching item of batch_results; only valid with batch_input")

# Taken as sent: what is not a list is refused, where other list parameters take a single value for a list of one.
BATCH_INPUT = anything("batch_input", "items that are worked on together; the answer keeps their order")._replace(
    kind="list of objects"
)
PARTIAL_FAILURE = integer(
    "partial_failure_response_code", "status of the answer when some items fail and others succeed", 400
)

CONVERGENT = flag(
    "convergent_encryption", "whether the same plaintext and context give the same ciphertext; needs derived", False
)
