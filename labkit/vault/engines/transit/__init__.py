"""The transit engine: named keys that stay inside the service, and what it does with them."""
