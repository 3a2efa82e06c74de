"""Stands for Barry: supervises its arguments and ends like them. Run as a script.

The first argument is a folder: it gets the files `barry` and `child` with the two pids, `ticks`
and `ended`.
With `naive` as the second the harness is run by the standard library instead.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from barry_cli.base.processes import ProcessIdentity
from barry_cli.terminal.exit import exit_like
from barry_cli.terminal.hand_over import hand_over
from barry_cli.terminal.supervise import supervise


def main() -> None:
    folder, way, *argv = sys.argv[1:]
    note = Path(folder)
    (note / "barry").write_text(str(os.getpid()))
    if way == "naive":
        raise SystemExit(subprocess.call(argv))
    if way == "hand-over":
        hand_over(argv[0], argv, os.environ, folder)

    def on_start(identity: ProcessIdentity) -> None:
        (note / "child").write_text(str(identity.pid))

    def on_tick() -> None:
        with (note / "ticks").open("a") as file:
            file.write(".")

    ended = supervise(
        argv[0],
        argv,
        os.environ,
        os.getcwd(),
        on_start=on_start,
        on_tick=on_tick,
        tick_seconds=0.2,
        kill_after_seconds=1.0,
        leftover_grace_seconds=0.5,
        wrapped=way == "wrapped",
    )
    (note / "ended").write_text(f"{ended.exit_code} {ended.signal} {ended.forwarded}")
    exit_like(ended)


main()
