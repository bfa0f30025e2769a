"""Charts: what is counted of a lab, as tables and as charts of bars or over time."""
