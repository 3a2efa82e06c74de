"""The tree of verbs, and the run of one."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TextIO, cast

import typer

from barry_cli.base.problems import BarryError
from barry_cli.cli.arguments import Tail, split, wants_json
from barry_cli.cli.render.output import ReaderGone, Stdout

app = typer.Typer(
    name="barry",
    help="Run any coding agent under a policy that holds.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from barry_cli import __version__
        from barry_cli.cli.render.output import write

        write(f"barry {__version__}\n")
        raise typer.Exit(0)


@app.callback()
def _top(
    version: bool = typer.Option(
        False, "--version", "-V", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Run any coding agent under a policy that holds."""


def _grow() -> None:
    from barry_cli.cli import adapter, doctor, session
    from barry_cli.cli.pages import verbs

    app.add_typer(adapter.app, name="adapter")
    app.add_typer(session.app, name="session")
    app.command("doctor")(doctor.doctor)
    app.command("completion")(verbs.completion)
    app.command("man")(verbs.man)


_grow()


def run(arguments: list[str]) -> int:
    """Run one command line and give its exit code. No traceback leaves here."""
    gc.disable()  # a command's life is short; what stays longer turns it on again
    own, tail = split(arguments)
    as_json = wants_json(own)
    stdout = sys.stdout
    sys.stdout = cast(TextIO, Stdout(stdout))
    try:
        code = app(args=own, prog_name="barry", standalone_mode=False, obj=Tail(tail))
        return code if isinstance(code, int) else 0
    except ReaderGone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 128 + signal.SIGPIPE
    except (KeyboardInterrupt, typer.Abort):
        return 128 + signal.SIGINT
    except BaseException as error:
        from barry_cli.cli import boundary

        if isinstance(error, BarryError):
            return boundary.show(error, as_json=as_json)
        if isinstance(error, typer.TyperException):
            return boundary.usage(error, as_json=as_json)
        return boundary.crash(error, as_json=as_json)
    finally:
        sys.stdout = stdout
