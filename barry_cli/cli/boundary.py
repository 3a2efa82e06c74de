"""The one place where failures become messages and exit codes."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

from barry_cli.base.problems import BarryError
from barry_cli.cli.render.columns import printable
from barry_cli.cli.render.talk import say, style


def show(problem: BarryError, *, as_json: bool) -> int:
    """Tell an expected failure; gives its exit code."""
    return tell(
        problem.code,
        str(problem),
        problem.hint,
        problem.exit_code,
        as_json=as_json,
        details=dict(problem.details),
    )


def tell(
    code: str,
    message: str,
    hint: str,
    exit_code: int,
    *,
    as_json: bool,
    details: dict[str, object] | None = None,
) -> int:
    """``error:`` and ``hint:`` on stderr, or one JSON object there."""
    if as_json:
        error = {"code": code, "message": message, "hint": hint, "details": details or {}}
        say(json.dumps({"error": error}, ensure_ascii=False, default=str))
    else:
        say(f"{style('error:', 'red', sys.stderr)} {_one_line(message)}")
        if hint:
            say(f"{style('hint:', 'bold', sys.stderr)} {_one_line(hint)}")
    return exit_code


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def crash(error: BaseException, *, as_json: bool) -> int:
    """A failure that nobody expected: its log goes to a file, its path to the user. Exit 125."""
    path = _log(error)
    where = f"the log is {path}" if path is not None else "its log could not be written"
    return tell(
        "internal",
        f"Barry failed ({type(error).__name__}); {where}",
        "this is a fault of Barry: please report it with that log",
        125,
        as_json=as_json,
        details={"log": str(path) if path is not None else None},
    )


def _log(error: BaseException) -> Path | None:
    import platform
    import time

    from barry_cli import __version__
    from barry_cli.base.files import write_atomic
    from barry_cli.base.paths import folders
    from barry_cli.base.secrets import looks_secret, redact

    secrets = [value for name, value in os.environ.items() if looks_secret(name)]
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
    path = folders().crashes / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.log"
    try:
        write_atomic(path, redact(text, secrets).encode(errors="replace"))
    except BarryError:
        return None
    return path
