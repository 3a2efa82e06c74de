"""Where bounds may stand. Quick to import: every launch asks here first."""

from __future__ import annotations

import os
from collections.abc import Iterator

PROJECT_FOLDER = ".barry"
PROJECT_FILE = "bound.toml"


def project_files(cwd: str) -> Iterator[str]:
    """Where bounds of a project may stand: in the folder and all above it, the nearest first.

    A folder that was reached through a link lies below two rows of folders, and both count.
    """
    seen = set()
    for start in (os.path.abspath(cwd), os.path.realpath(cwd)):
        folder = start
        while folder not in seen:
            seen.add(folder)
            yield os.path.join(folder, PROJECT_FOLDER, PROJECT_FILE)
            folder = os.path.dirname(folder)


def is_there(path: str) -> bool:
    """Whether something has this name, a dangling link too: what can't be looked at is there."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True
