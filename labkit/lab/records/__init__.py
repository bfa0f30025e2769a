"""Records: what is kept of a run: acknowledged writes, histories, outages, lag, readings, tokens."""
