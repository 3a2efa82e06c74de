"""From what was asked for to what would start: every check, and the plan; nothing runs yet.

The order is that of the steps of a launch: record, code, mode, folder, environment, program and
build, model, native tools, plan, promise.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from barry_cli.base.ids import new_id
from barry_cli.base.paths import Folders
from barry_cli.base.problems import BarryError, Refused
from barry_cli.base.secrets import redact
from barry_cli.contract.adapter import Adapter, LaunchMode
from barry_cli.contract.draft import made
from barry_cli.contract.guarantees import changed, lowered, raised
from barry_cli.contract.levels import ModeId
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import SessionConfig
from barry_cli.groundwork import environment
from barry_cli.groundwork.asked import as_before, check_platform, check_text, made_whole, unfit
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


def discard(plan: LaunchPlan) -> None:
    """Remove the folders that a plan made, spawned or not."""
    _remove(plan.tmp_dirs)


def _remove(folders: Iterable[str]) -> None:
    for folder in folders:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


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
        instruments = _instruments(session_id, adapter, bound, cwd, folders, registry, program)
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
        plan = held.lower(planned)
    except BaseException:
        if instruments is not None:
            instruments.discard()
        raise
    try:
        _check_denials(adapter, denied, plan)
        if instruments is not None and restricts(bound):
            _refuse_unruled(adapter, chosen.mode, planned)
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
) -> Instruments:
    # It brings asyncio along, which a launch that hands over can do without.
    from barry_cli.launch.instruments import arrange

    bag = registry.record(adapter.id).bag
    return arrange(
        session_id,
        adapter=adapter,
        manifest=bag.manifest if bag is not None else None,
        bound=bound.bound if bound is not None else None,
        cwd=cwd,
        folders=folders,
        env=program.env,
        program=program.path,
    )


def _refuse_unruled(adapter: Adapter, mode: LaunchMode, plan: LaunchPlan) -> None:
    """What a bound takes back was decided by what the mode rules on: a plan that can't arrange that
    holds no bound.
    """
    if mode.guarantees.gating == "hooks" and plan.guarantees.gating != "hooks":
        raise Refused(
            f"the bound can't be held: {plan.lowered['gating']}",
            hint="guest mode switches off what could break the bound",
            details={"adapterId": adapter.id},
        )


def tried(
    plan: LaunchPlan, adapter: Adapter, instruments: Instruments, cwd: str, *, restricted: bool
) -> LaunchPlan:
    """The plan with no more gating than its hooks were just seen to have.

    Raises Refused where a bound depends on them, or where nothing could rule at all.
    """
    if plan.guarantees.gating != "hooks":
        return plan
    if instruments.installed is None and not plan.reports_loaded:
        raise Refused(
            f"the plan of adapter {adapter.id} promises to rule on calls, and neither a hook nor a "
            "plugin of it does",
            hint="this is a fault of the adapter; an update may mend it",
        )
    because = instruments.unsound(cwd)
    if because is None:
        return plan
    if restricted:
        raise Refused(
            f"the bound can't be held: {because}",
            hint="`barry doctor` looks closer; guest mode switches off what could break the bound",
            details={"adapterId": adapter.id},
        )
    return replace(
        plan,
        guarantees=lowered(plan.guarantees, gating="static"),
        lowered={**plan.lowered, "gating": because},
    )


def _hidden(plan: LaunchPlan, instruments: Instruments | None) -> tuple[str, ...]:
    return plan.secrets if instruments is None else (*plan.secrets, *instruments.secrets)


async def make_plan(adapter: Adapter, mode: LaunchMode, config: SessionConfig) -> LaunchPlan:
    """The adapter's plan, held to its mode's promise.

    Raises Refused when the adapter fails or promises more than its mode; then the folders that
    the plan made are gone.
    """
    before = len(made)
    try:
        with as_found():
            plan = await mode.plan(config)
    except BaseException as error:
        _remove(str(folder) for folder in made[before:])
        if isinstance(error, BarryError) or not isinstance(error, Exception | SystemExit):
            raise
        raise Refused(
            f"the adapter {adapter.id} failed while planning: {type(error).__name__}: {error}",
            hint="this is a fault of the adapter; `barry adapter check` on its folder may name it",
            details={"adapterId": adapter.id},
        ) from error
    problem = _plan_problem(mode, plan, config)
    if problem:
        if isinstance(plan, LaunchPlan):
            discard(plan)
        _remove(str(folder) for folder in made[before:])
        raise Refused(
            f"the plan of adapter {adapter.id} is refused: {problem}",
            hint="this is a fault of the adapter; an update may mend it",
            details={"adapterId": adapter.id},
        )
    return plan


def _plan_problem(mode: LaunchMode, plan: object, config: SessionConfig) -> str | None:
    if not isinstance(plan, LaunchPlan):
        return f"it is a {type(plan).__name__}, not a LaunchPlan"
    if more := raised(mode.guarantees, plan.guarantees):
        return f"it promises more than its mode in {', '.join(more)}"
    if silent := [
        name for name in changed(mode.guarantees, plan.guarantees) if name not in plan.lowered
    ]:
        return f"it lowers {', '.join(silent)} without a reason"
    if plan.guarantees.delivery not in ("none", "on-resume") and plan.inbox is None:
        return f"it promises delivery {plan.guarantees.delivery} and has no inbox"
    return _unfit_to_start(plan, config)


def _unfit_to_start(plan: LaunchPlan, config: SessionConfig) -> str | None:
    values = [value for value in plan.env.values() if value is not None]
    # What the user gave was looked at before, so this is of the adapter's own making.
    for text in (plan.command, *plan.args, *plan.env, *values):
        if problem := unfit(text, bytes_pass=True):
            return f"an argument or a variable {problem}"
    for kept in (plan.cwd, plan.harness_session_id):  # in the record of the session
        if kept is not None and (problem := unfit(kept)):
            return f"its folder or the conversation's id {problem}"
    if any(not name or "=" in name for name in plan.env):
        return "the name of a variable is empty or holds '='"
    if plan.cwd is not None and not os.path.isdir(plan.cwd):
        return f"it would start in {plan.cwd}, which is no folder"
    typed = set(config.extra_args or ())  # what the user types is the user's to show
    ours = [word for word in plan.args if word not in typed]
    if any(redact(word, plan.secrets) != word for word in ours):
        return "an argument holds a secret, which everybody on this machine could read"
    return None


def _check_denials(adapter: Adapter, denied: tuple[str, ...], plan: LaunchPlan) -> None:
    """A launch that was asked to deny tools and can't says so in its promise."""
    if denied and adapter.capabilities.tool_denial == "none" and plan.guarantees.gating != "none":
        raise Refused(
            f"the plan of adapter {adapter.id} promises to deny tools that its harness can't deny",
            hint="this is a fault of the adapter; an update may mend it",
        )
