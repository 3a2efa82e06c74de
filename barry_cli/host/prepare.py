"""From what was asked for to a turn that can begin: every check; nothing of the harness runs yet.

The order is that of a launch: record, code, mode, folder, environment, program and build, model,
native tools, promise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from barry_cli.base.ids import new_id
from barry_cli.base.paths import Folders
from barry_cli.base.problems import ConversationLost, ModeNotOffered, UsageProblem
from barry_cli.contract.adapter import Adapter, SessionMode
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.session import Resume, SessionConfig
from barry_cli.groundwork.asked import as_before, check_platform, check_text, made_whole, unfit
from barry_cli.groundwork.bounds import Held, applying, hold
from barry_cli.groundwork.conversation import find_conversation, place, recorded
from barry_cli.groundwork.following import settle
from barry_cli.groundwork.program import find_program, what_passes
from barry_cli.groundwork.promise import hidden_values, meant, refuse_less, together
from barry_cli.groundwork.routing import route
from barry_cli.groundwork.surroundings import as_found
from barry_cli.groundwork.writers import other_writers
from barry_cli.host.masking import Mask
from barry_cli.host.request import RunRequest
from barry_cli.host.ruling import Ruler
from barry_cli.turns.store.record import Record
from barry_cli.turns.store.sessions import SessionRow, Sessions

if TYPE_CHECKING:
    from barry_cli.contract.execution import Executor
    from barry_cli.contract.models import Endpoint
    from barry_cli.policy.lookup import Effective
    from barry_cli.registry.adapters import Adapters


@dataclass(frozen=True, kw_only=True)
class PreparedRun:
    """A headless turn with everything decided."""

    request: RunRequest
    adapter: Adapter
    mode: SessionMode
    config: SessionConfig
    program: str
    """The absolute path of what will be started."""
    version: str | None
    unverified: bool
    ruler: Ruler
    held: Held
    dropped: tuple[str, ...]
    mask: Mask
    """Hides the values that no text may show."""
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    resumed: SessionRow | None = None

    @property
    def session_id(self) -> str:
        return self.config.session_id

    def asked(self) -> dict[str, object]:
        """What a session that goes on with this one asks for again."""
        return {
            **self.request.start.asked(),
            "bound": self.held.bound,
            "boundSources": list(self.held.sources),
        }


def hosted_mode(adapter: Adapter) -> SessionMode:
    """The mode in which Barry drives. Raises ModeNotOffered when there is none today."""
    mode = adapter.modes["hosted"]
    if mode is not None:
        return mode
    offered = [name for name, each in adapter.modes.items() if each is not None]
    raise ModeNotOffered(
        f"{adapter.label} can't be driven by Barry today: it offers no hosted mode",
        hint=f"it offers {', '.join(offered)}: `barry session launch {adapter.id}` in a terminal",
        details={"adapterId": adapter.id, "mode": "hosted", "offered": offered},
    )


async def prepare(
    request: RunRequest, folders: Folders, registry: Adapters, base_env: Mapping[str, str]
) -> PreparedRun:
    """Decide everything about a turn. Raises what the tree of problems names."""
    asked = request.start
    if (problem := unfit(request.prompt)) is not None:
        raise UsageProblem(f"the prompt {problem}", hint="give it as plain text")
    sessions = Sessions(folders)
    with as_found():
        adapter = await registry.load(registry.resolve(asked.adapter))
    mode = hosted_mode(adapter)
    _can_go_on(request, adapter)
    row = recorded(asked, adapter.id, sessions, adapter.aliases)
    asked = as_before(asked, row)
    check_text(asked)
    cwd, moved = place(asked, row)
    found = applying(asked, adapter.id, cwd, folders, registry)
    check_platform(adapter)
    asked = made_whole(asked, adapter)
    held = hold(
        found, adapter, "hosted", registry, relax=asked.relax, gating=mode.guarantees.gating
    )
    denied = tuple(dict.fromkeys((*asked.denied_tools, *held.off)))
    values, warnings = what_passes(asked, adapter, registry, folders, base_env)
    program = find_program(adapter, mode, asked, values, folders)
    endpoint = await route(adapter, asked.model, registry, program.env)
    try:
        continued = find_conversation(asked, adapter, row, cwd, program.env)
    except ConversationLost as lost:  # there is nobody to pick another
        lost.hint = f'a new session knows nothing of it: barry session start {adapter.id} "..."'
        raise
    warnings += _cut_short(continued.session, folders)
    resume = _resume(continued.resume, fork=request.fork)
    warnings += other_writers(adapter, resume, cwd, program.env, sessions)
    ruler = Ruler(
        None if found is None else found.bound,
        registry.record(adapter.id),
        cwd,
        folders,
        denied=denied,
    )
    config = configure_harness_session(
        SessionConfig(
            session_id=new_id(),
            cwd=cwd,
            env={**program.env, "PWD": cwd},
            allowed_native_tools=adapter.native_tools,
            denied_tools=denied,
            decide=ruler,
            endpoint=endpoint,
            executor=_executor(adapter, program.path),
            extra_args=asked.extra_args,
            max_turns=request.max_turns,
            model=asked.model,
            options=dict(asked.options) or None,
            plugin_dirs=asked.plugin_dirs or None,
            project_roots=asked.roots or None,
            resume=resume,
            strict_mcp_config=False if asked.relax else None,
        ),
        adapter.native_tools,
        mode.native,
    )
    refuse_less(asked, mode.guarantees, {}, program.unverified)
    mask = Mask(hidden_values(program.env, _key(endpoint)))
    said = (*warnings, *held.warnings, *program.warnings)
    notes = (
        meant(asked.adapter, adapter),
        moved,
        *held.notes,
        together(config, denied, mode),
        _what_is_ruled_on(found, mode, adapter),
    )
    return PreparedRun(
        request=replace(request, start=asked),
        adapter=adapter,
        mode=mode,
        config=config,
        program=program.path,
        version=program.version,
        unverified=program.unverified,
        ruler=ruler,
        held=held,
        dropped=tuple(sorted(name for name in base_env if name not in program.env)),
        mask=mask,
        warnings=tuple(mask.text(text) for text in said),
        notes=tuple(mask.text(note) for note in notes if note),
        resumed=continued.session,
    )


def _key(endpoint: Endpoint | None) -> list[str]:
    key = endpoint.key if endpoint is not None else None
    return [] if key is None else [key.get_secret_value()]


def _can_go_on(request: RunRequest, adapter: Adapter) -> None:
    """Nobody is there to pick a conversation, and a copy is made of a named one alone."""
    asked = request.start
    if asked.pick or asked.resume == "" or asked.last:
        raise UsageProblem(
            f"{adapter.label} is driven without a person: name the conversation to go on with",
            hint="`barry session list` shows the sessions",
        )
    if request.fork and asked.resume is None:
        raise UsageProblem("a fork needs a session to copy", hint="give --fork SESSION")


def _cut_short(row: SessionRow | None, folders: Folders) -> list[str]:
    """What is not known of the session that goes on."""
    if row is None:
        return []
    settle(folders, row.id)
    turns = Record(folders).turns(row.id)
    if not turns or turns[-1]["state"] != "recovery_required":
        return []
    lost = f"the last turn of session {row.id} was lost with the process that ran it"
    return [f"{lost}: what it had begun may be done or not, and its conversation may not know"]


def _resume(resume: Resume | None, *, fork: bool) -> Resume | None:
    return resume if resume is None or not fork else resume.model_copy(update={"fork": True})


def _executor(adapter: Adapter, program: str) -> Executor:
    from barry_cli.base.local_executor import LocalExecutor

    return LocalExecutor(programs={adapter.requirements.binary.command: program})


def _what_is_ruled_on(found: Effective | None, mode: SessionMode, adapter: Adapter) -> str | None:
    if found is not None and found.bound is not None:
        return None
    if mode.guarantees.gating != "per-call":
        return f"no bound applies, and {adapter.label} does not ask: it does whatever it is set to"
    kept = "no bound applies: everything the harness asks for is allowed, except to change Barry's "
    return f"{kept}own files and those that steer {adapter.label}"
