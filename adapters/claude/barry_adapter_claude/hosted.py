"""How Claude Code is driven without its TUI: one process that takes turn after turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from barry_adapter_claude import arguments
from barry_adapter_claude.declared import (
    COMMAND,
    HOSTED_GUARANTEES,
    HOSTED_NATIVE,
    ID,
    LABEL,
    NATIVE_TOOLS,
)
from barry_adapter_claude.dialogue import Dialogue
from barry_adapter_claude.events import events, lost, quota, unavailable
from barry_adapter_claude.held import hold
from barry_adapter_claude.places import conversation_file, new_conversation_file
from barry_adapter_claude.routing import route
from barry_adapter_claude.settings import SettingsFiles, left_unread, read_settings
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

_SPOKEN = (
    "--print",
    "--input-format=stream-json",
    "--output-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--replay-user-messages",
    "--forward-subagent-text",
    "--permission-prompt-tool=stdio",
    # The folder's own settings, hooks, commands and agents may come from anybody.
    "--setting-sources=user",
)

_HELD = {
    "DISABLE_AUTOUPDATER": "1",
    # Its bare mode asks nobody about what it allows by itself.
    "CLAUDE_CODE_SIMPLE": "0",
    # What goes on after the turn would go on unseen, or be cut off in the middle.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_CRON": "1",
    # A message that names a file must not read it before anybody rules on that.
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    # With its settings, the folder's CLAUDE.md would be left out too; see ``--add-dir`` below.
    "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1",
}

_SETTINGS = {
    "disableAllHooks": False,
    # A command inside a skill's text runs when the skill is called, and nobody asks about it.
    "disableSkillShellExecution": True,
}

_LONGEST_LINE = 16 * 1024 * 1024
"""In bytes: an image that the agent looked at is one line, and so is a file that it writes."""

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


def _find(id: str, place: Place) -> Path | None:
    return conversation_file(id, place.cwd, place.env)


def _where(id: str, place: Place) -> Path:
    path = new_conversation_file(id, place.cwd, place.env)
    if path is None:
        raise AgentFault(
            "session",
            f"{place.cwd} has too long a name: where {LABEL} keeps its conversations can't be told",
            hint="restore it into a folder with a shorter path",
        )
    return path


_CONVERSATIONS = FileConversations(name=ID, find=_find, where=_where)


def agent(config: SessionConfig) -> AgentAdapter:
    """Claude Code for one session. Raises Refused or AgentFault for what can't be had."""
    user = _users_settings(config)
    keeps = not config.ephemeral

    def request(input: AgentInput) -> Command:
        draft = _draft(config, user, input.home)
        _tools(draft, input.policy.denied_tools)
        _conversation(draft, input)
        if input.output_schema is not None:
            draft.args.append(f"--json-schema={json.dumps(input.output_schema)}")
        plan = draft.finish(COMMAND)
        return Command(command=plan.command, args=plan.args, env=plan.env)

    def configuration(variables: Variables) -> AgentConfiguration:
        files = _draft(config, user, None).files
        return AgentConfiguration(
            files=tuple(GeneratedFile(path=name, text=text) for name, text in files.items())
        )

    return AgentAdapter(
        name=LABEL,
        request=request,
        events=events,
        live_input=AgentLiveInput(open=Dialogue, asks=True, steers=True, persistent=True),
        configuration=configuration,
        resumable=keeps,
        forkable=keeps,
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
            structured_output=True,
            usage_reporting=True,
            permission_hooks=True,
            mcp_client=True,
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
    draft = _draft(config, _users_settings(config), None)
    _tools(draft, ())
    return draft.finish(COMMAND).warnings


def _users_settings(config: SessionConfig) -> SettingsFiles:
    """The folder's own settings are not read at all in this mode."""
    return SettingsFiles(user=read_settings(config.cwd, config.env).user, folder=[])


def _draft(config: SessionConfig, user: SettingsFiles, home: str | None) -> _Draft:
    """All that is the same from turn to turn."""
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
    held = dict(_HELD)
    draft.args += _SPOKEN
    if "permissionMode" not in (config.options or {}):
        draft.args.append("--permission-mode=manual")
    arguments.model(draft, held)
    arguments.prompt(draft)
    arguments.servers(draft)
    if draft.config.strict_mcp_config is None and "--strict-mcp-config" not in draft.args:
        draft.args.append("--strict-mcp-config")
    draft.args.append(f"--add-dir={config.cwd}")
    arguments.reach(draft)
    arguments.telemetry(draft, held)
    if draft.config.max_turns is not None:
        draft.args.append(f"--max-turns={config.max_turns}")
    if draft.config.ephemeral:
        draft.args.append("--no-session-persistence")
    route(draft, user, held)
    hold(draft, user, held, _SETTINGS)
    left_unread(draft)
    return draft


def _tools(draft: PlanDraft, more: Sequence[str]) -> None:
    every = dict.fromkeys([*draft.denied(NATIVE_TOOLS, HOSTED_NATIVE), *more])
    if every:
        draft.args.append(f"--disallowedTools={','.join(every)}")


def _conversation(draft: PlanDraft, input: AgentInput) -> None:
    goes_on = input.continuation
    if goes_on is None:
        return
    try:
        known = str(UUID(goes_on.id))
    except ValueError:
        # Claude Code would take it for the title of some conversation.
        raise AgentFault(
            "session",
            f"conversation_lost: {goes_on.id!r} is no id of a {LABEL} conversation",
            hint="`barry session list` shows the ids",
        ) from None
    draft.args.append(f"--resume={known}")
    if goes_on.fork:
        draft.args.append("--fork-session")
