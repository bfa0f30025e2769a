"""axe: what a page's accessibility is judged by in a browser, where the library is there (``LABKIT_AXE``).

``npm pack axe-core`` brings it; the variable names its ``axe.min.js``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser import Browser

AXE = os.environ.get("LABKIT_AXE", "")
with_axe = pytest.mark.skipif(not AXE, reason="no axe-core here; LABKIT_AXE names its axe.min.js")

RUN = """axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations.flatMap(
  (one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")}: ${node.failureSummary}`)))"""


def violations(browser: Browser) -> list[str]:
    """What axe finds wrong with the page that is open, a line for each element."""
    browser.evaluate(f"{Path(AXE).read_text(encoding='utf-8')}; 0")
    found: list[str] = browser.evaluate(RUN)
    return found
