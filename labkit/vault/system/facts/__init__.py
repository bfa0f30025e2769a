"""Facts: what a node says of itself and of its API: metrics, the versions it ran, the help of a path."""
