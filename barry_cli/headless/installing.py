"""Installs an agent's program where it is missing, by its adapter's recipe (seed 004)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from barry_cli.contract.plan import Command
from barry_cli.headless.bootstrap import recipe
from barry_cli.headless.commands import run_command
from barry_cli.headless.faults import AgentFault

if TYPE_CHECKING:
    from barry_cli.contract.execution import Executor

_SECONDS = 600.0
_FIND = 'command -v -- "$1" || PATH="$HOME/$2/node_modules/.bin" command -v -- "$1"'
_PLACE = ".local/share/barry/agents"


async def program_in(
    executor: Executor, program: str, bootstrap: str | None, *, env: Mapping[str, str], cwd: str
) -> str:
    """The absolute path of a program where an executor elsewhere runs things.

    What is there is used; else an earlier private installation; else the recipe, if there is one.
    Raises AgentFault (``configuration``).
    """
    found = await _find(executor, program, env, cwd)
    if found is None and bootstrap is not None:
        home = env.get("HOME")
        if not home:
            raise _missing(program, "it can't be installed without HOME")
        command, *args = recipe(bootstrap).command(f"{home}/{_PLACE}")
        try:
            result = await run_command(
                executor,
                Command(command=command, args=tuple(args)),
                env=env,
                cwd=cwd,
                seconds=_SECONDS,
            )
        except OSError as error:
            raise _missing(program, f"npm can't be run there: {error.strerror or error}") from None
        if result.status != 0:
            raise _missing(program, f"installing it gave the status {result.status}")
        found = await _find(executor, program, env, cwd)
    if found is None:
        raise _missing(program, "nothing of that name is on its PATH")
    return found


async def _find(executor: Executor, program: str, env: Mapping[str, str], cwd: str) -> str | None:
    try:
        result = await run_command(
            executor,
            Command(command="sh", args=("-c", _FIND, "sh", program, _PLACE)),
            env=env,
            cwd=cwd,
        )
    except OSError as error:
        raise _missing(program, f"there is no shell to look for it: {error}") from None
    lines = result.stdout.split("\n")
    # One absolute path and nothing else: an alias or a function is no program.
    one = len(lines) == 2 and lines[1] == "" and lines[0].startswith("/")
    return lines[0] if result.status == 0 and one else None


def _missing(program: str, why: str) -> AgentFault:
    return AgentFault(
        "configuration",
        f"the agent's program {program} is not where it is to run, and {why}",
        hint="install it there",
    )
