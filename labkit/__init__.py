"""labkit: learn, rehearse and test the operation of a secrets service, all in one process.

``Vault`` is one node of the service, ``Lab`` runs whole clusters of them on a simulated network, ``Cloud`` is where the
machines are that log in, ``testing`` what tests of clients use.  Each name is imported at its first use.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take the name as true; typing is loaded later, while nothing is collected (R24)
if TYPE_CHECKING:
    from typing import Any

    from labkit import testing
    from labkit.front.cloud import Cloud
    from labkit.front.lab import Lab
    from labkit.front.vault import Vault
    from labkit.service.message import Request, Response

__all__ = ["Cloud", "Lab", "Request", "Response", "Vault", "testing"]
__version__ = "0.9.0"

_MODULES = {
    "Cloud": "labkit.front.cloud",
    "Lab": "labkit.front.lab",
    "Request": "labkit.service.message",
    "Response": "labkit.service.message",
    "Vault": "labkit.front.vault",
    "testing": "labkit",
}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use (PEP 562)."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'labkit' has no attribute {name!r}; it offers {', '.join(__all__)}")
    import gc

    collects = gc.isenabled()
    gc.disable()  # what modules make stays: looking through it while they are loaded takes 3 % of a first answer (R24)
    # The same holds for the first look after that: 1 %.  Freezing and thawing makes all that is there old, unseen.
    try:
        # Without importlib's own module (R24); a module of the package is found by its whole name.
        found = __import__(f"{module}.{name}" if name == "testing" else module, fromlist=["*"])
        value = found if name == "testing" else getattr(found, name)
    except ModuleNotFoundError as error:
        from labkit.missing_library import missing_library

        raise missing_library(name, error) or error from None
    finally:
        if collects:
            if not gc.get_freeze_count():  # else somebody froze things who wants them frozen
                gc.freeze()
                gc.unfreeze()
            gc.enable()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return what completion offers: the public names, and those of Python itself."""
    return sorted([*__all__, *[name for name in globals() if name.startswith("__")]])
