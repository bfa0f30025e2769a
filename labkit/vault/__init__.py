"""The secrets service: storage, clock and entropy are passed in."""
