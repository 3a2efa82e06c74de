"""Commands changed before they start: how a check is shown to fail without its guard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from barry_cli.base.local_executor import LocalExecutor
from barry_cli.contract.engine import EngineHandle, EngineSpec
from barry_cli.contract.execution import RunningProcess
from barry_cli.contract.plan import Command
from barry_cli.contract.proof import NotShown

_Started = TypeVar("_Started", bound=Command)


class Bend(Protocol):
    """Changes a command before it starts: how a check is shown to fail without its guard.

    It gets a launch's whole plan, and of a driven session each command.
    """

    def __call__(self, plan: _Started, /) -> _Started: ...


def without(*flags: str) -> Bend:
    """A bend that takes flags, with the values that follow them, out of a plan."""

    def bend(plan: _Started, /) -> _Started:
        kept: list[str] = []
        skipping = False
        for word in plan.args:
            if word.startswith("-"):
                skipping = word.split("=", 1)[0] in flags
            if not skipping:
                kept.append(word)
        return replace(plan, args=tuple(kept))

    return bend


class BentExecutor:
    """This machine, with the program that is to be proven, and each command bent."""

    local = True
    variables: Mapping[str, str] = {}

    def __init__(self, file: Callable[[str], str], bend: Bend | None) -> None:
        self._file = file
        self._bend = bend

    async def start(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, open_input: bool = False
    ) -> RunningProcess:
        command = Command(command=argv[0], args=tuple(argv[1:]), env=env, cwd=cwd)
        if self._bend is not None:
            command = self._bend(command)
        return await LocalExecutor().start(
            [self._file(command.command), *command.args],
            env={name: value for name, value in command.env.items() if value is not None},
            cwd=command.cwd or cwd,
            open_input=open_input,
        )


async def no_engine(spec: EngineSpec) -> EngineHandle:
    """Start none: a check is about the harness's own program. Raises NotShown."""
    raise NotShown(f"this check asks for an engine of the kind {spec.kind}, and none is started")
