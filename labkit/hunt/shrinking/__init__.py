"""Shrinking: what broke in a long drawn run becomes the smallest file in which the same breaks."""
