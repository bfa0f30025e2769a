"""Files whose lab is shared are no tests."""

from __future__ import annotations

collect_ignore_glob = ["shared/*"]
