"""The steps of a timeline: in which order they may stand, when each begins, and what becomes of its result."""
