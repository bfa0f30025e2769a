"""Plan: the blueprint that a lab is built from, how it is judged, and measured latencies for its links."""
