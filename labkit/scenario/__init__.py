"""Scenarios: files that describe a lab, what happens in it and what is expected at the end; they drive a lab."""
