"""The environment that the tests run in: an empty home, and of the user's variables only what a program needs to start.

1. A token file in the user's home, an address of a server, a proxy or a setting of some client reaches no test, and no
   program that a test starts.
2. A program that is the user's own, and no part of what is tested (a browser, Node, pip), is given what the user has.
"""

from __future__ import annotations

import json
import os
import shutil
import site
import tempfile

USERS = "LABKIT_USERS_ENVIRONMENT"
"""The variable that holds the user's environment; where it is set, the suite's own is in force already."""

KEPT = frozenset(
    {
        *("PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "TERM", "USER", "LOGNAME", "VIRTUAL_ENV", "CI"),
        *("LABKIT_AXE", "LABKIT_BROWSER", "LABKIT_KEEP", USERS),
    }
)
"""What a program needs to start and to write, and the settings of the tests."""

KEPT_FAMILIES = (
    *("LC_", "LD_", "DYLD_", "NIX_LD", "OMP_", "OPENBLAS_", "MKL_"),
    *("PYTHON", "PYTEST_", "COV_", "COVERAGE_", "HYPOTHESIS_"),
)


def isolate() -> str | None:
    """Leave the user's environment, in this process and those that it starts; return the new home, to be removed.

    None where a process that started this one has left it.
    """
    if USERS in os.environ:
        return None
    home = tempfile.mkdtemp(prefix="labkit-home-")
    own = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(KEPT_FAMILIES)}
    # Packages that were installed for one user lie in the home that is left.
    own |= {USERS: json.dumps(dict(os.environ)), "HOME": home, "PYTHONUSERBASE": site.getuserbase()}
    os.environ.clear()
    os.environ.update(own)
    return home


def users() -> dict[str, str]:
    """The environment of who runs the suite, as it was; where nobody left it, that of this process."""
    found: dict[str, str] = json.loads(os.environ[USERS]) if USERS in os.environ else dict(os.environ)
    return found


def remove(home: str | None) -> None:
    """Remove a home that was made here, with all that was written to it."""
    if home is not None:
        shutil.rmtree(home, ignore_errors=True)
