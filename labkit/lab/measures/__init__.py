"""Measures: what can be counted of a lab from its trace, its ledger and what is recorded of replication."""
