"""Logs of failures that nobody expected."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path


def log_crash(error: BaseException) -> Path | None:
    """Write the log of a failure, without what looks secret; None where that fails, too."""
    import platform
    import time

    from barry_cli import __version__
    from barry_cli.base.files import write_atomic
    from barry_cli.base.paths import folders
    from barry_cli.base.problems import BarryError
    from barry_cli.base.secrets import looks_secret, redact

    secrets = [value for name, value in os.environ.items() if looks_secret(name)]
    # What was typed as a value may be anything; it is not needed to understand the failure.
    secrets += [value for word in sys.argv[1:] if (value := word.partition("=")[2])]
    text = "\n".join(
        (
            f"barry {__version__}",
            f"python {platform.python_version()} at {sys.executable}",
            f"platform {platform.platform()}",
            f"verb {' '.join(sys.argv[1:3])}",
            "",
            "".join(traceback.format_exception(error)),
        )
    )
    try:
        name = f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}"
        path = folders().crashes / f"{name}.log"
        number = 2
        while path.exists():  # several in one second
            path = folders().crashes / f"{name}-{number}.log"
            number += 1
        write_atomic(path, redact(text, secrets).encode(errors="replace"))
    except (BarryError, OSError, RuntimeError):  # no such folder, no room, no home
        return None
    return path
