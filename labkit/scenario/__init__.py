"""Scenarios: files that say what a lab is, what befalls it, and what is expected of it; they drive a lab."""
