"""Beside no more than cryptography, pyjwt and a server's libraries labkit answers, serves and has fixtures.

The environment is made of links to what these packages and their own requirements installed; nothing else is found.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from labkit.missing_library import OF_LABS, OF_VIEWS, missing_library

ANSWERS = ("cryptography", "pyjwt")
SERVES = (*ANSWERS, "uvicorn", "h11", "pytest")
MAX_BYTES = 60_000_000
OF_LAB_DOORS = frozenset(("acts_now", "lab_app", "lab_control", "lab_driver", "lab_page", "run_page", "served_lab"))
OF_CLIENTS = frozenset(("requests", "httpx", "hvac"))

Python = Callable[..., str]


def required(names: tuple[str, ...]) -> dict[str, metadata.Distribution]:
    """Return distributions and what they require, as far as it is installed."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name.lower() in found:
            continue
        try:
            dist = found[name.lower()] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # of another Python or system
        plain = [one for one in dist.requires or () if "extra ==" not in one]
        waiting += [re.split(r"[^A-Za-z0-9._-]", one, maxsplit=1)[0] for one in plain]
    return found


def link(names: tuple[str, ...], folder: Path) -> Path:
    """Make a folder in which only these distributions and what they require are found."""
    folder.mkdir()
    for dist in required(names).values():
        for file in dist.files or ():
            place, top = Path(str(dist.locate_file(file.parts[0]))), folder / file.parts[0]
            if file.parts[0] not in ("..", "__pycache__") and not top.exists():
                top.symlink_to(place.resolve())
    return folder


@pytest.fixture
def python(tmp_path: Path, checkout: Path) -> Python:
    """Run code where only some distributions are found; return what it printed."""

    def run(code: str, names: tuple[str, ...] = SERVES) -> str:
        folder = tmp_path / "packages"
        if not folder.exists():
            link(names, folder)
        begin = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(checkout)!r}]\n"
        ended = subprocess.run(
            [sys.executable, "-I", "-S", "-c", begin + code], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    return run


VAULT = """
from labkit import Cloud, Vault

vault = Vault.dev(seed=7)
assert vault.post("secret/data/app", {"data": {"user": "ada"}}).ok
for kind in ("aes256-gcm96", "ed25519", "ecdsa-p256", "rsa-2048"):
    assert vault.post(f"transit/keys/{kind}", {"type": kind}).ok
assert vault.post("transit/encrypt/aes256-gcm96", {"plaintext": "AAAA"}).ok
assert vault.post("transit/sign/rsa-2048", {"input": "AAAA"}).ok
machine = vault.cloud.vm("web-1")
vault.post("auth/cloud/role/web", {"bound_locations": [machine.location]})
assert machine.login(vault, role="web").ok
assert vault.post("sys/replication/dr/primary/enable").ok
Vault.open("lab.db").close()
"""


@pytest.mark.slow
def test_a_vault_answers(python: Python) -> None:
    assert python(VAULT, ANSWERS) == ""


@pytest.mark.slow
def test_a_vault_is_served(python: Python) -> None:
    code = """
import labkit, os, ssl, urllib.request

with labkit.testing.patched(tls=True):
    context = ssl.create_default_context(cafile=os.environ["VAULT_CACERT"])
    with urllib.request.urlopen(os.environ["VAULT_ADDR"] + "/v1/sys/health", context=context) as answer:
        print(answer.status)
"""
    assert python(code) == "200\n"


@pytest.mark.slow
def test_fixtures_work_and_what_needs_more_says_so(python: Python, tmp_path: Path) -> None:
    (tmp_path / "test_all.py").write_text(
        """
def test_vault(labkit_vault):
    assert labkit_vault.get("sys/health").ok

def test_server(labkit_server, labkit_tls_server, labkit_session_server):
    assert labkit_server

def test_lab(labkit_lab):
    pass
"""
    )
    for name, seeds in (("one", ""), ("many", "seeds: 3\n")):
        (tmp_path / f"{name}.lab.yaml").write_text(seeds, encoding="utf-8")
    shown = python(
        "import pytest\nsys.dont_write_bytecode = True\n"
        "print(int(pytest.main(['-p', 'labkit.front.pytest_plugin', '-p', 'no:cacheprovider', '-q', '.'])))"
    )

    assert "2 passed, 1 error" in shown
    assert "2 failed" in shown
    assert "a lab needs simpy, which is not installed; install all of labkit: pip install . in a clone of it" in shown
    assert shown.count("a scenario file needs pydantic, which is not installed") >= 2


IN_CLI = "import sys\nfrom labkit.cli import main\nsys.stderr = sys.stdout\nprint(main({}))"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("try:\n    from labkit import Lab\nexcept ModuleNotFoundError as error:\n    print(error)", "Lab needs simpy"),
        (IN_CLI.format(["run", "x.lab.yaml"]), "labkit run needs pydantic"),
        (IN_CLI.format(["demo"]), "labkit demo needs simpy"),
    ],
    ids=["Lab", "run", "demo"],
)
def test_what_needs_more_says_what_to_install(python: Python, code: str, text: str) -> None:
    shown = " ".join(python(code).split())

    assert f"{text}, which is not installed; install all of labkit: pip install . in a clone of it" in shown
    assert "Traceback" not in shown


NEED_LABS = {"lab", "scenario", "verbs", "situations", "invariants", "teaching"}


def test_pages_of_what_is_there_are_shown(python: Python) -> None:
    shown = python(
        "from labkit.cli import main\nfrom labkit.reference import TOPICS\nsys.stderr = sys.stdout\n"
        "for topic in TOPICS:\n    print('PAGE', topic, main(['help', topic]))"
    )
    codes = dict(re.findall(r"(?m)^PAGE (\w+) (\d)$", shown))

    assert {topic for topic, code in codes.items() if code != "0"} == NEED_LABS
    assert "vault" in codes
    assert "**Vault.fail_next**(" in shown


def test_no_module_of_service_vault_cloud_or_their_doors_needs_more(python: Python, checkout: Path) -> None:
    rooms = [checkout / "labkit" / name for name in ("service", "vault", "cloud", "doors")]
    names = [
        ".".join(path.relative_to(checkout).with_suffix("").parts).removesuffix(".__init__")
        for room in rooms
        for path in sorted(room.rglob("*.py"))
        if not (room.name == "doors" and path.stem in OF_LAB_DOORS | OF_CLIENTS)
    ]
    assert len(names) > 150

    assert python(f"from importlib import import_module\nfor name in {names!r}:\n    import_module(name)") == ""


def test_it_takes_little_room(checkout: Path) -> None:
    installed = [Path(str(dist.locate_file(file))) for dist in required(SERVES).values() for file in dist.files or ()]
    own = [path for path in (checkout / "labkit").rglob("*") if "__pycache__" not in path.parts]
    sizes = [path.stat().st_size for path in (*installed, *own) if path.is_file()]

    assert 20_000_000 < sum(sizes) <= MAX_BYTES


def test_the_rest_is_what_labkit_requires_beside_these(checkout: Path) -> None:
    import tomllib

    written = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = {re.split(r"[^A-Za-z0-9_-]", one, maxsplit=1)[0].lower() for one in written}
    imported = {"pyyaml": "yaml", "ipython": "IPython"}

    assert {imported.get(name, name) for name in names - {*ANSWERS, "pytest"}} <= {*OF_LABS, *OF_VIEWS}


def test_another_missing_module_is_not_explained() -> None:
    assert missing_library("Lab", ModuleNotFoundError("no", name="labkit.lost")) is None
    assert missing_library("Lab", ModuleNotFoundError("no")) is None
    found = missing_library("Lab", ModuleNotFoundError("no", name="simpy.core"))
    assert found is not None
    assert found.name == "simpy"


def test_what_an_extra_brings_is_named_with_it() -> None:
    found = missing_library("a lab file", ModuleNotFoundError("no", name="cbor2"))

    assert str(found) == "a lab file needs cbor2, which is not installed: pip install '.[save]'"
