"""Proof by search: every state that a state machine and its surroundings can reach, within bounds that are printed."""
