"""How Gemini CLI is driven without its TUI: one process that takes turn after turn over ACP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from barry_adapter_gemini import asking
from barry_adapter_gemini.declared import (
    COMMAND,
    HOSTED_GUARANTEES,
    HOSTED_NATIVE,
    ID,
    LABEL,
    NATIVE_TOOLS,
)
from barry_adapter_gemini.denials import rule, rules, undone
from barry_adapter_gemini.dialogue import Dialogue
from barry_adapter_gemini.events import events, lost, quota, unavailable
from barry_adapter_gemini.launch import NO_SERVER, extensions, model, reach
from barry_adapter_gemini.places import conversations, new_conversation_file
from barry_adapter_gemini.routing import needs_login, route
from barry_adapter_gemini.settings import Settings, folder_file, of_user
from barry_adapter_gemini.system import set_above, warn_of_updates
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
_TRUST = "GEMINI_CLI_TRUST_WORKSPACE"
_SYSTEM = Path(__file__).parent / "hosted.json"
_SYSTEM_BY_KEY = Path(__file__).parent / "hosted_by_key.json"

# Of the user's own settings, what may act with nobody asked: to set, and what it then does.
_UNASKED = (
    (("tools", "disableLLMCorrection"), False, "mends a change after it was ruled on"),
    (("experimental", "autoMemory"), True, "works on what it remembers when nobody sees it"),
)

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


def _find(id: str, place: Place) -> Path | None:
    found = conversations(place.cwd, place.env)
    return next((each.path for each in found if each.id == id), None)


def _where(id: str, place: Place) -> Path:
    path = new_conversation_file(id, place.cwd, place.env)
    if path is None:
        raise AgentFault(
            "session",
            f"{LABEL} has not been started in {place.cwd} yet, and only then names the folder in "
            "which it keeps what was said there",
            hint=f"start a session there first, or run {COMMAND} in it once",
        )
    return path


_CONVERSATIONS = FileConversations(name=ID, find=_find, where=_where)


def agent(config: SessionConfig) -> AgentAdapter:
    """Gemini CLI for one session. Raises Refused or AgentFault for what can't be had."""

    def request(input: AgentInput) -> Command:
        _known(input.policy.denied_tools)
        plan = _draft(config, input.home).finish(COMMAND)
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
        resumable=True,
        forkable=False,
        line_limit=_LONGEST_LINE,
        storage=_CONVERSATIONS,
        usage="events",
        quota=quota,
        unavailable=unavailable,
        lost=lost,
        partial_policy=_PARTLY,
        capabilities=CapabilitySettings(
            session_resume=True,
            mid_turn_cancellation=True,
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
    return _draft(config, None).finish(COMMAND).warnings


def _known(denied: Sequence[str]) -> None:
    """A policy's denials are held in the dialogue, by name. Raises AgentFault for other words."""
    for tool in denied:
        if tool not in NATIVE_TOOLS and not tool.startswith("mcp__"):
            raise AgentFault(
                "configuration",
                f"{LABEL} has no tool named {tool!r}, so a policy that denies it would not hold",
                hint="deny it by the name that the adapter's tool table has",
            )


def _draft(config: SessionConfig, home: str | None) -> _Draft:
    if config.extra_args:
        raise AgentFault(
            "configuration",
            f"{LABEL} takes no arguments of your own while Barry drives it: they could undo what "
            "it is held to",
            hint="leave them out; options go in with --option",
        )
    draft = _Draft(config, home)
    for name in ("decide", "resume", "system_prompt"):  # the driver's
        getattr(draft.config, name)
    draft.args += _SPOKEN
    model(draft)
    unread = _trust(draft)
    folder = Settings(Path(config.cwd), {})
    _held(draft, folder)
    reach(draft)
    extensions(draft)
    if "approvalMode" in (draft.config.options or {}):
        draft.warn(f"{LABEL} is put into the mode in which it asks: approvalMode is left out")
    own = route(draft, folder)
    arranged = set_above(draft, _SYSTEM_BY_KEY if own else _SYSTEM)
    needs_login(draft, own, folder, arranged=arranged, asks=False)
    if not arranged:
        warn_of_updates(draft, folder)
        _refuse_unasked(draft)
    _servers(draft, unread)
    return draft


def _trust(draft: _Draft) -> bool:
    """Leave the folder's own settings unread: they may come from anybody, and name commands.

    Without any, the folder's words and Barry's servers are taken as in a folder that is trusted.
    """
    found = folder_file(draft.config.cwd, draft.config.env)
    unread = found is not None or draft.inherited(_TRUST) == "false"
    draft.env[_TRUST] = "false" if unread else "true"
    if found is not None:
        draft.warn(
            f"{found} is left unread, as it may come from anybody: in this folder {LABEL} then "
            "also leaves its GEMINI.md unread"
        )
    return unread


def _held(draft: _Draft, folder: Settings) -> None:
    denied = draft.denied(NATIVE_TOOLS, HOSTED_NATIVE)
    rule(draft, "asking.toml", asking.rules(rules(denied)), folder)
    if reason := undone(draft, folder):
        raise AgentFault(
            "configuration",
            f"{LABEL} would not ask about its calls: {reason}",
            hint="launch it in guest mode, or take that away",
        )


def _refuse_unasked(draft: _Draft) -> None:
    user = of_user(draft.config.env)
    for keys, value, does in _UNASKED:
        if user.at(*keys) is value:
            raise AgentFault(
                "configuration",
                f"{'.'.join(keys)} in {user.path} has it that {LABEL} {does}",
                hint="take it out for sessions that Barry drives",
            )


def _servers(draft: _Draft, unread: bool) -> None:
    """Only the session's own servers; they come over the protocol."""
    config = draft.config
    names = [] if unread else sorted(config.mcp_servers)
    if any("," in name for name in names):
        raise AgentFault(
            "configuration",
            f"{LABEL} splits the names of MCP servers at a comma",
            hint="give the server a name without one",
        )
    draft.args += [f"--allowed-mcp-server-names={name}" for name in names or (NO_SERVER,)]
    if config.strict_mcp_config is False:
        draft.warn(f"{LABEL} is given the session's own MCP servers alone while Barry drives it")
    if unread and config.mcp_servers:
        draft.warn(
            f"{LABEL} connects no MCP server in a folder whose settings are left unread: "
            f"{', '.join(sorted(config.mcp_servers))} are left out"
        )
