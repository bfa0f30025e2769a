"""External: keys that stay in a key store outside, and what that store does with them."""
