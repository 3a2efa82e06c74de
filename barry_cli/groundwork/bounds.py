"""The bound of a launch: what applies, and which native tools have to go so that it holds.

Where nobody rules on single calls, or on those of a kind, a tool that could break a rule is
switched off whole; Barry's guarded tools take its place where the harness takes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from barry_cli.base.paths import Folders
from barry_cli.base.problems import Refused
from barry_cli.base.settings import read_settings
from barry_cli.contract.adapter import Adapter, CallKind
from barry_cli.contract.guarantees import lowered
from barry_cli.contract.levels import GatingLevel, ModeId, stronger
from barry_cli.groundwork.request import LaunchRequest
from barry_cli.policy.places import is_there, project_files

if TYPE_CHECKING:
    from barry_cli.contract.plan import LaunchPlan
    from barry_cli.policy.holding import Holding
    from barry_cli.policy.lookup import Effective
    from barry_cli.registry.adapters import Adapters


@dataclass(frozen=True, slots=True)
class Held:
    """What a launch is held to."""

    off: tuple[str, ...] = ()
    """The native tools that it switches off for it."""
    bound: Mapping[str, object] | None = None
    """All of it, as the row keeps it: a session that goes on is held to no less."""
    sources: tuple[str, ...] = ()
    """Where it comes from."""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    """Barry's own tools that take the place of what is switched off."""
    servers_out: bool = False
    """MCP servers of the user's own stay out: nobody rules on their calls."""
    at_most: GatingLevel | None = None
    """What this launch's gating comes to; None: what its mode promises."""
    because: str = ""
    """Why that is less."""

    def lower(self, plan: LaunchPlan) -> LaunchPlan:
        """The plan with no more gating than this launch has, and the reason."""
        if self.at_most is None or not stronger("gating", plan.guarantees.gating, self.at_most):
            return plan
        return replace(
            plan,
            guarantees=lowered(plan.guarantees, gating=self.at_most),
            lowered={**plan.lowered, "gating": self.because},
        )

    def come_to(self, plan: LaunchPlan) -> Held:
        """What is left of it in a plan: an adapter may not be able to bring Barry's server."""
        from barry_cli.guard.table import NAMESPACE

        if NAMESPACE not in plan.servers_left_out:
            return self
        lost = "Barry's own tools can't be brought here: nothing takes the place of what is off"
        notes = (lost if note == _brought(self.guarded) else note for note in self.notes)
        return replace(self, guarded=(), notes=tuple(notes))


NOTHING_HELD = Held()


def applying(
    request: LaunchRequest, adapter_id: str, cwd: str, folders: Folders, registry: Adapters
) -> Effective | None:
    """The bounds of a launch in a folder; None where nothing applies and nothing was asked for.

    Raises what ``effective_bound`` does.
    """
    asked = request.bounds or request.traits or request.held_to
    # Nearly every launch ends here: what follows is dear to import.
    if not (
        asked
        or read_settings(folders).bounds_always
        or any(is_there(path) for path in project_files(cwd))
    ):
        return None
    from barry_cli.policy.bound_file import bound_of
    from barry_cli.policy.lookup import effective_bound

    held_to = request.held_to
    return effective_bound(
        folders,
        registry.rows(),
        cwd,
        asked=request.bounds,
        traits=request.traits,
        harness=adapter_id,
        held_to=None if held_to is None else bound_of("of the session before", dict(held_to)),
    )


def restricts(found: Effective | None) -> bool:
    """Whether what applies takes anything away."""
    return found is not None and (found.bound is not None or bool(found.traits))


def hold(
    found: Effective | None,
    adapter: Adapter,
    mode: ModeId,
    registry: Adapters,
    *,
    relax: bool,
    gating: GatingLevel = "static",
    ruled: Sequence[CallKind] | None = None,
    refused: Sequence[str] = (),
) -> Held:
    """How a session in this mode holds what applies to it. ``gating``: what rules on its calls;
    ``ruled``: on which kinds of them, all when absent. ``refused``: tools that the caller denied.

    Raises NotAllowed and Refused where it can't.
    """
    if found is None:
        return NOTHING_HELD
    from barry_cli.contract.data import snapshot
    from barry_cli.guard.table import RULES, offered
    from barry_cli.policy.holding import holding, refuse_what_no_launch_holds

    refuse_what_no_launch_holds(found.bound, sandbox=False)
    record = registry.record(adapter.id)
    table = {} if record.bag is None else record.bag.manifest.tools
    held = holding(
        found.bound,
        record,
        mode,
        gating,
        traits=found.traits,
        listed=None if record.bag is None else tuple(table),
        ruled=ruled,
        agents=[name for name, row in table.items() if row.kind == "agent"],
        refused=refused,
        guarded=RULES,
    )
    _refuse_conflicts(adapter, held)
    # Driven sessions are ruled on in full: nothing is missing there that a tool could replace.
    guarded = () if mode == "hosted" else offered(found.bound, held.kinds_back, found.traits)
    takes_servers = "stdio" in adapter.capabilities.mcp_transports
    unruled = "mcp" in held.unruled and not relax
    brought = guarded if takes_servers else ()
    at_most, because = _less(adapter, held, gating, relax)
    return Held(
        off=held.off,
        bound=None if found.bound is None else snapshot(found.bound),
        sources=tuple(source.label for source in found.sources),
        warnings=tuple(_warnings(found, adapter, held, relax)),
        notes=(
            *found.notes,
            *_notes(found, held, gating),
            *_guarded_notes(adapter, guarded, takes_servers=takes_servers),
            *_server_notes(unruled, came=bool(brought), relax=relax),
        ),
        guarded=brought,
        # Even where Barry's can't be brought: another of its name must not stand in for it.
        servers_out=unruled or bool(brought and not relax),
        at_most=at_most,
        because=because,
    )


def _less(
    adapter: Adapter, held: Holding, gating: GatingLevel, relax: bool
) -> tuple[GatingLevel | None, str]:
    """What gating comes to where something that nobody rules on stays, and why."""
    if gating not in ("hooks", "per-call"):
        return None, ""
    if held.taken_back and adapter.capabilities.tool_denial == "none":
        tools = ", ".join(held.taken_back)
        return "none", f"{adapter.label} can't switch off {tools}, and nobody rules on their calls"
    stuck = [tool for tool in held.taken_back if tool in held.uncontrolled]
    if stuck:
        said = f"{adapter.label} keeps {', '.join(stuck)}, and nobody was shown to rule on"
        return "static", f"{said} {'its' if len(stuck) == 1 else 'their'} calls"
    if "mcp" in held.unruled and relax:
        return "static", (
            "with --relax the harness loads MCP servers of its own, and nobody was shown to rule "
            "on their calls"
        )
    return None, ""


def _refuse_conflicts(adapter: Adapter, held: Holding) -> None:
    if not held.conflicts:
        return
    tool, why = next(iter(held.conflicts.items()))
    raise Refused(
        f"{adapter.label}'s tool {tool} is granted by a trait, and {why}",
        hint="take the tool out of the trait, or the restriction out of the bound: "
        "`barry bound show --harness` has both",
        details={"adapterId": adapter.id, "conflicts": dict(held.conflicts)},
    )


def _warnings(found: Effective, adapter: Adapter, held: Holding, relax: bool) -> list[str]:
    said = [f"the bound does not hold here: {each}" for each in held.beyond]
    if held.off and adapter.capabilities.tool_denial == "none":
        said.append(
            f"the bound does not hold here: {adapter.label} can't switch off {', '.join(held.off)}"
        )
    elif held.operator_override:
        said.append(f"you can get round what is switched off: {held.operator_override}")
    if relax and found.bound is not None:
        said.append(
            "with --relax the harness loads MCP servers of its own, and nobody rules on their calls"
        )
    return said


def _notes(found: Effective, held: Holding, gating: GatingLevel) -> list[str]:
    said = []
    if found.sources:
        said.append(f"held to {', '.join(source.label for source in found.sources)}")
    by_field: dict[str, list[str]] = {}
    for tool, field in held.taken_back.items():
        by_field.setdefault(field, []).append(tool)
    why = "nobody rules on single calls in this mode"
    if gating in ("hooks", "per-call"):
        why = "nobody was shown to rule on such calls in this mode"
    said += [
        f"{', '.join(tools)} switched off: {why}, and {field} could be broken through them"
        for field, tools in by_field.items()
    ]
    return [*said, *held.notes]


def _guarded_notes(adapter: Adapter, guarded: tuple[str, ...], *, takes_servers: bool) -> list[str]:
    if not guarded:
        return []
    if not takes_servers:
        none = f"{adapter.label} takes no MCP server that it could start"
        return [f"{none}, so nothing takes the place of what is switched off"]
    return [_brought(guarded)]


def _brought(guarded: tuple[str, ...]) -> str:
    return f"Barry's own {', '.join(guarded)} (MCP server barry): every call of them is ruled on"


def _server_notes(out: bool, *, came: bool, relax: bool) -> list[str]:
    if relax or not (out or came):
        return []
    why = ": nobody was shown to rule on their calls" if out else ""
    return [f"MCP servers of the harness's own are left out{why}; --relax loads them, too"]
