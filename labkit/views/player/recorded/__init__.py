"""Recorded: everything that a player says of a run, from its trace, ledger and records: nothing here draws."""
