"""Running one command line: bounded in time and in output, and nothing of it is left behind."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Awaitable, Callable, Mapping

import anyio

from barry_cli.base.local_executor import LocalExecutor, LocalProcess
from barry_cli.guard.inputs import Shell
from barry_cli.guard.output import Kept
from barry_cli.guard.problems import NotDone

Progress = Callable[[int, str], Awaitable[None]]
"""(bytes so far, what came since the last time)."""

_EVERY_SECONDS = 0.2
_MOST_TOLD = 2_000

# Both streams in the order in which they were written; the line itself stays what was ruled on.
_TOGETHER = 'exec "$0" -c -- "$1" 2>&1'

_SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash")

# What makes bash do other than the line says: code that it reads first, functions for programs,
# other folders for `cd`, other files for `*`, other rules of the language.
_BENDS = (
    "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "POSIXLY_CORRECT",
    "BASH_COMPAT",
)  # fmt: skip


async def shell(
    asked: Shell, cwd: str, env: Mapping[str, str], progress: Progress
) -> tuple[str, bool]:
    """Run it to its end. Gives what the agent is told, and whether it ended in time.

    Whoever is cancelled meanwhile has the whole tree ended. Raises NotDone.
    """
    program = next((each for each in _SHELLS if os.access(each, os.X_OK)), None)
    if program is None:
        raise NotDone("there is no bash here, and a line is ruled on as bash reads it")
    try:
        process = await LocalExecutor().start(
            [program, "-c", _TOGETHER, program, asked.command], env={**env, "PWD": cwd}, cwd=cwd
        )
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else None
        raise NotDone(f"the command can't be started in {cwd}: {said or error}") from None
    kept = Kept()
    code: int | None = None
    try:
        with anyio.move_on_after(asked.timeout) as limit:
            await _follow(process, kept, progress)
            code = await process.wait()
    finally:
        with anyio.CancelScope(shield=True):
            await process.end()
    if limit.cancelled_caught:
        end = f"[ended after {asked.timeout} seconds, with all that it started]"
    elif code is not None and code < 0:
        end = f"[ended by signal {-code}]"
    else:
        end = f"[exit code {code}]" if code is not None else "[how it ended is not known]"
    text = kept.text()
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{end}", (
        not limit.cancelled_caught
    )


async def _follow(process: LocalProcess, kept: Kept, progress: Progress) -> None:
    """Keep what it prints, and tell of it now and then, however long nothing more comes."""
    waiting = bytearray()
    told = time.monotonic()
    while True:
        data = b""
        with anyio.move_on_after(_EVERY_SECONDS if waiting else math.inf) as pause:
            data = await process.read()
        if not data and not pause.cancelled_caught:
            return
        kept.add(data)
        waiting += data
        del waiting[: -4 * _MOST_TOLD]
        if time.monotonic() - told >= _EVERY_SECONDS:
            await progress(kept.count, waiting.decode("utf-8", "replace")[-_MOST_TOLD:])
            waiting.clear()
            told = time.monotonic()


def variables(names: tuple[str, ...]) -> dict[str, str]:
    """What a command sees of this process's environment."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in names and name not in _BENDS and not name.startswith("BASH_FUNC_")
    }
