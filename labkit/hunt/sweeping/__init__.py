"""Sweeping: one file with many seeds and values, in many processes; what became of each seed is a row of a file."""
