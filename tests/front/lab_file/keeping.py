"""Keeps a lab file of each version: a rich lab under way, saved by the version's own code, and what was found in it.

    python -m tests.front.lab_file.keeping [NAME]

writes ``kept/VERSION.lab`` and its row of ``kept/kept.json``.  It is run once for each version, with its number in
``pyproject.toml`` and before it is released; what is there is never written again, as later versions have to open it.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from labkit import Lab
from labkit.front.lab import lab_of
from labkit.front.lab_file.disk import open_file
from labkit.scenario.loading import loads

KEPT = Path(__file__).parent / "kept"
TABLE = KEPT / "kept.json"

SAVED_AT_NS = 14_172_000_000
RICH = """\
scenario: What a lab file may hold
seed: 28
matrix: {latency: [80ms]}
lab:
  sites: [paris, tokyo, lisbon]
  links:
    - {between: [paris, tokyo], latency: $(matrix.latency), jitter: 2ms}
    - {between: [paris, lisbon], latency: 15ms}
    - {between: [tokyo, lisbon], latency: 90ms}
  clusters:
    paris: {site: paris, nodes: 3}
    tokyo: {site: tokyo}
  balancers:
    front: {site: lisbon, use: [paris, tokyo]}
  cloud: {site: lisbon}
  clients:
    shop:
      site: lisbon
      use: [paris, tokyo]
      through: front
      count: 2
      retries: 2
      work:
        - {do: put-secret, every: 400ms, from: 4s, until: 20s, keys: 3, cas: true}
        - {do: encrypt, every: 1s, from: 4s, until: 20s}
        - {do: create-token, every: 2s, from: 4s, until: 20s}
        - {do: use-token, every: 700ms, from: 5s, until: 20s}
        - {do: login, every: 3s, from: 4s, until: 20s}
timeline:
  - {do: replicate, primary: paris, secondary: tokyo, at: 1s}
  - {do: ask, cluster: paris, method: POST, path: sys/auth/cloud, body: {type: cloud}}
  - do: ask
    cluster: paris
    method: POST
    path: auth/cloud/config
    body: {tenant_id: $(cloud.tenant_id), resource: $(cloud.resource)}
  - {do: ask, cluster: paris, method: POST, path: auth/cloud/role/web, body: {bound_resource_groups: [web]}}
  - {do: skew, target: tokyo, by: 2s, at: 5s, idle: fine}
  - {do: crash, target: paris-1, at: 7s}
  - {do: restart, target: paris-1, at: 8s}
  - {do: unseal, cluster: paris}
  - {do: partition, between: [paris, tokyo], at: 9s}
  - {do: heal, at: 11s}
  - {do: pause, target: paris-3, at: 13s}
  - {do: failover, old: paris, new: tokyo, at: 14s, name: handover}
  - {do: resume, target: paris-3, at: 20s}
end: 25s
expect:
  primary: tokyo
  lost: {at most: 5}
always:
  - {acknowledged: {at least: 0}, name: counted}
eventually:
  - {primary: tokyo, within: 20s, after: {step: handover, began: 0s}}
"""


def version() -> str:
    """The version that stands in ``pyproject.toml``."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def rich() -> Lab:
    """A lab in the middle of much."""
    lab = lab_of(loads(RICH.encode(), "rich.lab.yaml"))
    lab.keep_pictures()
    lab.watch("mine", lambda lab: True)
    lab.watch("few are refused", {"refused": {"at most": 500}})
    lab.run("3s")
    lab["paris"].post("secret/data/app", {"data": {"user": "ada", "n": [1, 2.5, 2**70]}})
    lab.run(f"{SAVED_AT_NS - lab.now}ns")
    return lab


def row_of(path: Path) -> dict[str, Any]:
    """What is found in a file: who wrote it, when in lab time, the digest of its trace, and the Merkle roots."""
    lab, found = open_file(path, Lab.restore)
    return {
        "written_by": found.written_by,
        "left_out": [*found.left_out],
        "at_ns": lab.now,
        "trace": lab.trace.digest(),
        "roots": {name: lab[name].root for name in lab.clusters},
    }


def main(name: str = "") -> int:
    """Write a file and its row; return 1 where it is there already."""
    path = KEPT / f"{name or version()}.lab"
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    if path.exists() and path.name in table:
        print(f"{path.name} is kept already; raise the version in pyproject.toml first", file=sys.stderr)
        return 1
    if not path.exists():
        rich().save(path)
    table[path.name] = row_of(path)
    TABLE.write_text(json.dumps(table, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
