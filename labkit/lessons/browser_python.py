"""The Python of a browser: Pyodide's own files, the wheels that labkit needs there, and a lock file that names them.

1. Every file is pinned by version and SHA-256, except labkit itself and PyYAML's Python part, which are packed from
   what is installed here.
2. The lock file names labkit and what it needs, nothing else, so a page asks no other host and no cell installs.
3. Pyodide's files are taken from folders that were given, else from where Pyodide serves them.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from labkit import places

PYODIDE = "314.0.2"
SERVED_AT = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
LOCK = "pyodide-lock.json"
CORE = {
    "pyodide.mjs": "955d2088bbb7fc79a73c4802aca2370c1d95bfdfaffa4121e0faebda2b0ea3f9",
    "pyodide.asm.mjs": "c7eccdfeb7a8419d61f910f0685b45cd5610b7ff5bbe844c3c1050ee6623b641",
    "pyodide.asm.wasm": "f7a8a169e513791e18fa0790fb69d6f2656b779e9012ba57e03e973f0df0b39f",
    "python_stdlib.zip": "101a9c94ca6304c1478c89b7b595136b9a51b4289bdc5b467d86db553efee9b3",
    LOCK: "c963d22858f6bcb8f41586a2142f03905ab370c88ea22a86a2736e95fac2a8f3",
}
# Compiled for a browser; file names and hashes are those of Pyodide's own lock file.
COMPILED = {"cffi": "2.0.0", "cryptography": "47.0.0", "pydantic-core": "2.41.5"}
# What labkit itself imports there; all else belongs to the notebook's kernel.
LIBRARIES = (
    *("cffi", "cryptography", "pyjwt", "simpy", "networkx", "pyyaml"),
    *("pydantic", "pydantic-core", "annotated-types", "typing-inspection", "typing-extensions"),
)
PACKAGES = Path(__file__).with_name("browser_packages.txt")
DISTRIBUTION = "labkit-secrets"

_PINNED = re.compile(r"^([\w-]+)==(\S+) --hash=sha256:([0-9a-f]{64})$")
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the date of every packed file: the same sources give the same wheel


class CannotBuild(Exception):
    """A site that cannot be built; the text says why, and what to do."""


def pinned() -> dict[str, tuple[str, str]]:
    """Return the pure packages: name to version and SHA-256."""
    rows = map(_PINNED.match, PACKAGES.read_text(encoding="utf-8").splitlines())
    return {row[1]: (row[2], row[3]) for row in rows if row is not None}


def versions() -> dict[str, str]:
    """Return the version of each library that labkit finds in a browser."""
    return COMPILED | {name: version for name, (version, _) in pinned().items()}


def lay_out(folder: Path, given: Sequence[Path], kernel_wheels: Iterable[Path]) -> tuple[str, ...]:
    """Fill a folder with a whole Python for a browser; return the packages that its lock file names, in order.

    ``given``: folders where Pyodide's files are looked for first; ``kernel_wheels``: those of the notebook's kernel.
    Raises CannotBuild.
    """
    folder.mkdir(parents=True)
    for name, expected in CORE.items():
        _take(name, expected, given, folder)
    lock = json.loads((folder / LOCK).read_text(encoding="utf-8"))
    for name, version in COMPILED.items():
        entry = lock["packages"][name]
        if entry["version"] != version:
            raise CannotBuild(f"{name}: expected version {version} in Pyodide's lock file, got {entry['version']}")
        _take(entry["file_name"], entry["sha256"], given, folder)
    _download_pure(folder)
    for wheel in kernel_wheels:
        shutil.copy(wheel, folder)
    pack_labkit(folder)
    pack_yaml(folder)
    packages = _entries(sorted(folder.glob("*.whl")))
    (folder / LOCK).write_text(json.dumps(lock | {"packages": packages}, sort_keys=True), encoding="utf-8")
    return tuple(packages)


def pack_labkit(folder: Path) -> Path:
    """Pack this copy of labkit, with its scenarios and without its notebooks, into a wheel; return the wheel."""
    package = Path(places.__file__).parent
    files = {
        f"labkit/{name}": path for name, path in _sources(package) if not name.startswith(("_notebooks/", "_scen"))
    }
    scenarios = places.scenarios()
    files |= {f"labkit/_scenarios/{name}": path for name, path in _sources(scenarios)}
    try:
        version = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        version = "0"  # a checkout that is not installed
    return _pack(folder, DISTRIBUTION, version, files)


def pack_yaml(folder: Path) -> Path:
    """Pack the Python part of the installed PyYAML into a wheel: no index has one that a browser can use."""
    found = metadata.distribution("PyYAML")
    files = {
        str(path): Path(str(path.locate())) for path in found.files or () if re.fullmatch(r"yaml/\w+\.py", str(path))
    }
    if "yaml/__init__.py" not in files:
        raise CannotBuild("PyYAML: expected the files of an installed wheel, got none; install it with pip")
    return _pack(folder, "pyyaml", found.version, files)


def _sources(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix(), path


def _pack(folder: Path, name: str, version: str, files: dict[str, Path]) -> Path:
    stem = f"{name.replace('-', '_')}-{version}"
    about = f"{stem}.dist-info"
    held = {name: path.read_bytes() for name, path in sorted(files.items())}
    held[f"{about}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    held[f"{about}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: labkit\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    held[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in (*held, f"{about}/RECORD")).encode()
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in held.items():
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return wheel


def _take(name: str, expected: str, given: Sequence[Path], folder: Path) -> None:
    """Copy one of Pyodide's files from the first given folder that has it, or fetch it; judge its hash."""
    place = next((str(path) for path in (given_folder / name for given_folder in given) if path.is_file()), "")
    try:
        content = Path(place).read_bytes() if place else _fetch(SERVED_AT + name)
    except OSError as error:
        why = error.reason if isinstance(error, URLError) else error.strerror or error
        where = place or SERVED_AT + name
        raise CannotBuild(f"{where}: cannot be read: {why}; name a folder that has {name} with --pyodide") from None
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise CannotBuild(
            f"{place or SERVED_AT + name}: expected SHA-256 {expected}, got {found}; take it from Pyodide {PYODIDE}"
        )
    (folder / name).write_bytes(content)


def _fetch(address: str) -> bytes:
    with urlopen(address, timeout=60) as answer:
        content: bytes = answer.read()
    return content


def _download_pure(folder: Path) -> None:
    """Have pip download the pinned packages, which judges their hashes."""
    options = ["--no-deps", "--require-hashes", "--only-binary=:all:", "--quiet", "--disable-pip-version-check"]
    kind = ["--python-version=3.14", "--implementation=py", "--abi=none", "--platform=any"]
    command = [sys.executable, "-m", "pip", "download", *options, *kind, "-r", str(PACKAGES), "-d", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise CannotBuild(f"pip cannot download what {PACKAGES.name} names: {last}; a site is built with a network")


def _entries(wheels: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """What a lock file says of each wheel: labkit needs its libraries, IPython the rest, and nothing else anything.

    Dependencies are listed here: Pyodide's own list has networkx bring numpy and matplotlib.
    """
    named = {_normal(wheel.name.split("-")[0]): wheel for wheel in wheels}
    needed = {DISTRIBUTION: list(LIBRARIES), "ipython": sorted(set(named) - {*LIBRARIES, DISTRIBUTION, "ipython"})}
    return {
        name: {
            "name": name,
            "version": wheel.name.split("-")[1],
            "file_name": wheel.name,
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
            "imports": _imports(wheel),
            "depends": needed.get(name, []),
            "install_dir": "site",
            "package_type": "package",
            "unvendored_tests": False,
        }
        for name, wheel in sorted(named.items())
    }


def _imports(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        tops = {Path(name).parts[0] for name in archive.namelist() if name.endswith((".py", ".so"))}
    return sorted(top.split(".")[0] for top in tops if not top.endswith((".dist-info", ".data")))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
