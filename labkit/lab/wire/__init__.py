"""Wire: what hosts of a lab send one another, and what every message and report looks like."""
