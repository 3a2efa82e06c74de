"""The adapter packages that travel with Barry: plain folders, loaded like anybody else's."""

from __future__ import annotations

from os import listdir
from os.path import abspath, dirname, isfile, join

_HERE = dirname(dirname(abspath(__file__)))


def shipped_root() -> str | None:
    """The folder of the shipped packages, or None where there is none.

    In a wheel they are files inside Barry's own package, in a source tree they stand beside it.
    """
    for at in (join(_HERE, "_shipped"), join(dirname(_HERE), "adapters")):
        # Not just any folder named "adapters".
        if isfile(join(at, "demo", "pyproject.toml")):
            return at
    return None


def shipped_ids() -> list[str]:
    """The ids of the shipped packages, in alphabetical order."""
    root = shipped_root()
    if root is None:
        return []
    try:
        names = sorted(listdir(root))
    except OSError:
        return []
    return [name for name in names if isfile(join(root, name, "pyproject.toml"))]


def shipped_path(id: str) -> str | None:
    """The folder of one shipped package, or None when there is none of that id."""
    root = shipped_root()
    if root is None or id not in shipped_ids():
        return None
    return join(root, id)
