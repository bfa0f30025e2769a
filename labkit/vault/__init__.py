"""The secrets service: storage, clock and entropy are handed in."""
