"""The image that serves: its Containerfile is judged line by line, and its steps are run without an image."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import pytest
import yaml

from labkit import Vault
from labkit.cli import parser

INSTRUCTIONS = ("FROM", "WORKDIR", "COPY", "RUN", "USER", "EXPOSE", "ENTRYPOINT")
HOME = "/opt/labkit"


class Line(NamedTuple):
    """One instruction of a Containerfile."""

    instruction: str
    text: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.text)


@pytest.fixture(scope="module")
def lines(checkout: Path) -> list[Line]:
    """The instructions, in their order."""
    text = (checkout / ".github" / "Containerfile").read_text(encoding="utf-8")
    return [Line(*line.split(" ", 1)) for line in text.splitlines() if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def services(checkout: Path) -> dict[str, Any]:
    """The services of the example of compose."""
    found = yaml.safe_load((checkout / ".github" / "compose.yaml").read_text(encoding="utf-8"))["services"]
    assert isinstance(found, dict)
    return found


def test_only_plain_instructions_are_used_and_the_shape_is_that_of_two_stages(lines: list[Line]) -> None:
    assert {line.instruction for line in lines} == set(INSTRUCTIONS)
    first, last = [line.words for line in lines if line.instruction == "FROM"]

    assert first == [*last, "AS", "build"]  # whose Python the environment's is
    assert re.fullmatch(r"python:3\.\d+-slim", last[0])
    assert [line.instruction for line in lines[-3:]] == ["USER", "EXPOSE", "ENTRYPOINT"]
    assert [line.text for line in lines if line.text.startswith("--from")] == [f"--from=build {HOME} {HOME}"]


def test_what_is_copied_exists_and_is_all_that_a_build_needs(lines: list[Line], checkout: Path) -> None:
    copied = [
        word for line in lines if line.instruction == "COPY" and "--from" not in line.text for word in line.words[:-1]
    ]
    build = tomllib.loads((checkout / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]

    assert [name for name in copied if not (checkout / name).exists()] == []
    assert {"pyproject.toml", *build["only-include"]} <= set(copied)


def test_what_is_installed_is_named_by_the_project_and_nothing_is_kept_of_it(lines: list[Line], checkout: Path) -> None:
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    known = {
        re.split(r"[<>=\[]", need)[0].lower()
        for need in (*project["dependencies"], *project["optional-dependencies"]["serve"])
    }
    pip = [line.words for line in lines if line.instruction == "RUN" and line.words[0] == "pip"]
    installed = [[word for word in words[4:] if not word.startswith("--")] for words in pip]

    assert all("--no-cache-dir" in words and words[1:3] == ["--python", f"{HOME}/bin/python"] for words in pip)
    assert installed[-1] == ["."]
    assert "--no-deps" in pip[-1]
    assert {*installed[0]} <= known
    assert {"uvicorn", "h11"} < {*installed[0]}


def test_nobody_is_root_and_the_programs_options_exist(lines: list[Line], services: dict[str, Any]) -> None:
    (user,) = [line.text for line in lines if line.instruction == "USER"]
    (entry,) = [json.loads(line.text) for line in lines if line.instruction == "ENTRYPOINT"]
    command = [*entry[1:], *services["labkit"]["command"]]

    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    assert entry[0] == f"{HOME}/bin/labkit"
    given = parser().parse_args(command)
    assert (given.allow_remote, given.seed, given.host_name) == (True, 7, ["labkit"])


def test_the_example_has_the_token_of_its_seed_and_builds_this_image(services: dict[str, Any], checkout: Path) -> None:
    server, program = services["labkit"], services["program"]

    build = checkout / ".github" / server["build"]["context"]
    assert (build / server["build"]["dockerfile"]).samefile(checkout / ".github" / "Containerfile")
    assert program["environment"] == {"VAULT_ADDR": "http://labkit:8200", "VAULT_TOKEN": Vault.dev(seed=7).root_token}
    assert program["depends_on"] == {"labkit": {"condition": "service_healthy"}}
    compile(program["command"][2], "program", "exec")
    compile(server["healthcheck"]["test"][3], "health", "exec")


@pytest.mark.slow
def test_its_steps_make_what_serves(
    lines: list[Line], services: dict[str, Any], checkout: Path, tmp_path: Path
) -> None:
    source, home = tmp_path / "src", tmp_path / "opt"
    source.mkdir()
    for line in lines[: next(number for number, line in enumerate(lines) if number and line.instruction == "FROM")]:
        if line.instruction == "COPY":
            for name in line.words[:-1]:
                copy(checkout / name, source)
        elif line.instruction == "RUN" and (line.words[0] != "pip" or "--no-deps" in line.words):  # asks no index
            step(line.text.replace(HOME, str(home)), source)
            libraries(home)
    (entry,) = [json.loads(line.text) for line in lines if line.instruction == "ENTRYPOINT"]
    url, token, stop = serve([part.replace(HOME, str(home)) for part in entry], services["labkit"]["command"], tmp_path)
    try:
        health = services["labkit"]["healthcheck"]["test"]
        assert health[:2] == ["CMD", f"{HOME}/bin/python"]
        exec(health[3].replace("http://127.0.0.1:8200", url), {})
        with urlopen(f"{url}/v1/sys/health", timeout=10) as answer:
            assert answer.status == 200
    finally:
        stop()
    assert token == services["program"]["environment"]["VAULT_TOKEN"]


def copy(path: Path, folder: Path) -> None:
    if path.is_dir():
        shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    else:
        shutil.copy(path, folder)


def step(command: str, folder: Path) -> None:
    """Run a step as the image's shell does; packages are those of this environment, and no index is asked."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    offline = {
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_NO_COMPILE": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    finished = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder), **offline},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


def libraries(home: Path) -> None:
    """Let a new environment find this one's libraries."""
    (found,) = home.glob("lib/python3*/site-packages")
    (found / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")


def serve(entry: list[str], command: list[str], folder: Path) -> tuple[str, str, Any]:
    """Start what the image starts, on a free port; return its address, its token, and what stops it."""
    process = subprocess.Popen(
        [*entry, *command, "--port", "0", "--json"], cwd=folder, env={}, stdout=subprocess.PIPE, text=True
    )

    def stop() -> None:
        process.terminate()
        process.communicate(timeout=20)

    assert process.stdout is not None
    said = json.loads(process.stdout.readline())
    return re.sub(r"//[^:]+", "//127.0.0.1", said["url"]), said["root_token"], stop
