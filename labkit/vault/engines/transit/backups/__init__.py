"""Backups: whole keys taken out as text and put back, in the layout of real servers."""
