"""How opencode is driven without its TUI: one process that takes turn after turn."""

from __future__ import annotations

import json
import secrets
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from barry_adapter_opencode.declared import (
    HOSTED_GUARANTEES,
    HOSTED_NATIVE,
    ID,
    LABEL,
    NATIVE_TOOLS,
)
from barry_adapter_opencode.denials import agent_rules, asking, limits, permission_variable, rules
from barry_adapter_opencode.dialogue import Dialogue
from barry_adapter_opencode.events import events, quota, unavailable
from barry_adapter_opencode.parts import guarded, inherited, model, prompt, skills
from barry_adapter_opencode.places import (
    database,
    defined,
    has_own_settings,
    own_code,
    users_permission,
)
from barry_adapter_opencode.servers import servers
from barry_adapter_opencode.settings import merged, plain, written
from barry_adapter_opencode.store import known
from barry_cli.adapters import Command, PlanDraft
from barry_cli.agents import (
    AgentAdapter,
    AgentConfiguration,
    AgentFault,
    AgentInput,
    AgentLiveInput,
    CapabilitySettings,
    GeneratedFile,
    agent_continuation,
    agent_session,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from barry_cli.agents import Variables
    from barry_cli.sessions import ContinuationHarness, Session, SessionConfig

GATE = "gate.js"
"""The plugin by which every call is put to Barry, in this package and in the session's folder."""

_ARGUMENTS = ("acp", "--hostname=127.0.0.1", "--port=0")
_LONGEST_LINE = 16 * 1024 * 1024
"""In bytes: a file that the agent writes is one line."""

# Offers a tool that nobody declared, and changes whom the password is for.
_UNSET = ("OPENCODE_ENABLE_QUESTION_TOOL", "OPENCODE_SERVER_USERNAME")

_PARTLY = (
    f"{LABEL} enforces the denied tools; everything else is put to Barry's ruling, call by call, "
    "whatever the posture"
)


class _Draft(PlanDraft):
    """A plan whose private files go into the session's own folder."""

    def __init__(self, config: SessionConfig, home: str | None) -> None:
        super().__init__(LABEL, config, HOSTED_GUARANTEES)
        self.home = Path(home or "/")
        self.files = {GATE: Path(__file__).with_name(GATE).read_text("utf-8")}

    def file(self, name: str, text: str, *, folder: Path | None = None) -> Path:
        self.files[name] = text
        return self.home / name


def agent(config: SessionConfig) -> AgentAdapter:
    """The agent of one session. Raises Refused or AgentFault for what can't be had."""
    # Its server listens on this machine: without a password anybody here could answer for Barry.
    password = secrets.token_urlsafe(24)
    keeps = not config.ephemeral

    def request(input: AgentInput) -> Command:
        draft = _draft(config, input.home, password, input.policy.denied_tools)
        if input.continuation is not None:
            _look_for(input.continuation.id, config)
        plan = draft.finish("opencode")
        return Command(command=plan.command, args=_ARGUMENTS, env=plan.env)

    def configuration(variables: Variables) -> AgentConfiguration:
        files = _draft(config, None, password).files
        return AgentConfiguration(
            files=tuple(GeneratedFile(path=name, text=text) for name, text in files.items())
        )

    return AgentAdapter(
        name=LABEL,
        request=request,
        events=events,
        live_input=AgentLiveInput(
            open=partial(_opened, config), asks=True, steers=True, persistent=True
        ),
        configuration=configuration,
        resumable=keeps,
        forkable=keeps,
        line_limit=_LONGEST_LINE,
        usage="events",
        quota=quota,
        unavailable=unavailable,
        partial_policy=_PARTLY,
        capabilities=CapabilitySettings(
            session_resume=keeps,
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


def _opened(config: SessionConfig, input: AgentInput) -> Dialogue:
    draft = PlanDraft(LABEL, config, HOSTED_GUARANTEES)
    denied = draft.denied(NATIVE_TOOLS, HOSTED_NATIVE)
    own = defined(config.env, inherited(draft), project=None)
    return Dialogue(
        input,
        denied=[*denied, *_not_hosted(), *input.policy.denied_tools],
        servers=[*config.mcp_servers, *own.servers],
    )


def _look_for(session: str, config: SessionConfig) -> None:
    """Refuse a conversation that is known to be gone, before anything starts."""
    file = database(config.env)
    if file is not None and known(file, session) is False:
        raise AgentFault(
            "session",
            f"conversation_lost: {LABEL} has no conversation {session}",
            hint="start a new session; what was said before is in `barry session events`",
        )


def _not_hosted() -> list[str]:
    return [tool for tool in NATIVE_TOOLS if tool not in HOSTED_NATIVE.grantable]


def _warnings(config: SessionConfig) -> tuple[str, ...]:
    """What of a configuration can't be had, in sentences."""
    return _draft(config, None, "").finish("opencode").warnings


def _draft(
    config: SessionConfig, home: str | None, password: str, more: Sequence[str] = ()
) -> _Draft:
    """All that is the same from turn to turn."""
    if config.extra_args:
        raise AgentFault(
            "configuration",
            f"{LABEL} takes no arguments of your own while Barry drives it: they could undo what "
            "it is held to",
            hint="leave them out; options go in with --option",
        )
    if found := own_code(config.cwd, config.env):
        raise AgentFault(
            "configuration",
            f"{LABEL} would run this folder's own {', '.join(found)} before Barry is asked "
            "anything, whatever it is told",
            hint="look at it, and move it aside or work in a folder without it",
        )
    draft = _Draft(config, home)
    for name in ("decide", "resume", "options", "project_roots"):
        # The driver's, and the dialogue's. A root needs nothing: what reaches into a folder is
        # ruled on, call by call.
        getattr(draft.config, name)
    denied = [*draft.denied(NATIVE_TOOLS, HOSTED_NATIVE), *_not_hosted(), *more]
    inline = inherited(draft)
    own = defined(config.env, inline, project=None)
    settings: dict[str, Any] = {
        "autoupdate": False,
        "plugin": [plain((draft.home / GATE).as_uri())],
        # Tools inside of one call would not be ruled on.
        "experimental": {"batch_tool": False},
    }
    for part in (
        limits(),
        agent_rules(denied, own),
        model(draft),
        prompt(draft, without_project=True),
        servers(draft, own, strictly=True),
        skills(draft),
    ):
        settings = merged(settings, part)
    if has_own_settings(config.cwd, config.env):
        draft.warn(
            "this folder's own opencode settings, agents, commands and plugins are left unread: "
            "they may come from anybody; its instruction files are kept"
        )
    users = merged(users_permission(config.env, inline), _inherited_rules(draft))
    permission_variable(draft, {**asking(users), **rules(denied, "****")})
    draft.env["OPENCODE_CONFIG_CONTENT"] = written(merged(inline, settings))
    draft.env["OPENCODE_DISABLE_AUTOUPDATE"] = "1"
    draft.env["OPENCODE_DISABLE_PROJECT_CONFIG"] = "1"
    _held(draft, password)
    return draft


def _held(draft: _Draft, password: str) -> None:
    draft.env["OPENCODE_SERVER_PASSWORD"] = password
    draft.secrets.append(password)
    guarded(draft, *_UNSET)
    if draft.config.ephemeral:
        draft.env["OPENCODE_DB"] = ":memory:"


def _inherited_rules(draft: PlanDraft) -> dict[str, Any]:
    try:
        found = json.loads(draft.inherited("OPENCODE_PERMISSION") or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
