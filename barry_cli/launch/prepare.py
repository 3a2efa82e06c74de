"""From what was asked for to what would start: every check, and the plan; nothing runs yet.

The order is that of the steps of a launch: record, code, mode, folder, environment, program and
build, model, native tools, plan, promise.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from barry_cli.base.ids import nearest, new_id
from barry_cli.base.paths import Folders
from barry_cli.base.problems import (
    BarryError,
    GuaranteeNotMet,
    HarnessCannotRun,
    Refused,
    UsageProblem,
)
from barry_cli.contract.adapter import Adapter, LaunchMode
from barry_cli.contract.guarantees import Guarantees, changed, raised, satisfies
from barry_cli.contract.levels import ModeId
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import SessionConfig
from barry_cli.launch import environment
from barry_cli.launch.conversation import find_conversation, place, recorded
from barry_cli.launch.modes import choose_mode
from barry_cli.launch.request import LaunchRequest
from barry_cli.launch.routing import route
from barry_cli.launch.settings import read_settings
from barry_cli.turns.store.sessions import SessionRow, Sessions

if TYPE_CHECKING:
    from barry_cli.registry.adapters import Adapters
    from barry_cli.registry.records import InstalledAdapter


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
    resumed: SessionRow | None = None

    @property
    def argv(self) -> list[str]:
        """What is started: the program first."""
        return [self.program, *self.plan.args]

    @property
    def needs_parent(self) -> list[str]:
        """Why Barry has to stay while the harness runs; empty when it can hand over."""
        reasons = []
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
        """Remove the folders that the plan made."""
        discard(self.plan)


def discard(plan: LaunchPlan) -> None:
    """Remove the folders that a plan made, spawned or not."""
    if not plan.tmp_dirs:
        return
    import shutil

    for folder in plan.tmp_dirs:
        shutil.rmtree(folder, ignore_errors=True)


async def prepare(
    request: LaunchRequest, folders: Folders, registry: Adapters, base_env: Mapping[str, str]
) -> Prepared:
    """Decide everything about a launch.

    Raises what the tree of problems names; then nothing is left behind.
    """
    sessions = Sessions(folders)
    record = registry.record(request.adapter)
    adapter = await registry.load(record.id)
    row = recorded(request, adapter.id, sessions)
    request = _as_before(request, row)
    notes = []
    chosen = choose_mode(adapter, request.mode, restricted=bool(request.denied_tools))
    if chosen.why:
        notes.append(chosen.why)
    _check_platform(adapter)
    denied = _spelt(request.denied_tools, adapter)
    cwd, moved = place(request, row)
    if moved:
        notes.append(moved)
    roots = _existing("--root", request.roots)
    plugin_dirs = _existing("--plugin-dir", request.plugin_dirs)
    options = _options(request, adapter)
    cut, warnings = _environment(request, record, registry, folders, base_env)
    program = _program(adapter, chosen.mode, request, cut, folders)
    warnings += program.warnings
    passed = program.env
    endpoint = await route(adapter, request.model, registry, passed)
    continued = find_conversation(request, adapter, row, cwd, passed)
    session_id = new_id()
    config = configure_harness_session(
        SessionConfig(
            session_id=session_id,
            cwd=cwd,
            env=passed,
            allowed_native_tools=adapter.native_tools,
            denied_tools=denied,
            endpoint=endpoint,
            extra_args=request.extra_args,
            model=request.model,
            options=options,
            plugin_dirs=plugin_dirs,
            project_roots=roots,
            resume=continued.resume,
            strict_mcp_config=False if request.relax else None,
        ),
        adapter.native_tools,
        chosen.mode.native,
    )
    plan = await make_plan(adapter, chosen.mode, config)
    try:
        _check_denials(adapter, denied, plan)
        _require(request, plan.guarantees, plan.lowered, program.unverified)
    except BaseException:
        discard(plan)
        raise
    env = environment.apply({**passed, "PWD": plan.cwd or cwd}, plan.env)
    own = plan.command == adapter.requirements.binary.command
    named = own or chosen.mode.build == "bundled"
    return Prepared(
        session_id=session_id,
        request=request,
        adapter=adapter,
        mode_id=chosen.id,
        mode=chosen.mode,
        program=program.path if own else plan.command,
        chosen_because=program.why if named else "named by the adapter's plan",
        version=program.version,
        cwd=plan.cwd or cwd,
        env=env,
        dropped=tuple(name for name in cut.dropped if name not in env),
        plan=plan,
        unverified=program.unverified,
        warnings=(*warnings, *plan.warnings, *_lowered_as_text(plan)),
        notes=tuple(notes),
        resumed=continued.session,
    )


async def make_plan(adapter: Adapter, mode: LaunchMode, config: SessionConfig) -> LaunchPlan:
    """The adapter's plan, held to its mode's promise.

    Raises Refused when the adapter fails or promises more than its mode; then the folders that
    the plan made are gone.
    """
    try:
        plan = await mode.plan(config)
    except BarryError:
        raise
    except Exception as error:
        raise Refused(
            f"the adapter {adapter.id} failed while planning: {type(error).__name__}: {error}",
            hint="this is a fault of the adapter; `barry adapter check` on its folder may name it",
            details={"adapterId": adapter.id},
        ) from error
    problem = _plan_problem(mode, plan)
    if problem:
        if isinstance(plan, LaunchPlan):
            discard(plan)
        raise Refused(
            f"the plan of adapter {adapter.id} is refused: {problem}",
            hint="this is a fault of the adapter; an update may mend it",
            details={"adapterId": adapter.id},
        )
    return plan


def _plan_problem(mode: LaunchMode, plan: object) -> str | None:
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
    if "\0" in "".join((plan.command, *plan.args)):
        return "an argument holds a NUL character"
    return None


def _lowered_as_text(plan: LaunchPlan) -> list[str]:
    return [
        f"{name} is only {getattr(plan.guarantees, name)} in this launch: {because}"
        for name, because in plan.lowered.items()
    ]


def _as_before(request: LaunchRequest, row: SessionRow | None) -> LaunchRequest:
    """A resumed session asks for what it asked for before; what is asked now is added or wins.

    Denials only add up: going on with a session never widens what it may do.
    """
    if row is None:
        return request
    asked = row.asked

    def both(before: object, now: tuple[str, ...]) -> tuple[str, ...]:
        old = [str(each) for each in before] if isinstance(before, list) else []
        return tuple(dict.fromkeys((*old, *now)))

    model = asked.get("model")
    options = asked.get("options")
    mode = request.mode
    if mode is None and row.mode in ("guest", "instrumented"):
        mode = "guest" if row.mode == "guest" else "instrumented"
    return replace(
        request,
        mode=mode,
        model=request.model or (str(model) if model else None),
        roots=both(asked.get("roots"), request.roots),
        env=both(asked.get("env"), request.env),
        plugin_dirs=both(asked.get("pluginDirs"), request.plugin_dirs),
        denied_tools=both(asked.get("deniedTools"), request.denied_tools),
        options={**(options if isinstance(options, dict) else {}), **request.options},
        relax=request.relax or bool(asked.get("relax")),
    )


def _check_platform(adapter: Adapter) -> None:
    here = "win32" if sys.platform == "win32" else sys.platform
    platforms = adapter.requirements.platforms
    if platforms is not None and here not in platforms:
        raise Refused(
            f"{adapter.label} does not run on {here}",
            hint=f"it runs on {', '.join(platforms)}",
            details={"adapterId": adapter.id, "platform": here},
        )


def _spelt(denied: tuple[str, ...], adapter: Adapter) -> tuple[str, ...]:
    """Denied tools as the harness spells them: a denial that names nothing must not pass."""
    spelt = {tool.casefold(): tool for tool in adapter.native_tools}
    found = []
    for tool in denied:
        name = spelt.get(tool.casefold())
        if name is None:
            close = nearest(tool, adapter.native_tools)
            raise UsageProblem(
                f"{adapter.label} has no tool named {tool}, so denying it would deny nothing",
                hint=f"did you mean {close}?"
                if close
                else f"its tools: {', '.join(adapter.native_tools)}",
                details={"adapterId": adapter.id, "tool": tool},
            )
        found.append(name)
    return tuple(dict.fromkeys(found))


def _existing(flag: str, paths: tuple[str, ...]) -> tuple[str, ...] | None:
    if not paths:
        return None
    absolute = tuple(os.path.abspath(os.path.expanduser(path)) for path in paths)
    for path in absolute:
        if not os.path.isdir(path):
            raise UsageProblem(f"{flag} {path} is not a folder", hint="give one that exists")
    return absolute


def _options(request: LaunchRequest, adapter: Adapter) -> dict[str, object] | None:
    if not request.options:
        return None
    if adapter.options is None:
        raise UsageProblem(
            f"{adapter.label} takes no options",
            hint=f"`barry adapter show {adapter.id}` shows what it takes",
        )
    from barry_cli.registry.options import validate_options

    problems = validate_options(adapter.options, dict(request.options))
    if problems:
        raise UsageProblem(
            f"--option: {'; '.join(problems)}",
            hint=f"`barry adapter show {adapter.id}` shows the options",
            details={"problems": problems},
        )
    return dict(request.options)


def _environment(
    request: LaunchRequest,
    record: InstalledAdapter,
    registry: Adapters,
    folders: Folders,
    base: Mapping[str, str],
) -> tuple[environment.Environment, list[str]]:
    """The environment that may pass, and what the user should know about it."""
    from barry_cli.registry.login import conflicts

    for name in request.env:
        if "=" in name:
            raise UsageProblem(
                f"--env takes the name of a variable, and {name.partition('=')[0]} comes with a "
                "value",
                hint="export the variable and pass its name: a value on a command line can be "
                "read by everybody on this machine",
            )
    settings = read_settings(folders)
    marks = {
        mark
        for row in registry.rows()
        for mark in row.get("requirements", {}).get("sessionMarks", ())
    }
    cut = environment.cut(
        base,
        also=(*record.requirements.environment, *settings.env_pass, *request.env),
        never=marks - set(request.env),
    )
    for clash in conflicts(record.requirements, cut.values):
        raise UsageProblem(
            f"{' and '.join(clash)} are both set, and {record.label} takes only one of them",
            hint=f"unset {clash[-1]} or {clash[0]}",
            details={"adapterId": record.id, "variables": list(clash)},
        )
    return cut, [
        f"--env {name}: there is no such variable" for name in request.env if name not in base
    ]


@dataclass(frozen=True, slots=True)
class _Program:
    """What will run, and what is known of it."""

    path: str
    why: str
    version: str | None
    unverified: bool
    """Whether the mode's promise was never shown on this build or platform."""
    env: dict[str, str]
    warnings: list[str]


def _program(
    adapter: Adapter,
    mode: LaunchMode,
    request: LaunchRequest,
    cut: environment.Environment,
    folders: Folders,
) -> _Program:
    not_shown_here = mode.platforms is not None and sys.platform not in mode.platforms
    doubtful = not_shown_here or adapter.experimental is not None
    if mode.build == "bundled":
        why = "carried by the adapter"
        return _Program(sys.executable, why, mode.verified_on, doubtful, cut.values, [])
    from barry_cli.registry.binaries import find_binary, reachable
    from barry_cli.registry.builds import require_family
    from barry_cli.registry.probes import PATIENT_SECONDS, enough, probe

    binary = adapter.requirements.binary
    found = find_binary(binary, cut.values)
    env = reachable(cut.values, found.path)
    seen = probe(binary, found.path, enough(env), seconds=PATIENT_SECONDS, folders=folders)
    if not seen.ran:
        raise HarnessCannotRun(
            f"{found.path} can't be run: {seen.why_not}",
            hint=f"`barry adapter doctor {adapter.id}` looks closer",
            details={"adapterId": adapter.id, "binary": found.path},
        )
    judged = require_family(
        adapter.id,
        found.path,
        seen.version,
        mode.verified_on,
        binary.pin,
        allow_unverified=request.allow_unverified_build,
    )
    unknown = f"the build of {found.path} is not known: {seen.why_not}"
    return _Program(
        path=found.path,
        why=found.why,
        version=seen.version,
        unverified=doubtful or judged == "unverified",
        env=env,
        warnings=[unknown] if judged == "unknown" else [],
    )


def _check_denials(adapter: Adapter, denied: tuple[str, ...], plan: LaunchPlan) -> None:
    """A launch that was asked to deny tools and can't says so in its promise."""
    if denied and adapter.capabilities.tool_denial == "none" and plan.guarantees.gating != "none":
        raise Refused(
            f"the plan of adapter {adapter.id} promises to deny tools that its harness can't deny",
            hint="this is a fault of the adapter; an update may mend it",
        )


def _require(
    request: LaunchRequest, have: Guarantees, because: Mapping[str, str], unverified: bool
) -> None:
    """Refuse what was required and isn't there; an unverified promise counts as none."""
    if not request.require:
        return
    try:
        missing = satisfies(have, request.require)
    except ValueError as error:
        raise UsageProblem(f"--require: {error}", hint="write --require gating=static") from error
    for name, got in missing.items():
        reason = because.get(name)
        raise GuaranteeNotMet(
            f"this launch has {name} {got}, and {request.require[name]} is required"
            + (f": {reason}" if reason else ""),
            hint="another mode or harness may have it; `barry adapter show` compares them",
            details={"guarantee": name, "required": request.require[name], "has": got},
        )
    if unverified and not request.allow_unverified_build:
        raise GuaranteeNotMet(
            "a guarantee is required, and on this build or platform none was shown to hold",
            hint="install the verified build, or pass --allow-unverified-build to take it as it is",
            details={"required": dict(request.require)},
        )
