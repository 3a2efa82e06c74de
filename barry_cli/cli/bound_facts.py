"""What `barry bound` shows: names, what applies in a folder, what a harness makes of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from barry_cli.base.problems import BarryError, UsageProblem
from barry_cli.contract.levels import MODE_IDS, GatingLevel, ModeId
from barry_cli.policy.holding import Holding, holding, refuse_what_no_launch_holds
from barry_cli.policy.problems import NotAllowed

if TYPE_CHECKING:
    from barry_cli.base.paths import Folders
    from barry_cli.policy.lookup import Effective
    from barry_cli.registry.adapters import Adapters
    from barry_cli.registry.records import InstalledAdapter
    from barry_cli.registry.store import Row


@dataclass(frozen=True, slots=True)
class Listed:
    """A name that --bound or --trait takes."""

    name: str
    kind: Literal["bound", "trait"]
    whose: str
    place: str
    description: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Native:
    """What becomes of a harness's own tools in one mode."""

    harness: str
    mode: ModeId
    gating: GatingLevel
    held: Holding
    refused: tuple[str, ...] = ()
    """Why a session in this mode would be refused."""
    lowered: tuple[str, ...] = ()
    """What would hold less than it says."""


def named(folders: Folders, rows: Sequence[Row]) -> list[Listed]:
    """Every named bound, then every trait; what can't be read is listed with its problems."""
    from barry_cli.policy.bound_file import BoundRefused
    from barry_cli.policy.lookup import known_traits
    from barry_cli.policy.named import NamedBounds

    found = []
    for each in NamedBounds(folders, rows).all():
        about: str = ""
        problems: tuple[str, ...] = ()
        try:
            about = each.read().description or ""
        except BoundRefused as problem:
            problems = tuple(problem.problems)
        except BarryError as problem:  # it went away just now
            problems = (str(problem),)
        whose = {"own": "you", "shipped": "barry"}.get(each.kind, each.owner)
        found.append(Listed(each.name, "bound", whose, each.place, about, problems))
    for name, trait in known_traits(rows).items():
        owner, colon, short = name.rpartition(":")
        if colon:
            about = f"{trait.access} of {', '.join(trait.namespaces) or 'no namespace'}"
            found.append(Listed(short, "trait", owner, f"the bag of {owner}", about))
    return found


def folder(cwd: str | None) -> str:
    """The folder that is asked about, absolute. Raises UsageProblem for one that isn't there."""
    from barry_cli.groundwork.conversation import absolute

    place = absolute(cwd or ".", "--cwd")
    if not os.path.isdir(place):
        raise UsageProblem(f"the folder {place} does not exist", hint="give --cwd one that does")
    return place


def applying(
    folders: Folders,
    rows: Sequence[Row],
    cwd: str,
    bounds: Sequence[str],
    traits: Sequence[str],
    harness: str | None,
) -> Effective:
    """The bounds that apply in a folder."""
    from barry_cli.policy.lookup import effective_bound

    return effective_bound(folders, rows, cwd, asked=bounds, traits=traits, harness=harness)


def native(registry: Adapters, id: str, mode: str | None, found: Effective) -> Native:
    """What becomes of a harness's own tools under what applies. Raises UsageProblem."""
    from barry_cli.guard.table import RULES

    record = registry.record(id)
    chosen = _mode(record, mode)
    recorded = record.modes[chosen]
    assert recorded is not None
    gating = recorded.guarantees.gating
    table = {} if record.bag is None else record.bag.manifest.tools
    held = holding(
        found.bound,
        record,
        chosen,
        gating,
        traits=found.traits,
        listed=None if record.bag is None else tuple(table),
        ruled=recorded.ruled if chosen == "instrumented" else None,
        agents=[name for name, row in table.items() if row.kind == "agent"],
        guarded=RULES,
    )
    lowered = []
    if held.off and record.capabilities.tool_denial == "none":
        lowered.append(f"{record.label} can't switch off {', '.join(held.off)}")
    return Native(
        record.id, chosen, gating, held, refused=tuple(_refused(found)), lowered=tuple(lowered)
    )


def _refused(found: Effective) -> Iterator[str]:
    """Why nothing starts under what applies, whatever the harness."""
    try:
        refuse_what_no_launch_holds(found.bound, sandbox=False)
    except NotAllowed as problem:
        yield str(problem)


def _mode(record: InstalledAdapter, asked: str | None) -> ModeId:
    offered = [mode for mode in MODE_IDS if record.modes.get(mode) is not None]
    if asked is None and record.default_mode in offered:
        return record.default_mode
    for mode in offered:
        if asked in (None, mode):
            return mode
    raise UsageProblem(
        f"{record.label} has no mode {asked}", hint=f"its modes: {', '.join(offered)}"
    )
