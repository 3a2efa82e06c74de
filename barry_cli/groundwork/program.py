"""What a harness would start with: its environment, its program, and the build of that."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barry_cli.base.paths import Folders
from barry_cli.base.problems import HarnessCannotRun, HarnessNotFound, UsageProblem
from barry_cli.base.settings import read_settings
from barry_cli.contract.adapter import Adapter, Mode
from barry_cli.contract.levels import MODE_IDS
from barry_cli.groundwork import environment
from barry_cli.groundwork.request import LaunchRequest

if TYPE_CHECKING:
    from barry_cli.registry.adapters import Adapters


@dataclass(frozen=True, slots=True)
class Program:
    """What will run, and what is known of it."""

    path: str
    why: str
    version: str | None
    unverified: bool
    """Whether the mode's promise was never shown on this build or platform."""
    env: dict[str, str]
    warnings: list[str]


def what_passes(
    request: LaunchRequest,
    adapter: Adapter,
    registry: Adapters,
    folders: Folders,
    base: Mapping[str, str],
) -> tuple[dict[str, str], list[str]]:
    """The part of an environment that may pass, and what the user should know about it.

    Raises UsageProblem for names that are none and for variables that contradict each other.
    """
    from barry_cli.registry.login import conflicts

    for name in request.env:
        _check_name(name)
    settings = read_settings(folders)
    marks = {
        mark
        for row in registry.rows()
        for mark in row.get("requirements", {}).get("sessionMarks", ())
    }
    values = environment.cut(
        base,
        also=(*adapter.requirements.environment, *settings.env_pass, *request.env),
        never=marks,
        certainly=request.env,
    ).values
    for clash in conflicts(adapter.requirements, values):
        raise UsageProblem(
            f"{' and '.join(clash)} are both set, and {adapter.label} takes only one of them",
            hint=f"unset {clash[-1]} or {clash[0]}",
            details={"adapterId": adapter.id, "variables": list(clash)},
        )
    return values, [
        f"--env {name}: there is no such variable" for name in request.env if name not in base
    ]


def _check_name(name: str) -> None:
    if "=" in name:
        raise UsageProblem(
            f"--env takes the name of a variable, and {name.partition('=')[0]} comes with a value",
            hint="export the variable and pass its name: a value on a command line can be "
            "read by everybody on this machine",
        )
    if not name or any(letter in name for letter in "*?["):
        raise UsageProblem(
            f"--env takes the name of one variable, and {name!r} is none",
            hint="patterns go into config.toml, as pass = [...] under [env]",
        )


def find_program(
    adapter: Adapter,
    mode: Mode,
    request: LaunchRequest,
    values: dict[str, str],
    folders: Folders,
) -> Program:
    """The harness's program and its build.

    Raises HarnessNotFound, HarnessCannotRun and HarnessVersionMismatch.
    """
    not_shown_here = mode.platforms is not None and sys.platform not in mode.platforms
    doubtful = not_shown_here or adapter.experimental is not None
    if mode.build == "bundled":
        why = "carried by the adapter"
        return Program(sys.executable, why, mode.verified_on, doubtful, values, [])
    from barry_cli.registry.binaries import find_binary, reachable
    from barry_cli.registry.builds import require_family
    from barry_cli.registry.probes import PATIENT_SECONDS, enough, probe

    binary = adapter.requirements.binary
    found = find_binary(binary, values)
    env = reachable(values, found.path)
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
    return Program(
        path=found.path,
        why=found.why,
        version=seen.version,
        unverified=adapter.experimental is not None
        or (
            (not_shown_here or judged != "verified")
            and not _shown_here(adapter, mode, seen.version, folders)
        ),
        env=env,
        warnings=[unknown] if judged == "unknown" else [],
    )


def _shown_here(adapter: Adapter, mode: Mode, build: str | None, folders: Folders) -> bool:
    """Whether this machine has shown the mode's promise itself, on this build."""
    if build is None or not folders.verified.exists():
        return False
    from barry_cli.registry.store import read_rows
    from barry_cli.registry.verified import was_verified

    mode_id = next(name for name in MODE_IDS if adapter.modes[name] is mode)
    return any(
        was_verified(folders, adapter.id, mode_id, build, content_hash=str(row.get("contentHash")))
        for row in read_rows(folders)
        if row["id"] == adapter.id
    )


def whole_path(command: str, env: Mapping[str, str], adapter_id: str) -> str:
    """The path of a command that a plan names itself. Raises HarnessNotFound.

    What stands in the folder that is worked in never counts, whatever PATH says.
    """
    if os.path.isabs(command):
        return command
    if "/" not in command:
        for folder in env.get("PATH", os.defpath).split(os.pathsep):
            path = os.path.join(folder, command)
            if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    raise HarnessNotFound(
        f"{command}, which the adapter {adapter_id} would start, is not on PATH",
        hint=f"install it, or see `barry adapter show {adapter_id}`",
        details={"adapterId": adapter_id, "command": command},
    )
