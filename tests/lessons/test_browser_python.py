"""The Python of a browser: what is packed, what its lock file names, and which file is refused."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from labkit.lessons import browser_python
from labkit.lessons.browser_python import (
    COMPILED,
    LIBRARIES,
    LOCK,
    CannotBuild,
    lay_out,
    pack_labkit,
    pack_yaml,
    pinned,
    versions,
)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def wheel(folder: Path, name: str, version: str, *files: str) -> Path:
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file in files or (f"{name}/__init__.py",):
            archive.writestr(file, "")
    return path


@pytest.fixture
def pyodide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small Pyodide, whose hashes are the pinned ones, beside a pip that downloads two wheels."""
    folder = tmp_path / "pyodide"
    folder.mkdir()
    packages: dict[str, Any] = {"numpy": {"version": "2", "file_name": "numpy.whl", "sha256": ""}}
    for name, version in COMPILED.items():
        made = wheel(folder, name.replace("-", "_"), version)
        packages[name] = {"version": version, "file_name": made.name, "sha256": sha256(made.read_bytes())}
    (folder / "pyodide.mjs").write_text("// starts it")
    (folder / LOCK).write_text(json.dumps({"info": {"python": "3.14.0"}, "packages": packages}))
    core = {name: sha256((folder / name).read_bytes()) for name in ("pyodide.mjs", LOCK)}
    monkeypatch.setattr(browser_python, "CORE", core)

    def download(target: Path) -> None:
        wheel(target, "networkx", "3.6.1")
        wheel(target, "ipython", "9.12.0", "IPython/__init__.py", "ipython-9.12.0.dist-info/METADATA")

    monkeypatch.setattr(browser_python, "_download_pure", download)
    return folder


def test_the_lock_file_names_labkit_and_what_it_needs(pyodide: Path, tmp_path: Path) -> None:
    kernel = wheel(tmp_path, "pyodide_kernel", "0.8.6")
    target = tmp_path / "target"
    named = lay_out(target, [pyodide], [kernel])
    lock = json.loads((target / LOCK).read_text())

    compiled = ["cffi", "cryptography", "pydantic-core"]
    assert list(named) == sorted([*compiled, "ipython", "labkit-secrets", "networkx", "pyodide-kernel", "pyyaml"])
    assert lock["info"] == {"python": "3.14.0"}
    assert sorted(lock["packages"]) == list(named)
    assert lock["packages"]["labkit-secrets"]["depends"] == list(LIBRARIES)
    assert lock["packages"]["networkx"]["depends"] == []
    assert lock["packages"]["ipython"] | {"sha256": ""} == {
        "name": "ipython",
        "version": "9.12.0",
        "file_name": "ipython-9.12.0-py3-none-any.whl",
        "sha256": "",
        "imports": ["IPython"],
        "depends": ["pyodide-kernel"],
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }
    for entry in lock["packages"].values():
        assert entry["sha256"] == sha256((target / entry["file_name"]).read_bytes())


def test_a_file_with_other_bytes_is_refused(pyodide: Path, tmp_path: Path) -> None:
    (pyodide / "pyodide.mjs").write_text("// something else")
    with pytest.raises(
        CannotBuild, match=r"pyodide\.mjs: expected SHA-256 \w{64}, got \w{64}; take it from Pyodide 314"
    ):
        lay_out(tmp_path / "target", [pyodide], [])


def test_a_compiled_wheel_with_other_bytes_is_refused(pyodide: Path, tmp_path: Path) -> None:
    made = next(pyodide.glob("cryptography-*.whl"))
    made.write_bytes(made.read_bytes() + b"more")
    with pytest.raises(CannotBuild, match=r"cryptography-47\.0\.0-\S+: expected SHA-256 "):
        lay_out(tmp_path / "target", [pyodide], [])


def test_a_pyodide_of_another_version_is_refused(
    pyodide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_python, "COMPILED", COMPILED | {"cryptography": "48.0.0"})
    said = "cryptography: expected version 48.0.0 in Pyodide's lock file, got 47.0.0"
    with pytest.raises(CannotBuild, match=said):
        lay_out(tmp_path / "target", [pyodide], [])


@pytest.mark.slow
def test_the_first_given_folder_that_has_a_file_gives_it(pyodide: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shutil.move(next(pyodide.glob("cffi-*.whl")), other)

    assert "cffi" in lay_out(tmp_path / "target", [other, pyodide], [])


@pytest.mark.slow
def test_what_no_folder_has_is_fetched(pyodide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = tmp_path / "served"
    served.mkdir()
    shutil.move(pyodide / "pyodide.mjs", served)
    monkeypatch.setattr(browser_python, "SERVED_AT", f"{served.as_uri()}/")
    lay_out(tmp_path / "target", [pyodide], [])
    assert (tmp_path / "target" / "pyodide.mjs").read_text() == "// starts it"

    (served / "pyodide.mjs").unlink()
    with pytest.raises(
        CannotBuild, match=r"pyodide\.mjs: cannot be read: .*; name a folder that has pyodide\.mjs with"
    ):
        lay_out(tmp_path / "again", [pyodide], [])


def test_a_download_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(command: list[str], **settings: Any) -> subprocess.CompletedProcess[str]:
        assert {"--require-hashes", "--no-deps", "--only-binary=:all:"} <= set(command)
        return subprocess.CompletedProcess(command, 1, "", "warning\nERROR: no matching distribution\n")

    monkeypatch.setattr(subprocess, "run", refused)
    said = r"pip cannot download what browser_packages\.txt names: ERROR: no matching distribution; .* with a network"
    with pytest.raises(CannotBuild, match=said):
        browser_python._download_pure(tmp_path)


@pytest.mark.slow
def test_labkit_is_packed_whole_and_twice_the_same(tmp_path: Path, checkout: Path) -> None:
    first = pack_labkit(tmp_path)
    content = first.read_bytes()
    assert pack_labkit(tmp_path).read_bytes() == content

    with zipfile.ZipFile(first) as archive:
        held = set(archive.namelist())
    modules = {path.relative_to(checkout).as_posix() for path in (checkout / "labkit").rglob("*.py")}
    assert modules <= held
    assert {"labkit/primes.txt", "labkit/_scenarios/first/failover.lab.yaml"} <= held
    assert not any("__pycache__" in name or name.endswith(".ipynb") for name in held)


@pytest.mark.slow
def test_a_packed_labkit_runs(tmp_path: Path) -> None:
    program = "import labkit.places as places; from labkit import Vault; Vault.dev(); print(places.scenarios())"
    packed = pack_labkit(tmp_path)
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path / "site")
    # Coverage would look for these modules when it reports, which is after they are removed.
    own = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path / "site", env=own, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == str(tmp_path / "site" / "labkit" / "_scenarios")


def test_the_python_part_of_yaml_is_packed(tmp_path: Path) -> None:
    with zipfile.ZipFile(pack_yaml(tmp_path)) as archive:
        held = [name for name in archive.namelist() if not name.startswith("pyyaml-")]

    assert {"yaml/__init__.py", "yaml/loader.py", "yaml/cyaml.py"} <= set(held)
    assert all(name.startswith("yaml/") and name.endswith(".py") for name in held)


def test_every_pinned_row_is_read() -> None:
    rows = [row for row in browser_python.PACKAGES.read_text().splitlines() if not row.startswith("#")]

    assert len(pinned()) == len(rows)
    assert set(versions()) == set(pinned()) | set(COMPILED)
    assert set(LIBRARIES) - {"pyyaml"} <= set(versions())
