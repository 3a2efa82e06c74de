"""From what was asked for to what would start: every check, and the plan; nothing runs yet.

The order is that of the steps of a launch: record, code, mode, folder, environment, program and
build, model, native tools, plan, promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from barry_cli.base.ids import new_id
from barry_cli.base.paths import Folders
from barry_cli.base.secrets import redact
from barry_cli.contract.adapter import Adapter, LaunchMode
from barry_cli.contract.levels import ModeId
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import SessionConfig
from barry_cli.groundwork import environment
from barry_cli.groundwork.asked import as_before, check_platform, check_text, made_whole
from barry_cli.groundwork.bounds import NOTHING_HELD, Held, applying, hold, restricts
from barry_cli.groundwork.conversation import find_conversation, place, recorded
from barry_cli.groundwork.guarding import guarded_servers
from barry_cli.groundwork.program import Program, find_program, what_passes, whole_path
from barry_cli.groundwork.promise import (
    hidden_values,
    lowered_as_text,
    meant,
    refuse_less,
    together,
)
from barry_cli.groundwork.request import LaunchRequest
from barry_cli.groundwork.routing import route
from barry_cli.groundwork.surroundings import as_found
from barry_cli.groundwork.writers import other_writers
from barry_cli.launch.modes import choose_mode
from barry_cli.launch.planning import check_denials, discard, make_plan, refuse_unruled, tried
from barry_cli.turns.store.sessions import SessionRow, Sessions

if TYPE_CHECKING:
    from barry_cli.launch.instruments import Instruments
    from barry_cli.policy.lookup import Effective
    from barry_cli.registry.adapters import Adapters


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A launch with everything decided."""

    session_id: str
    request: LaunchRequest
    adapter: Adapter
    mode_id: ModeId
    mode: LaunchMode
    program: str
    """The absolute path of what will be started."""
    chosen_because: str
    version: str | None
    cwd: str
    env: Mapping[str, str]
    dropped: tuple[str, ...]
    plan: LaunchPlan
    unverified: bool
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    """What was decided for the user, said when there is somebody to read it."""
    conversation: str | None = None
    """The harness's id of it, where that is known before it starts."""
    resumed: SessionRow | None = None
    held: Held = NOTHING_HELD
    """The bound that this launch is held to."""
    instruments: Instruments | None = None
    """What rules and listens inside the harness, in instrumented mode."""

    def asked(self) -> dict[str, object]:
        """What a session that goes on with this one asks for again."""
        return {
            **self.request.asked(),
            "bound": self.held.bound,
            "boundSources": list(self.held.sources),
        }

    @property
    def argv(self) -> list[str]:
        """What is started: the program first."""
        return [self.program, *self.plan.args]

    @property
    def needs_parent(self) -> list[str]:
        """Why Barry has to stay while the harness runs; empty when it can hand over."""
        reasons = []
        if self.instruments is not None:
            reasons.append("its hooks speak to Barry")
        if self.plan.inbox is not None:
            reasons.append("it keeps an inbox")
        if self.plan.tmp_dirs:
            reasons.append("temporary folders are to be removed")
        if self.plan.discover_harness_session_id is not None:
            reasons.append("the conversation's id is to be found")
        if self.request.supervise:
            reasons.append("--supervise")
        return reasons

    def discard(self) -> None:
        """Remove the folders that the plan made, and the launch's own."""
        discard(self.plan)
        if self.instruments is not None:
            self.instruments.discard()


async def prepare(
    request: LaunchRequest, folders: Folders, registry: Adapters, base_env: Mapping[str, str]
) -> Prepared:
    """Decide everything about a launch.

    Raises what the tree of problems names; then nothing is left behind.
    """
    sessions = Sessions(folders)
    with as_found():
        adapter = await registry.load(registry.resolve(request.adapter))
    row = recorded(request, adapter.id, sessions, adapter.aliases)
    request = as_before(request, row)
    check_text(request)
    cwd, moved = place(request, row)
    bound = applying(request, adapter.id, cwd, folders, registry)
    restricted = bool(request.denied_tools) or restricts(bound)
    chosen = choose_mode(adapter, request.mode, restricted=restricted)
    check_platform(adapter)
    request = made_whole(request, adapter)
    held = hold(
        bound,
        adapter,
        chosen.id,
        registry,
        relax=request.relax,
        gating=chosen.mode.guarantees.gating,
        ruled=chosen.mode.ruled if chosen.id == "instrumented" else None,
        refused=request.denied_tools,
    )
    denied = tuple(dict.fromkeys((*request.denied_tools, *held.off)))
    values, warnings = what_passes(request, adapter, registry, folders, base_env)
    program = find_program(adapter, chosen.mode, request, values, folders)
    endpoint = await route(adapter, request.model, registry, program.env)
    continued = find_conversation(request, adapter, row, cwd, program.env)
    warnings += other_writers(adapter, continued.resume, cwd, program.env, sessions)
    session_id = new_id()
    instruments = None
    if chosen.id == "instrumented":
        instruments = _instruments(
            session_id,
            adapter,
            bound,
            cwd,
            folders,
            registry,
            program,
            denied=denied,
        )
    try:
        config = configure_harness_session(
            SessionConfig(
                session_id=session_id,
                cwd=cwd,
                env=program.env,
                allowed_native_tools=adapter.native_tools,
                denied_tools=denied,
                endpoint=endpoint,
                extra_args=request.extra_args,
                mcp_servers=guarded_servers(
                    held,
                    bound,
                    registry,
                    adapter.id,
                    cwd=cwd,
                    roots=request.roots,
                    names=program.env,
                    folders=folders,
                ),
                model=request.model,
                options=dict(request.options) or None,
                plugin_dirs=request.plugin_dirs or None,
                project_roots=request.roots or None,
                resume=continued.resume,
                strict_mcp_config=False if request.relax else held.servers_out or None,
                **(instruments.asked if instruments is not None else {}),
            ),
            adapter.native_tools,
            chosen.mode.native,
        )
        planned = await make_plan(adapter, chosen.mode, config)
        held = held.come_to(planned)
        plan = held.lower(planned)
    except BaseException:
        if instruments is not None:
            instruments.discard()
        raise
    try:
        check_denials(adapter, denied, plan)
        if instruments is not None and restricts(bound):
            refuse_unruled(adapter, chosen.mode, planned)
        if instruments is not None:
            plan = tried(plan, adapter, instruments, cwd, restricted=restricts(bound))
        refuse_less(request, plan.guarantees, plan.lowered, program.unverified)
        start_in = plan.cwd or cwd
        own_variables = instruments.variables if instruments is not None else {}
        env = environment.apply({**program.env, "PWD": start_in}, {**plan.env, **own_variables})
        own = plan.command == adapter.requirements.binary.command
        named = own or chosen.mode.build == "bundled"
        plan = replace(plan, secrets=_hidden(plan, instruments))
        hidden = hidden_values(env, plan.secrets)
        said = (
            *warnings,
            *held.warnings,
            *program.warnings,
            *plan.warnings,
            *lowered_as_text(plan.guarantees, plan.lowered),
        )
        return Prepared(
            session_id=config.session_id,
            request=request,
            adapter=adapter,
            mode_id=chosen.id,
            mode=chosen.mode,
            program=program.path if own else whole_path(plan.command, env, adapter.id),
            chosen_because=program.why if named else "named by the adapter's plan",
            version=program.version,
            cwd=start_in,
            env=env,
            dropped=tuple(sorted(name for name in base_env if name not in env)),
            plan=plan,
            unverified=program.unverified,
            warnings=tuple(redact(text, hidden) for text in said),
            notes=tuple(
                note
                for note in (
                    meant(request.adapter, adapter),
                    chosen.why,
                    moved,
                    *held.notes,
                    together(config, denied, chosen.mode),
                )
                if note
            ),
            conversation=plan.harness_session_id
            or (continued.resume.harness_session_id if continued.resume is not None else None),
            resumed=continued.session,
            held=held,
            instruments=instruments,
        )
    except BaseException:
        discard(plan)
        if instruments is not None:
            instruments.discard()
        raise


def _instruments(
    session_id: str,
    adapter: Adapter,
    bound: Effective | None,
    cwd: str,
    folders: Folders,
    registry: Adapters,
    program: Program,
    *,
    denied: Sequence[str],
) -> Instruments:
    # It brings asyncio along, which a launch that hands over can do without.
    from barry_cli.launch.instruments import arrange

    held_to = bound.bound if bound is not None else None
    if denied:
        from barry_cli.policy.merge import merge_bounds

        # What can't be switched off is refused call by call; a tool of another server's that has
        # the same name is another tool.
        held_to = merge_bounds(held_to, {"nativeTools": {adapter.id: list(denied)}})
    bag = registry.record(adapter.id).bag
    return arrange(
        session_id,
        adapter=adapter,
        manifest=bag.manifest if bag is not None else None,
        bound=held_to,
        cwd=cwd,
        folders=folders,
        env=program.env,
        program=program.path,
    )


def _hidden(plan: LaunchPlan, instruments: Instruments | None) -> tuple[str, ...]:
    return plan.secrets if instruments is None else (*plan.secrets, *instruments.secrets)
