"""How pi is driven without its TUI: one process of its RPC mode that takes turn after turn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from barry_adapter_pi import arguments
from barry_adapter_pi.declared import HOSTED_GUARANTEES, HOSTED_NATIVE, ID, LABEL, NATIVE_TOOLS
from barry_adapter_pi.dialogue import Dialogue
from barry_adapter_pi.events import events, lost, quota, unavailable
from barry_adapter_pi.places import (
    has_extensions,
    refused_programs,
    session_files,
    session_folder,
)
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

GATE = Path(__file__).parent / "gate.js"

_LONGEST_LINE = 32 * 1024 * 1024
"""In bytes: the end of a turn tells all of it again, in one line."""

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
    return next((each.path for each in session_files(place.cwd, place.env) if each.id == id), None)


def _where(id: str, place: Place) -> Path:
    return session_folder(place.cwd, place.env) / f"{id}.jsonl"


_CONVERSATIONS = FileConversations(name=ID, find=_find, where=_where)


def agent(config: SessionConfig) -> AgentAdapter:
    """An agent for one session. Raises BarryError or AgentFault for what can't be had."""
    keeps = not config.ephemeral

    def request(input: AgentInput) -> Command:
        draft = _draft(config, input.home)
        denied = draft.denied(NATIVE_TOOLS, HOSTED_NATIVE)
        arguments.tools(draft, tuple(dict.fromkeys([*denied, *input.policy.denied_tools])))
        _conversation(draft, input)
        plan = draft.finish("pi")
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
    draft = _draft(config, None)
    draft.denied(NATIVE_TOOLS, HOSTED_NATIVE)
    return draft.finish("pi").warnings


def _draft(config: SessionConfig, home: str | None) -> _Draft:
    """All that is the same from turn to turn. Raises AgentFault where pi would run what nobody
    rules on.
    """
    _refuse_unruled(config)
    draft = _Draft(config, home)
    for name in ("decide", "resume", "max_turns"):  # the driver's, and the dialogue's
        getattr(draft.config, name)
    arguments.environment(draft)
    draft.args += ["--mode", "rpc", "--extension", str(GATE), "--no-extensions"]
    if has_extensions(config.cwd, config.env):
        draft.warn(
            "pi's extensions are left out while Barry drives it: their code could undo what it "
            "is held to"
        )
    arguments.model(draft)
    arguments.thinking(draft)
    arguments.prompt(draft)
    arguments.reach(draft)
    if draft.config.ephemeral:
        draft.args.append("--no-session")
    return draft


def _refuse_unruled(config: SessionConfig) -> None:
    instead = f"`barry session launch {ID}` starts pi's own UI, where a person is in charge"
    if config.extra_args:
        raise AgentFault(
            "configuration",
            f"{LABEL} takes no arguments of your own while Barry drives it: they could undo what "
            "it is held to",
            hint="leave them out; options go in with --option",
        )
    if (config.options or {}).get("extensions"):
        raise AgentFault(
            "configuration",
            "pi's extensions can't be kept while Barry drives it: their code can do what a call "
            "may not",
            hint=f"leave the option out; {instead}",
        )
    if what := refused_programs(config.cwd):
        raise AgentFault(
            "configuration",
            f"this folder's .pi/settings.json {what}",
            hint=f"look into it, and move it to your own settings or away; {instead}",
        )


def _conversation(draft: PlanDraft, input: AgentInput) -> None:
    goes_on, config = input.continuation, input.config
    if goes_on is None:
        return
    path = _find(goes_on.id, Place(cwd=config.cwd, env=_texts(config)))
    if path is None:
        # By an id alone pi looks through every folder, and asks.
        raise AgentFault(
            "session",
            f"conversation_lost: {LABEL} has no conversation {goes_on.id} for {config.cwd}",
            hint="`barry session list` shows the ids",
        )
    draft.args += ["--fork" if goes_on.fork else "--session", str(path)]


def _texts(config: SessionConfig) -> dict[str, str]:
    return {name: value for name, value in config.env.items() if value is not None}
