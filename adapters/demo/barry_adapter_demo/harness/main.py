"""Start of the program: ``python -I -S .../harness/main.py ARGUMENTS``, from any directory."""

import os
import sys

if not __package__:
    # Started by file path. The folder above is looked at for this one import only, so that
    # nothing beside the harness can take the place of a module.
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.dirname(_here))
    __package__ = os.path.basename(_here)
    __import__(__package__)
    del sys.path[0]


def main(arguments: list[str]) -> int:
    """Run the program. Returns its exit status; says every problem in one sentence."""
    _hold_standard_files()
    from .wire import say

    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return 130  # Before our own handlers were in place.
    except Exception as error:
        from .problems import Refused

        if isinstance(error, Refused):
            say(str(error))
            return error.status
        say(f"a fault of the program itself: {type(error).__name__}: {error}")
        return 1


def _run(arguments: list[str]) -> int:
    from . import VERSION
    from .wire import say, show

    if arguments == ["--version"]:
        show(f"demo-harness {VERSION}\n")
        return 0
    from .options import parse, parser

    options = parse(arguments, os.environ)
    if options.end in ("help", "version", "models"):
        from .model import MODELS

        texts = {"version": f"demo-harness {VERSION}\n", "models": "\n".join(MODELS) + "\n"}
        show(texts.get(options.end) or parser().format_help())
        return 0
    from .cancel import Cancel, install
    from .problems import Refused, reason
    from .processes import Groups

    cancel, groups = Cancel(), Groups()
    install(cancel, ignore_term="ignore-term" in options.bends)
    if options.bends and options.end != "tui":
        say(f"bent for tests: {', '.join(sorted(options.bends))}")
    try:
        cwd = os.getcwd()
    except OSError as error:
        raise Refused(f"cannot tell the working directory: {reason(error)}") from None
    try:
        if options.end == "print":
            from . import headless

            return headless.run(options, cwd, os.environ, cancel, groups)
        if options.end == "driven":
            from . import driven

            return driven.run(options, cwd, os.environ, cancel, groups)
        if options.end == "acp":
            from . import acp

            return acp.run(options, os.environ, cancel, groups)
        from . import tui

        return tui.run(options, cwd, os.environ, cancel, groups)
    finally:
        groups.end_all()


def _hold_standard_files() -> None:
    """A closed stdin, stdout or stderr becomes /dev/null: no other file may take its number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
