"""What a file says of the whole of a run: conditions over time, and what any of its runs is to show."""
