"""Where the shipped notebooks and scenarios are: inside an installed package, beside the package in a checkout.

What a scenario file is called stands here too.
"""

from __future__ import annotations

from pathlib import Path

SCENARIO_SUFFIXES = (".lab.yaml", ".lab.yml")

_PACKAGE = Path(__file__).resolve().parent


def notebooks() -> Path:
    """The folder of the lesson notebooks; FileNotFoundError when this copy has none."""
    return shipped("notebooks", _PACKAGE)


def scenarios() -> Path:
    """The folder of the scenario files; FileNotFoundError when this copy has none."""
    return shipped("scenarios", _PACKAGE)


def shipped_scenario(name: str) -> Path | None:
    """The file of a shipped scenario by the name that a list of them shows, such as first/failover."""
    return shipped_scenarios().get(name)


def shipped_scenarios() -> dict[str, Path]:
    """The files of the shipped scenarios by the names that a list of them shows; none in a copy without them."""
    try:
        folder = scenarios()
    except FileNotFoundError:
        return {}
    return {path.relative_to(folder).as_posix().removesuffix(SCENARIO_SUFFIXES[0]): path for path in _files(folder)}


def is_scenario(name: str) -> bool:
    """Whether a file of this name is a scenario."""
    return name.endswith(SCENARIO_SUFFIXES)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob(f"*{SCENARIO_SUFFIXES[0]}"))


def shipped(name: str, package: Path) -> Path:
    """The folder `name` that belongs to the copy of labkit whose package folder is `package`."""
    installed = package / f"_{name}"
    if installed.is_dir():
        return installed
    checkout = package.parent / name
    # The project file distinguishes a checkout from an unrelated folder of that name beside an installed package.
    if checkout.is_dir() and (package.parent / "pyproject.toml").is_file():
        return checkout
    raise FileNotFoundError(f"no folder of {name} at {installed} or {checkout}; install a wheel or run from a checkout")
