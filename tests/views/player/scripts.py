"""The player's script, run by Node where there is one, and random labs whose players are recomputed."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from labkit import Lab
from labkit.lab.operations.runbook_effects import RunbookError
from labkit.service.silence import Silence
from labkit.views.player.script import modules
from labkit.views.player.shortening import shortened
from tests import environment
from tests.lab.test_losses_recounted import MORE_VERBS, act, plain

NODE = shutil.which("node")


def asked(folder: Path, data: Any, expression: str) -> Any:
    """Return what an expression of the script gives, whole and shortened; ``data`` is what it is given.

    None where there is no Node.
    """
    if NODE is None:
        return None
    path = folder / "asked.js"
    scripts = (modules(), shortened(modules(), {"data", *re.findall(r"[A-Za-z_]\w*", expression)}))
    asks = "".join(f"said.push((() => {{{script}\nreturn {expression};}})());\n" for script in scripts)
    path.write_text(
        f"const data = {json.dumps(data)};\nconst said = [];\n{asks}console.log(JSON.stringify(said));\n",
        encoding="utf-8",
    )
    done = subprocess.run([NODE, str(path)], env=environment.users(), capture_output=True, check=True, text=True)
    whole, short = json.loads(done.stdout)
    assert short == whole, "the short script says the same"
    return whole


def random_labs(seeds: Iterable[int]) -> Iterator[tuple[int, Any]]:
    """Yield a random lab for each seed, with faults and promotions, at its end."""
    for seed in seeds:
        rng = random.Random(seed)
        lab: Any = Lab(plain(rng), seed=seed)
        lab.keep_pictures()
        with suppress(RunbookError):
            lab.replicate("paris", "tokyo")
        for _ in range(12):
            with suppress(RunbookError, Silence, ValueError):
                act(lab, rng, MORE_VERBS)
            lab.run(f"{rng.randrange(1, 700)}ms")
        yield seed, lab.run("3s")
