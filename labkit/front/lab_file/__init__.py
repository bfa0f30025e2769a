"""Lab files: a lab at an instant as a file that may be handed to others; `labkit help files` has the format."""
