"""The one place where failures become messages and exit codes."""

from __future__ import annotations

import sys

import typer

from barry_cli.base.crashes import log_crash
from barry_cli.base.problems import BarryError
from barry_cli.cli.render.output import json_text
from barry_cli.cli.render.talk import one_line, say, style

LONGEST = 1000
"""How many letters of a message or a hint are shown."""


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


def usage(problem: typer.TyperException, *, as_json: bool) -> int:
    """Tell what is wrong with a command line; of a group without a verb, its help."""
    message = problem.format_message()
    if message.startswith("Usage:"):
        say(message)
        return problem.exit_code
    return tell(
        "usage",
        message,
        "`barry --help` and `barry VERB --help` show how",
        problem.exit_code,
        as_json=as_json,
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
    """``error:`` and ``hint:`` on stderr, or one JSON object there. Both are cut to what can be
    read; the details are whole.
    """
    message, hint = _cut(message), _cut(hint)
    if as_json:
        error = {"code": code, "message": message, "hint": hint, "details": details or {}}
        say(json_text({"error": error}, default=str))
    else:
        say(f"{style('error:', 'red', sys.stderr)} {one_line(message)}")
        if hint:
            say(f"{style('hint:', 'bold', sys.stderr)} {one_line(hint)}")
    return exit_code


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def crash(error: BaseException, *, as_json: bool) -> int:
    """A failure that nobody expected: its log goes to a file, its path to the user. Exit 125."""
    path = log_crash(error)
    where = f"the log is {path}" if path is not None else "its log could not be written"
    return tell(
        "internal",
        f"Barry failed ({type(error).__name__}); {where}",
        "this is a fault of Barry: please report it with that log",
        125,
        as_json=as_json,
        details={"log": str(path) if path is not None else None},
    )
