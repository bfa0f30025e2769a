"""Player: a finished run as a page that plays it, made from what was recorded."""
