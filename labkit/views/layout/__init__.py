"""Layout: where everything in a picture stands; pure functions of its contents."""
