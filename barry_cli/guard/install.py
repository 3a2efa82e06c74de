"""What a launch leaves for a guarded server: its policy file, and the command that starts it."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from barry_cli.base.files import write_atomic
from barry_cli.base.paths import ensure
from barry_cli.contract.session import StdioMcpServer
from barry_cli.guard.policy_file import GuardPolicy, fingerprint, pack

PROGRAM = "barry_cli.guard.serve"
"""The module that serves. It is named, not imported: it brings along what a launch can do without.
"""

MOST = 256
"""How many policies are kept. The oldest make room: a launch hands over, so nobody else clears."""


def install(folder: Path, held: GuardPolicy) -> StdioMcpServer:
    """Write the policy under its fingerprint, and give the server for the session's harness.

    Its command names nothing that lies in the session's folder: with ``-I`` neither that folder nor
    a variable says where modules come from. Raises StoreProblem.
    """
    data = pack(held)
    mark = fingerprint(data)
    path = ensure(folder) / f"guard-{mark}.marshal"
    if _content(path) == data:
        with contextlib.suppress(OSError):
            os.utime(path)  # in use again
    else:
        write_atomic(path, data, mode=0o400)
    _make_room(folder)
    return StdioMcpServer(
        command=sys.executable, args=("-I", "-m", PROGRAM, str(path.absolute()), mark)
    )


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _make_room(folder: Path) -> None:
    with contextlib.suppress(OSError):
        kept = sorted(folder.glob("guard-*.marshal"), key=lambda each: each.stat().st_mtime_ns)
        for old in kept[:-MOST]:
            old.unlink(missing_ok=True)
