"""The system's own endpoints, ``sys/…``: one file per group, loaded when the first segment of a path requests it."""
