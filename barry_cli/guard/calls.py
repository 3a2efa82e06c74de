"""One call of a guarded tool: looked at, ruled on by the one ruling, and only then carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from barry_cli.contract.data import Data
from barry_cli.guard.files import edit_file, read_file, write_file
from barry_cli.guard.inputs import INPUTS, EditFile, Fetch, ReadFile, Shell, WriteFile
from barry_cli.guard.places import Place, find
from barry_cli.guard.policy_file import GuardPolicy, read_policy
from barry_cli.guard.problems import NotDone
from barry_cli.guard.shell import Progress, shell, variables
from barry_cli.guard.table import TOOLS
from barry_cli.policy.ruling.rule import rule
from barry_cli.policy.sentences import sentences


@dataclass(frozen=True, slots=True)
class Answer:
    """What the agent is told."""

    texts: list[str]
    failed: bool = False


class Calls:
    """The calls of one session. Its policy is read for each of them: who changed it gets nothing
    through any more.
    """

    def __init__(self, path: str, fingerprint: str) -> None:
        self._path = path
        self._fingerprint = fingerprint

    def tools(self) -> tuple[str, ...]:
        """The tools that the session has; where its policy is unreadable, all, each refused."""
        try:
            return self._policy().tools
        except NotDone:
            return tuple(TOOLS)

    async def call(self, name: str, given: Mapping[str, Any], progress: Progress) -> Answer:
        """Carry out a call, or say why not. Cancelling it ends all that it started."""
        try:
            held = self._policy()
            if name not in held.tools:
                raise NotDone(f"there is no such tool: there are {', '.join(held.tools)}")
            return await _carried_out(held, name, _input(name, given), progress)
        except NotDone as problem:
            return Answer([str(problem)], failed=True)
        except Exception as fault:  # no call may end the server, nor a traceback reach the agent
            said = f"the call failed: {type(fault).__name__}. That is a fault of Barry: report it"
            return Answer([said], failed=True)

    def _policy(self) -> GuardPolicy:
        return read_policy(self._path, self._fingerprint)


async def _carried_out(held: GuardPolicy, name: str, asked: Data, progress: Progress) -> Answer:
    match asked:
        case Shell():
            place = _place(held, asked.cwd)
            _rule(held, name, {"command": asked.command, "cwd": place.path})
            text, ended = await shell(asked, place.path, variables(held.variables), progress)
            return Answer([text], failed=not ended)
        case ReadFile():
            return Answer(read_file(asked, _ruled_place(held, name, asked.path)))
        case WriteFile():
            return Answer(write_file(asked, _ruled_place(held, name, asked.path)))
        case EditFile():
            return Answer(edit_file(asked, _ruled_place(held, name, asked.path)))
        case Fetch():
            from barry_cli.guard.web import fetch

            return Answer(await fetch(asked.url, lambda url: _rule(held, name, {"url": url})))
        case _:
            raise NotDone(f"there is no tool {name}")


def _input(name: str, given: Mapping[str, Any]) -> Data:
    model = INPUTS[name]
    try:
        return model.model_validate(dict(given), strict=True)
    except ValidationError as error:
        raise NotDone(f"{name}: {'; '.join(sentences(error, model))}") from None


def _place(held: GuardPolicy, path: str) -> Place:
    return find(path, held.folders, held.policy.home)


def _ruled_place(held: GuardPolicy, name: str, path: str) -> Place:
    """The place, ruled on by how it is written and by where it really leads."""
    place = _place(held, path)
    _rule(held, name, {"path": path})
    _rule(held, name, {"path": place.path})
    return place


def _rule(held: GuardPolicy, name: str, given: Mapping[str, str]) -> None:
    verdict = rule(held.policy, name, given, held.cwd)
    if not verdict.allowed:
        raise NotDone(verdict.agent)
