"""Pages: what a browser is shown of a served lab: its state, its run, which acts make sense, what clients got."""
