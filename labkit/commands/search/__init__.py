"""Search: the commands that look for what may go wrong: in machines and schedules, among seeds, along a run."""
