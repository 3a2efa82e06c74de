"""The bound of a launch: what applies, and which native tools have to go so that it holds.

Where nobody rules on single calls, a tool that could break a rule is switched off whole, or the
launch is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barry_cli.base.paths import Folders
from barry_cli.base.problems import Refused
from barry_cli.base.settings import read_settings
from barry_cli.contract.adapter import Adapter
from barry_cli.contract.levels import GatingLevel, ModeId
from barry_cli.groundwork.request import LaunchRequest
from barry_cli.policy.places import is_there, project_files

if TYPE_CHECKING:
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
) -> Held:
    """How a session in this mode holds what applies to it. ``gating``: what rules on its calls.

    Raises NotAllowed and Refused where it can't.
    """
    if found is None:
        return NOTHING_HELD
    from barry_cli.contract.data import snapshot
    from barry_cli.policy.holding import holding, refuse_what_no_launch_holds

    refuse_what_no_launch_holds(found.bound, sandbox=False)
    record = registry.record(adapter.id)
    listed = None if record.bag is None else tuple(record.bag.manifest.tools)
    held = holding(found.bound, record, mode, gating, traits=found.traits, listed=listed)
    _refuse_conflicts(adapter, held)
    return Held(
        off=held.off,
        bound=None if found.bound is None else snapshot(found.bound),
        sources=tuple(source.label for source in found.sources),
        warnings=tuple(_warnings(found, adapter, held, relax)),
        notes=(*found.notes, *_notes(found, held)),
    )


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


def _notes(found: Effective, held: Holding) -> list[str]:
    said = []
    if found.sources:
        said.append(f"held to {', '.join(source.label for source in found.sources)}")
    by_field: dict[str, list[str]] = {}
    for tool, field in held.taken_back.items():
        by_field.setdefault(field, []).append(tool)
    said += [
        f"{', '.join(tools)} switched off: nobody rules on single calls in this mode, and {field} "
        "could be broken through them"
        for field, tools in by_field.items()
    ]
    return [*said, *held.notes]
