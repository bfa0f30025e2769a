"""The bench: stands services on hosts in the simulated network; the only package that knows both."""
