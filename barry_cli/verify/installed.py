"""The checks of an installed adapter, run on this machine's own program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barry_cli.base.paths import ensure_own
from barry_cli.base.problems import HarnessCannotRun, ModeNotOffered
from barry_cli.contract.levels import MODE_IDS, ModeId
from barry_cli.groundwork.surroundings import as_found
from barry_cli.registry.verified import forget_verified, record_verified
from barry_cli.turns.store.sessions import now

if TYPE_CHECKING:
    from barry_cli.base.paths import Folders
    from barry_cli.contract.adapter import Adapter, Mode
    from barry_cli.registry.adapters import Adapters
    from barry_cli.verify.proof import Proven


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of one mode's check here."""

    proven: Proven
    build: str | None
    """The build that ran, where it could be told."""
    verified_on: str
    check: str


async def verify(
    registry: Adapters,
    folders: Folders,
    adapter_id: str,
    modes: Sequence[ModeId],
    base_env: Mapping[str, str],
    *,
    waiting: Callable[[str], None] = lambda text: None,
) -> list[Verified]:
    """Run the check of each mode, or of every mode that the adapter offers; record what held.

    Each runs in a home of its own, against a scripted model on this machine. Raises
    ModeNotOffered, HarnessNotFound and HarnessCannotRun, and StoreProblem.
    """
    from barry_cli.verify.proof import prove

    record = registry.record(registry.resolve(adapter_id))
    with as_found():
        adapter = await registry.load(record.id)
    offered = [mode for mode in MODE_IDS if adapter.modes[mode] is not None]
    for asked in modes:
        if asked not in offered:
            raise ModeNotOffered(
                f"{adapter.label} offers no {asked} mode today",
                hint=f"it offers: {', '.join(offered)}",
                details={"adapterId": adapter.id, "mode": asked, "offered": offered},
            )
    found = []
    for mode_id in dict.fromkeys(modes or offered):
        mode: Mode | None = adapter.modes[mode_id]
        assert mode is not None
        program, build = _program(adapter, mode, base_env, folders)
        waiting(f"{adapter.id} {mode_id}: {mode.evidence.proves}")
        proven = await prove(
            adapter,
            record.entry.partition(":")[0].partition(".")[0],
            mode_id,
            program=program,
            base_env=base_env,
            keep_in=ensure_own(folders.cache / "proofs"),
        )
        if proven.shown and build is not None:
            record_verified(
                folders, adapter.id, mode_id, build, content_hash=record.content_hash, at=now()
            )
        elif not proven.shown:
            forget_verified(folders, adapter.id, mode_id)
        found.append(Verified(proven, build, mode.verified_on, mode.evidence.check))
    return found


def _program(
    adapter: Adapter, mode: Mode, base_env: Mapping[str, str], folders: Folders
) -> tuple[str | None, str | None]:
    """The program that a mode runs, and its build. None: the adapter brings its own."""
    if mode.build == "bundled":
        return None, mode.verified_on
    from barry_cli.groundwork.environment import cut
    from barry_cli.registry.binaries import find_binary, reachable
    from barry_cli.registry.probes import PATIENT_SECONDS, enough, probe

    binary = adapter.requirements.binary
    values = cut(base_env, also=adapter.requirements.environment).values
    found = find_binary(binary, values)
    seen = probe(
        binary,
        found.path,
        enough(reachable(values, found.path)),
        seconds=PATIENT_SECONDS,
        folders=folders,
    )
    if not seen.ran:
        raise HarnessCannotRun(
            f"{found.path} can't be run: {seen.why_not}",
            hint=f"`barry adapter doctor {adapter.id}` looks closer",
            details={"adapterId": adapter.id, "binary": found.path},
        )
    return found.path, seen.version
