"""The tree of verbs, and the run of one."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType
from typing import TextIO, cast

import typer

from barry_cli.base.problems import BarryError
from barry_cli.cli.arguments import Tail, split, wants_json
from barry_cli.cli.render.output import ReaderGone, Stdout


def _version(wanted: bool) -> None:
    if wanted:
        from barry_cli import __version__
        from barry_cli.cli.render.output import write

        write(f"barry {__version__}\n")
        raise typer.Exit(0)


def _top(
    version: bool = typer.Option(
        False, "--version", "-V", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Run any coding agent under a policy that holds."""


def _adapter(app: typer.Typer) -> None:
    from barry_cli.cli import adapter

    app.add_typer(adapter.app, name="adapter")


def _session(app: typer.Typer) -> None:
    from barry_cli.cli import session

    app.add_typer(session.app, name="session")


def _bound(app: typer.Typer) -> None:
    from barry_cli.cli import bound

    app.add_typer(bound.app, name="bound")


def _doctor(app: typer.Typer) -> None:
    from barry_cli.cli import doctor

    app.command("doctor")(doctor.doctor)


def _pages(app: typer.Typer) -> None:
    from barry_cli.cli.pages import verbs

    app.command("completion")(verbs.completion)
    app.command("man")(verbs.man)


_VERBS = {"adapter": _adapter, "session": _session, "bound": _bound, "doctor": _doctor}


def _app() -> typer.Typer:
    app = typer.Typer(
        name="barry",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_top)
    return app


def whole() -> typer.Typer:
    """The whole tree of verbs."""
    app = _app()
    for grow in (*_VERBS.values(), _pages):
        grow(app)
    return app


def _tree_for(arguments: list[str]) -> typer.Typer:
    """The part of the tree that a command line needs: a verb pays for its own group alone."""
    grow = _VERBS.get(arguments[0]) if arguments else None
    if grow is None:
        return whole()
    app = _app()
    grow(app)
    return app


def _interrupted(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def run(arguments: list[str]) -> int:
    """Run one command line and give its exit code. No traceback leaves here."""
    gc.disable()  # a command's life is short; what stays longer turns it on again
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # An event loop puts a gentler one in the default's place, which a question that waits
        # for an answer, or an adapter's own code, would not be ended by.
        signal.signal(signal.SIGINT, _interrupted)
    own, tail = split(arguments)
    as_json = wants_json(own)
    stdout = sys.stdout
    sys.stdout = cast(TextIO, Stdout(stdout))
    try:
        app = _tree_for(own)
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
