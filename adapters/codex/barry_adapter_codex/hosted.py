"""How Codex is driven without its TUI: one app server that takes turn after turn."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barry_adapter_codex.arguments import (
    COMMAND,
    LABEL,
    hide,
    model_name,
    options,
    prompt,
    route,
    same_provider,
    set_value,
    tools,
)
from barry_adapter_codex.dialogue import Dialogue
from barry_adapter_codex.events import events, lost, quota, unavailable
from barry_adapter_codex.own import Own, own_settings, project_folders
from barry_adapter_codex.places import codex_home, is_id
from barry_adapter_codex.problems import LaunchRefused
from barry_adapter_codex.rules import allowing
from barry_adapter_codex.servers import ask_about
from barry_adapter_codex.tools import HOSTED_GUARANTEES, HOSTED_NATIVE, HOSTED_OFF
from barry_adapter_codex.transcript import Rollouts
from barry_cli.adapters import Command, PlanDraft
from barry_cli.agents import (
    AgentAdapter,
    AgentFault,
    AgentInput,
    AgentLiveInput,
    CapabilitySettings,
    FileConversations,
    Place,
    StoredConversation,
    agent_continuation,
    agent_session,
)

if TYPE_CHECKING:
    from barry_cli.adapters import StartEngine
    from barry_cli.sessions import ContinuationHarness, Session, SessionConfig

ID = "codex"

_LONGEST_LINE = 16 * 1024 * 1024
"""In bytes: a change of files is one line, and so is what an MCP server gives."""

_PARTLY = (
    f"{LABEL} enforces the denied tools that it has a switch for; everything else is put to "
    "Barry's ruling, call by call, whatever the posture"
)


def agent(config: SessionConfig) -> AgentAdapter:
    """Codex for one session. Raises LaunchRefused or AgentFault for what can't be had."""
    own = _own(config)
    keeps = not config.ephemeral

    def request(input: AgentInput) -> Command:
        draft = _draft(config, own, input.policy.denied_tools)
        if input.continuation is not None:
            if not is_id(input.continuation.id):
                raise AgentFault(
                    "session",
                    f"conversation_lost: {input.continuation.id!r} is no id of a {LABEL} "
                    "conversation",
                    hint="`barry session list` shows the ids",
                )
            same_provider(draft, input.continuation.id)
        plan = draft.finish(COMMAND)
        return Command(command=plan.command, args=plan.args, env=plan.env)

    return AgentAdapter(
        name=LABEL,
        request=request,
        events=events,
        live_input=AgentLiveInput(open=Dialogue, asks=True, steers=True, persistent=True),
        resumable=keeps,
        forkable=keeps,
        line_limit=_LONGEST_LINE,
        storage=CONVERSATIONS if keeps else None,
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


async def start(config: SessionConfig, start_engine: StartEngine) -> Session:
    """Drive a session; it needs no engine besides its own process."""
    return await agent_session(
        agent(config), config, guarantees=HOSTED_GUARANTEES, warnings=_warnings(config)
    )


async def open_continuation(
    config: SessionConfig, start_engine: StartEngine
) -> ContinuationHarness:
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
    return _draft(config, _own(config), ()).finish(COMMAND).warnings


def _draft(config: SessionConfig, own: Own, more: tuple[str, ...]) -> PlanDraft:
    """All that is the same from turn to turn; ``more`` tools are denied."""
    if config.extra_args:
        raise AgentFault(
            "configuration",
            f"{LABEL} takes no arguments of your own while Barry drives it: they could undo what "
            "it is held to",
            hint="leave them out; options go in with --option",
        )
    _refuse_rules(config)
    config = replace(
        config,
        # Its own servers come along only when they are asked for.
        strict_mcp_config=config.strict_mcp_config is not False,
        denied_tools=tuple(dict.fromkeys([*(config.denied_tools or ()), *more])),
    )
    draft = PlanDraft(LABEL, config, HOSTED_GUARANTEES)
    for name in ("decide", "resume", "ephemeral", "project_roots"):  # the driver's, the dialogue's
        getattr(draft.config, name)
    draft.args += ["app-server", "--stdio"]
    set_value(draft, "check_for_update_on_startup", False)
    for feature in HOSTED_OFF:
        draft.args += ["--disable", feature]
    _trust(draft)
    model = model_name(draft)
    if model is not None:
        set_value(draft, "model", model)
    route(draft, own)
    given = options(draft)
    if "approvalPolicy" in given:
        draft.warn("the option approvalPolicy is left out: Barry is asked about every call")
    if "sandbox" in given:
        draft.warn(
            f"what Barry allows runs with your rights where {LABEL}'s sandbox "
            f"({given['sandbox']}) would stop it"
        )
    table = ask_about(tools(draft, own, HOSTED_NATIVE), own)
    if table:
        set_value(draft, "mcp_servers", table)
    prompt(draft, own)
    hide(draft, own)
    return draft


def _own(config: SessionConfig) -> Own:
    """The user's settings; those of folders are not loaded in this mode."""
    own = own_settings(config.cwd, config.env, of_folders=False)
    if own.unread is not None:
        raise LaunchRefused(
            f"which MCP servers {LABEL} has of its own, and whether they ask before a call, is "
            f"not known: {own.unread}",
            hint="write that file so that it can be read",
        )
    return own


def _refuse_rules(config: SessionConfig) -> None:
    files = allowing(config.env)
    if files:
        names = " and ".join(map(str, files))
        raise LaunchRefused(
            f"{LABEL} runs what your own rules allow without asking anybody, and nothing switches "
            f"them off while Barry drives it: {names}",
            hint='move that away meanwhile, or write decision="prompt" in each rule there',
        )


def _trust(draft: PlanDraft) -> None:
    """A folder's own settings, rules and servers may come from anybody: it is not trusted where
    it has some. Its AGENTS.md is read where it has none. Said in any case, since Codex would
    note in the user's settings that it trusts the folder.
    """
    here = Path(draft.config.cwd).resolve()
    own = [each for each in project_folders(here, draft.config.env) if _holds_something(each)]
    level = "untrusted" if own else "trusted"
    # Where a folder above is trusted, what lies there would be loaded all the same.
    places = [here, *here.parents] if own else [here]
    set_value(draft, "projects", {str(place): {"trust_level": level} for place in places})
    if own:
        names = " and ".join(map(str, own))
        draft.warn(f"{names} is left unread, and AGENTS.md with it: it may come from anybody")


def _holds_something(folder: Path) -> bool:
    """Codex's sandbox may leave an empty one behind."""
    try:
        return any(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


# --- conversations ---


def _find(id: str, place: Place) -> Path | None:
    return Rollouts().find(id, place.cwd, place.env)


def _where(id: str, place: Place) -> Path:
    """Where Codex would have written it: by the time that is in the id."""
    began = datetime.fromtimestamp((uuid.UUID(id).int >> 80) / 1000, UTC)
    name = f"rollout-{began:%Y-%m-%dT%H-%M-%S}-{id}.jsonl"
    return codex_home(place.env) / "sessions" / f"{began:%Y/%m/%d}" / name


class _Conversations(FileConversations):
    """Codex keeps a copy's beginning in the file of the conversation that it was made from."""

    def capture(self, id: str, place: Place, folder: Path) -> StoredConversation:
        """As any other's. Raises AgentFault (``session``) for one that isn't whole by itself."""
        path = self.locate(id, place)
        if path is not None and _base(path) is not None:
            raise AgentFault(
                "session",
                f"the conversation {id} is a copy, and {LABEL} keeps its beginning with "
                f"{_base(path)}: it can't be taken along by itself",
                hint="take along the conversation that it was made from",
            )
        return super().capture(id, place, folder)


def _base(path: Path) -> str | None:
    """The conversation that another one's file goes on from."""
    try:
        with path.open("rb") as lines:
            found: Any = json.loads(lines.readline())
        return str(found["payload"]["history_base"]["thread_id"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


CONVERSATIONS = _Conversations(name=ID, find=_find, where=_where)
