"""Whether an adapter can run on this machine: what is asked before it is recorded."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from barry_cli.base.paths import Folders, folders
from barry_cli.base.problems import HarnessCannotRun, HarnessNotFound
from barry_cli.contract.adapter import Adapter
from barry_cli.registry.binaries import find_binary, install_hint, reachable
from barry_cli.registry.builds import judge
from barry_cli.registry.login import check_login
from barry_cli.registry.probes import PATIENT_SECONDS, enough, probe


@dataclass
class Verdict:
    """What stands in the way of running an adapter here, and what only should be known."""

    problems: list[str] = field(default_factory=list)
    fix: str = ""
    """What to do about the problems."""
    warnings: list[str] = field(default_factory=list)


async def vet(
    adapter: Adapter,
    *,
    env: Mapping[str, str] | None = None,
    home: Folders | None = None,
    waiting: Callable[[str], None] | None = None,
) -> Verdict:
    """Look for the program, its build and a login. A missing or unrunnable program is a problem;
    another build and a missing login are warnings. ``waiting``: as for ``probe``.
    """
    env = os.environ if env is None else env
    verdict = Verdict()
    needs = adapter.requirements
    if needs.platforms is not None and sys.platform not in needs.platforms:
        verdict.problems.append(
            f"{adapter.label} does not run on {sys.platform}, only on {', '.join(needs.platforms)}"
        )
        return verdict
    modes = [mode for mode in adapter.modes.values() if mode is not None]
    if all(getattr(mode, "build", "binary") == "bundled" for mode in modes):
        return verdict
    try:
        found = find_binary(needs.binary, env)
    except (HarnessNotFound, HarnessCannotRun) as problem:
        verdict.problems.append(str(problem))
        verdict.fix = problem.hint
        return verdict
    asked = reachable(enough(env), found.path)
    seen = probe(
        needs.binary,
        found.path,
        asked,
        seconds=PATIENT_SECONDS,
        folders=home or folders(),
        waiting=waiting,
    )
    if not seen.ran:
        verdict.problems.append(f"{found.path} can't be run: {seen.why_not}")
        verdict.fix = f"install it anew: {install_hint(needs.binary)}"
        return verdict
    if seen.version is None:
        verdict.warnings.append(f"the build of {found.path} is not known: {seen.why_not}")
        return verdict
    judged = judge(seen.version, needs.binary.pin.version, needs.binary.pin)
    if judged == "unverified":
        verdict.warnings.append(
            f"build {seen.version} is near the verified {needs.binary.pin.version}: its guarantees "
            "will be recorded as unverified"
        )
    elif judged != "verified":
        verdict.warnings.append(
            f"build {seen.version} is not of the verified line ({needs.binary.pin.version}): "
            "launches will be refused without --allow-unverified-build"
        )
    verdict.warnings += [f"{each.text}; {each.fix}" for each in check_login(needs.login, env)]
    return verdict
