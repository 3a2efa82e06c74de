"""The guarded server's program: ``PYTHON -I -m barry_cli.guard.serve POLICY FINGERPRINT [--http]``.

A harness starts it for one session, and it ends with the harness: when its standard input does.
"""

from __future__ import annotations

import asyncio
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
    # A ^C in the harness's terminal is the harness's: it says when this is over.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from barry_cli.guard.calls import Calls

    calls = Calls(*words)
    try:
        if "--http" in arguments:
            from barry_cli.guard.http import serve_http

            asyncio.run(serve_http(calls))
        else:
            asyncio.run(_serve_stdio(calls))
    except BrokenPipeError:  # who listened has gone
        return 0
    except OSError as error:
        sys.stderr.write(f"error: the guarded server can't go on: {error.strerror or error}\n")
        return 125
    return 0


async def _serve_stdio(calls: Calls) -> None:
    from mcp.server.stdio import stdio_server

    from barry_cli.guard.server import server

    own = server(calls)
    async with stdio_server() as (read, write):
        await own.run(read, write, own.create_initialization_options())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
