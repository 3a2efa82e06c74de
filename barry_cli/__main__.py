"""The door: what needs no command line is answered before anything heavy is imported."""

import sys


def main() -> int:
    """Run ``barry`` with the process's arguments and leave with its exit code.

    Leaving at once skips the interpreter's own clearing away, a tenth of a short command's life.
    """
    code = _run()
    import os

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 1
    os._exit(code)


def _run() -> int:
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from barry_cli import __version__

        sys.stdout.write(f"barry {__version__}\n")
        sys.stdout.flush()
        return 0
    from barry_cli.cli.app import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
