"""The guarded server's program: ``PYTHON -I -m barry_cli.guard.serve POLICY FINGERPRINT [--http]``.

A harness starts it for one session, and it ends with the harness: when its standard input does.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barry_cli.guard.calls import Calls


def main(arguments: list[str]) -> int:
    """Serve until standard input ends, and give the exit code."""
    words = [word for word in arguments if word != "--http"]
    if len(words) != 2:
        sys.stderr.write(
            "error: the guarded server needs its policy and fingerprint\n"
            "hint: it is started by a session's harness, not by hand\n"
        )
        return 2
    if sys.stdin is None or sys.stdout is None:
        return _ended("its standard input or output is closed")
    # A ^C in the harness's terminal is the harness's: it says when this is over.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Libraries log what a client does wrong, tracebacks and all, into the harness's terminal.
    logging.disable()
    from barry_cli.guard.calls import Calls

    calls = Calls(*words)
    try:
        if "--http" in arguments:
            from barry_cli.guard.http import serve_http

            asyncio.run(serve_http(calls))
        else:
            asyncio.run(_serve_stdio(calls))
    except Exception as fault:  # no traceback into the harness's terminal
        return _faulted(fault)
    return 0


def _faulted(fault: Exception) -> int:
    """Tell why the server ended; what failed side by side comes as a group."""
    while isinstance(fault, ExceptionGroup):
        fault = fault.exceptions[0]
    if isinstance(fault, BrokenPipeError):  # who listened has gone
        return 0
    if isinstance(fault, OSError):
        return _ended(fault.strerror or str(fault))
    return _ended(f"{type(fault).__name__}. That is a fault of Barry: report it")


def _ended(why: str) -> int:
    if sys.stderr is not None:
        sys.stderr.write(f"error: the guarded server can't go on: {why}\n")
    return 125


async def _serve_stdio(calls: Calls) -> None:
    from mcp.server.stdio import stdio_server

    from barry_cli.guard.server import server

    own = server(calls)
    async with stdio_server() as (read, write):
        await own.run(read, write, own.create_initialization_options())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
