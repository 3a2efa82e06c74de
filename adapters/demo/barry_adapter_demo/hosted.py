"""How the demo harness is driven without its TUI: one process that takes turn after turn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from barry_adapter_demo import launch
from barry_adapter_demo.declared import HOSTED_GUARANTEES, ID, LABEL, NATIVE, NATIVE_TOOLS
from barry_adapter_demo.dialogue import Dialogue
from barry_adapter_demo.events import events, lost, unavailable
from barry_adapter_demo.harness import transcript
from barry_cli.adapters import Command, PlanDraft
from barry_cli.agents import (
    AgentAdapter,
    AgentConfiguration,
    AgentFault,
    AgentInput,
    AgentLiveInput,
    CapabilitySettings,
    FileConversations,
    GeneratedFile,
    Place,
    agent_continuation,
    agent_session,
)

if TYPE_CHECKING:
    from barry_cli.agents import Variables
    from barry_cli.sessions import ContinuationHarness, Session, SessionConfig


class _Draft(PlanDraft):
    """A plan whose private files go into the session's own folder."""

    def __init__(self, config: SessionConfig, home: str | None) -> None:
        super().__init__(LABEL, config, HOSTED_GUARANTEES)
        self.files: dict[str, str] = {}
        self._home = Path(home or "/")

    def file(self, name: str, text: str, *, folder: Path | None = None) -> Path:
        self.files[name] = text
        return self._home / name


def _find(id: str, place: Place) -> Path | None:
    found = transcript.find(id, place.cwd, place.env)
    return None if found is None else Path(found)


def _where(id: str, place: Place) -> Path:
    return Path(transcript.project(place.cwd, place.env), f"{id}.jsonl")


_CONVERSATIONS = FileConversations(name=ID, find=_find, where=_where)


def agent(config: SessionConfig) -> AgentAdapter:
    """The demo harness for one session. Raises Refused or AgentFault for what can't be had."""
    keeps = not config.ephemeral

    def request(input: AgentInput) -> Command:
        draft = _draft(config, input.home)
        for tool in input.policy.denied_tools:
            draft.args += ["--deny", tool]
        if input.continuation is not None:
            draft.args += ["--resume", input.continuation.id]
            draft.args += ["--fork"] if input.continuation.fork else []
        plan = draft.finish(sys.executable)
        return Command(command=plan.command, args=plan.args, env=plan.env)

    def configuration(variables: Variables) -> AgentConfiguration:
        files = _draft(config, None).files
        return AgentConfiguration(
            files=tuple(GeneratedFile(path=name, text=text) for name, text in files.items())
        )

    return AgentAdapter(
        name=LABEL,
        request=request,
        events=events,
        live_input=AgentLiveInput(open=Dialogue, asks=True, persistent=True),
        configuration=configuration,
        resumable=keeps,
        forkable=keeps,
        storage=_CONVERSATIONS if keeps else None,
        usage="events",
        unavailable=unavailable,
        lost=lost,
        partial_policy=f"{LABEL} enforces the denied tools; every other call is put to Barry",
        capabilities=CapabilitySettings(
            session_resume=keeps,
            mid_turn_cancellation=True,
            usage_reporting=True,
            permission_hooks=True,
            mcp_client=True,
            workspace_scoping=True,
            model_selection=True,
        ),
    )


async def start(config: SessionConfig) -> Session:
    """Drive a session; it needs no engine besides its own process."""
    return await agent_session(
        agent(config),
        config,
        guarantees=HOSTED_GUARANTEES,
        warnings=_draft(config, None).finish(sys.executable).warnings,
    )


async def open_continuation(config: SessionConfig) -> ContinuationHarness:
    """A handle on such a session, through which turns are executed."""
    return await agent_continuation(
        agent(config), config, adapter_id=ID, guarantees=HOSTED_GUARANTEES
    )


def _draft(config: SessionConfig, home: str | None) -> _Draft:
    """All that is the same from turn to turn."""
    if config.extra_args or "allow" in (config.options or {}):
        raise AgentFault(
            "configuration",
            f"{LABEL} takes no arguments of your own, and no tools that it runs without asking, "
            "while Barry drives it: they could undo what it is held to",
            hint="leave them out; a bound says what is allowed",
        )
    draft = _Draft(config, home)
    for name in ("decide", "resume"):  # the driver's
        getattr(draft.config, name)
    draft.args += ["-I", "-S", launch.MAIN, "-p", "--input", "ndjson", "--output", "ndjson"]
    for tool in draft.denied(NATIVE_TOOLS, NATIVE):
        draft.args += ["--deny", tool]
    draft.args += ["--ephemeral"] if draft.config.ephemeral else []
    launch.arguments(draft)
    return draft
