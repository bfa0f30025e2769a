"""Many: what one file is played with, cut into parts, and what became of many runs of it."""
