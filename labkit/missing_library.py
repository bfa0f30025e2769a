"""Missing library: what is said where labkit stands beside no more than what answers requests needs.

A vault, its cloud and their doors need cryptography and pyjwt, a port uvicorn and h11, fixtures pytest.  Labs,
scenarios, views and the pages made of them need the rest.
"""

from __future__ import annotations

OF_LABS = ("simpy", "networkx", "pydantic", "yaml", "tqdm")
OF_VIEWS = ("pandas", "numpy", "ipywidgets", "IPython", "anywidget", "traitlets")
OF_LAB_FILES = ("cbor2",)
HOW = "install all of labkit: pip install . in a clone of it, without --no-deps"


def missing_library(what: str, error: ModuleNotFoundError) -> ModuleNotFoundError | None:
    """Return the error to raise for an import of the rest that failed; None for any other."""
    name = (error.name or "").partition(".")[0]
    if name in OF_LAB_FILES:
        return ModuleNotFoundError(f"{what} needs {name}, which is not installed: pip install '.[save]'", name=name)
    if name not in OF_LABS + OF_VIEWS:
        return None
    return ModuleNotFoundError(f"{what} needs {name}, which is not installed; {HOW}", name=name)
