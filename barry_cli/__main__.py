"""The door: what needs no command line is answered before anything heavy is imported."""

import sys


def main() -> int:
    """Run ``barry`` with the process's arguments and leave with its exit code.

    Leaving at once skips the interpreter's own clearing away, a tenth of a short command's life.
    """
    try:
        code = _run()
    except KeyboardInterrupt:  # while what it needs was still being imported
        code = 130
    except ImportError as error:
        code = _not_whole(error)
    import os

    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except BrokenPipeError:
            code = code or 141
        except (OSError, ValueError):
            code = code or 125
    os._exit(code)


def _run() -> int:
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]) and _version():
        return 0
    if arguments[:1] == ["hook"]:
        from barry_cli.hook.run import main as rule

        rule(arguments[1:])  # it ends the process
    if arguments[:2] == ["bound", "check"]:
        from barry_cli.policy.door import check

        code = check(arguments[2:])
        if code is not None:
            return code
    from barry_cli.cli.app import run

    return run(arguments)


def _version() -> bool:
    """Print the version; False where that fails, for somebody who can say why."""
    from barry_cli import __version__

    try:
        sys.stdout.write(f"barry {__version__}\n")
        sys.stdout.flush()
    except (AttributeError, OSError):
        return False
    return True


def _not_whole(error: ImportError) -> int:
    sys.stderr.write(
        f"error: this installation of Barry is not whole: {error}\n"
        "hint: install it again, with what it depends on\n"
    )
    return 2 if sys.argv[1:2] == ["hook"] else 125  # what can't rule refuses the call


if __name__ == "__main__":
    sys.exit(main())
