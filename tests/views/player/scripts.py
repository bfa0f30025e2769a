"""The player's script, run by Node where there is one: its functions are asked what they say of given data."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from labkit.views.player.script import modules
from tests import environment

NODE = shutil.which("node")


def asked(folder: Path, data: Any, expression: str) -> Any:
    """Return what an expression of the script gives; ``data`` is what it is given.  None where there is no Node."""
    if NODE is None:
        return None
    path = folder / "asked.js"
    said = json.dumps(data)
    path.write_text(
        f"{modules()}\nconst data = {said};\nconsole.log(JSON.stringify({expression}));\n", encoding="utf-8"
    )
    done = subprocess.run([NODE, str(path)], env=environment.users(), capture_output=True, check=True, text=True)
    return json.loads(done.stdout)
