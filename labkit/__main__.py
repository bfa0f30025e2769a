"""What ``python -m labkit`` runs: the command line."""

from __future__ import annotations

import sys

from labkit.cli import main

if __name__ == "__main__":
    sys.exit(main())
