"""`python -m barry_cli.verify.models`: the model server for a shell. One JSON line, then it serves.

Exit codes: 0 after SIGTERM or SIGINT, 1 when the log file could not be written to the end,
2 when the script, the log file or the port can't be used.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from pathlib import Path

from barry_cli.verify.models.script import Script, ScriptError
from barry_cli.verify.models.server import HOST, ModelServer


def main(argv: list[str] | None = None) -> int:
    """Serve until a signal. Returns the exit code."""
    options = _parser().parse_args(argv)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        script = Script.load(options.script) if options.script else Script()
        server = ModelServer(script, port=options.port, log_file=options.log)
    except ScriptError as error:
        return _refuse(str(error))
    except OSError as error:
        reason = error.strerror or str(error)
        if error.filename is not None:
            return _refuse(f"The log {options.log} can't be opened: {reason}.")
        return _refuse(f"Port {options.port} on {HOST} can't be used: {reason}; try another one.")
    with server:
        line = json.dumps({"schema": 1, "port": server.port, "urls": server.urls()})
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
        stop.wait()
    return 1 if server.log_fault else 0


def _refuse(sentence: str) -> int:
    sys.stderr.write(sentence + "\n")
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m barry_cli.verify.models",
        description="Serve scripted model APIs on 127.0.0.1. Prints one JSON line with the URLs.",
    )
    parser.add_argument("--script", type=Path, metavar="FILE", help="rules, as JSON or .toml")
    parser.add_argument("--log", type=Path, metavar="FILE", help="append every request as NDJSON")
    parser.add_argument(
        "--port", type=_port, default=0, metavar="N", help="the port (default: any free one)"
    )
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
