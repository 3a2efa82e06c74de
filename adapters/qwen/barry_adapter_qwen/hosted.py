"""How Qwen Code is driven without its TUI: one process that takes turn after turn over ACP."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from barry_adapter_qwen import asking
from barry_adapter_qwen.declared import (
    COMMAND,
    HOSTED_GUARANTEES,
    HOSTED_NATIVE,
    ID,
    LABEL,
    NATIVE_TOOLS,
)
from barry_adapter_qwen.dialogue import Dialogue
from barry_adapter_qwen.events import events, lost, quota, unavailable
from barry_adapter_qwen.launch import contained, exclude, extensions, prompt, reach
from barry_adapter_qwen.places import TRUSTED_FOLDERS, conversation_file
from barry_adapter_qwen.routing import route
from barry_adapter_qwen.settings import folder_file, of_machine, of_user
from barry_adapter_qwen.system import arrange, merged
from barry_adapter_qwen.transcript import elsewhere
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
    from collections.abc import Sequence

    from barry_cli.agents import Variables
    from barry_cli.sessions import ContinuationHarness, Session, SessionConfig

_SPOKEN = ("--acp", "--approval-mode=default")

_LONGEST_LINE = 16 * 1024 * 1024
"""In bytes: a file that the agent writes, or a picture that it looked at, is one line."""

_PARTLY = (
    f"{LABEL} enforces the denied tools; everything else is put to Barry's ruling, call by call, "
    "whatever the posture"
)


class _Draft(PlanDraft):
    """A plan whose private files go into the session's own folder."""

    def __init__(self, config: SessionConfig, home: str | None) -> None:
        super().__init__(LABEL, config, HOSTED_GUARANTEES)
        self.files: dict[str, str] = {}
        self._home = Path(home or "/")

    def file(self, name: str, text: str, *, folder: Path | None = None) -> Path:
        self.files[name] = text
        return self._home / name


def _where(id: str, place: Place) -> Path:
    return conversation_file(id, place.cwd, place.env, elsewhere(place.env))


def _find(id: str, place: Place) -> Path | None:
    path = _where(id, place)
    return path if path.is_file() else None


_CONVERSATIONS = FileConversations(name=ID, find=_find, where=_where)


def agent(config: SessionConfig) -> AgentAdapter:
    """Qwen Code for one session. Raises Refused or AgentFault for what can't be had."""
    keeps = not config.ephemeral

    def request(input: AgentInput) -> Command:
        draft = _draft(config, input.home, input.policy.denied_tools)
        _known(input)
        plan = draft.finish(COMMAND)
        return Command(command=plan.command, args=plan.args, env=plan.env)

    def configuration(variables: Variables) -> AgentConfiguration:
        files = _draft(config, None, ()).files
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
        forkable=False,
        line_limit=_LONGEST_LINE,
        storage=_CONVERSATIONS if keeps else None,
        usage="events",
        quota=quota,
        unavailable=unavailable,
        lost=lost,
        partial_policy=_PARTLY,
        capabilities=CapabilitySettings(
            session_resume=keeps,
            mid_turn_cancellation=True,
            usage_reporting=True,
            permission_hooks=True,
            model_selection=True,
        ),
    )


async def start(config: SessionConfig) -> Session:
    """Drive a session; it needs no engine besides its own process."""
    return await agent_session(
        agent(config), config, guarantees=HOSTED_GUARANTEES, warnings=_warnings(config)
    )


async def open_continuation(config: SessionConfig) -> ContinuationHarness:
    """A handle on such a session, through which turns are executed."""
    return await agent_continuation(
        agent(config),
        config,
        adapter_id=ID,
        guarantees=HOSTED_GUARANTEES,
        warnings=_warnings(config),
    )


def _warnings(config: SessionConfig) -> tuple[str, ...]:
    """What of a configuration can't be had, in sentences."""
    return _draft(config, None, ()).finish(COMMAND).warnings


def _draft(config: SessionConfig, home: str | None, more: Sequence[str]) -> _Draft:
    if config.extra_args:
        raise AgentFault(
            "configuration",
            f"{LABEL} takes no arguments of your own while Barry drives it: they could undo what "
            "it is held to",
            hint="leave them out; options go in with --option",
        )
    draft = _Draft(config, home)
    for name in ("decide", "resume"):  # the driver's
        getattr(draft.config, name)
    draft.args += _SPOKEN
    machine, user = of_machine(config.env), of_user(config.env)
    asks = asking.asked(machine.at("permissions", "ask") if machine is not None else None)
    own = merged(asking.soon(route(draft)), {**asking.HELD, **asks})
    arrange(draft, merged(own, _trust(draft)))
    if user.at("hooks"):
        draft.warn(f"the hooks in {user.path} are off: one of them could allow a call by itself")
    exclude(draft, list(dict.fromkeys([*draft.denied(NATIVE_TOOLS, HOSTED_NATIVE), *more])))
    if contained(draft):
        raise AgentFault(
            "configuration",
            f"{LABEL} would run in its own sandbox, where it was not shown to ask about its calls",
            hint="switch that off for sessions that Barry drives: QWEN_SANDBOX, tools.sandbox",
        )
    reach(draft)
    extensions(draft)
    if "approvalMode" in (draft.config.options or {}):
        draft.warn(f"{LABEL} is put into the mode in which it asks: approvalMode is left out")
    prompt(draft)
    if draft.config.ephemeral:
        draft.args.append("--chat-recording=false")
    _servers(draft)
    return draft


def _trust(draft: _Draft) -> dict[str, object]:
    """Leave the folder's own settings unread: they may come from anybody, and name commands."""
    config = draft.config
    found = folder_file(config.cwd, config.env)
    if found is None:
        return {}
    user = of_user(config.env)
    if user.at("security", "folderTrust", "enabled") is False:
        raise AgentFault(
            "configuration",
            f"{found} may come from anybody, and security.folderTrust.enabled in {user.path} has "
            f"it that {LABEL} reads it all the same",
            hint="take that out of your settings, or move the folder's settings aside",
        )
    folder = os.path.realpath(config.cwd)
    trusted = draft.file("trusted.json", json.dumps({folder: "DO_NOT_TRUST"}))
    draft.env[TRUSTED_FOLDERS] = str(trusted)
    draft.warn(f"{found} is left unread: it may come from anybody")
    return asking.RESTRICTED


def _servers(draft: _Draft) -> None:
    """None: of their calls it is not told which tool is asked about."""
    draft.args.append("--allowed-mcp-server-names=")
    names = sorted(draft.config.mcp_servers)
    if names or draft.config.strict_mcp_config is False:
        draft.warn(
            f"{LABEL} doesn't tell which tool of an MCP server it asks about, so it is connected "
            f"to none while Barry drives it{': without ' + ', '.join(names) if names else ''}"
        )


def _known(input: AgentInput) -> None:
    if input.continuation is None:
        return
    try:
        UUID(input.continuation.id)
    except ValueError:
        # Qwen Code would begin a new conversation under that name.
        raise AgentFault(
            "session",
            f"conversation_lost: {input.continuation.id!r} is no id of a {LABEL} conversation",
            hint="`barry session list` shows the ids",
        ) from None
