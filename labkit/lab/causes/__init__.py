"""Causes: what led to an event of a lab, back to its root: a chain of steps, each by the rule for its kind."""
