"""Looks at this machine and the installed harnesses; changes nothing.

No adapter's code is loaded here. One that Barry ships and that is not installed is checked in a
child, as when it is added.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence

from pydantic import ValidationError

from barry_cli.base.paths import Folders
from barry_cli.base.problems import HarnessCannotRun, HarnessNotFound
from barry_cli.contract.data import snapshot
from barry_cli.contract.requirements import Requirements
from barry_cli.registry.adapters import Adapters
from barry_cli.registry.binaries import find_binary, install_hint, reachable
from barry_cli.registry.builds import judge
from barry_cli.registry.findings import Finding, Group
from barry_cli.registry.login import check_login, login_present
from barry_cli.registry.machine import look_at_machine, look_at_registry
from barry_cli.registry.probes import Probe, Question, enough, probe_many
from barry_cli.registry.records import InstalledAdapter, RecordedMode, find_installed
from barry_cli.registry.shipped import shipped_ids
from barry_cli.registry.store import Row

__all__ = ["Finding", "examine"]


async def examine(
    folders: Folders,
    ids: Sequence[str] | None,
    env: Mapping[str, str],
    *,
    machine: bool = True,
) -> AsyncGenerator[Finding, None]:
    """The machine's findings, then those of each adapter, group by group as they are complete.

    ``ids`` chooses adapters; None is all of them. A registry that can't be read is a finding too,
    and then it is the last one.
    """
    if machine:
        for finding in look_at_machine(folders, env):
            yield finding
    registry = look_at_registry(folders)
    if machine or registry.status == "broken":
        yield registry
    if registry.status == "broken":
        return
    patients = []
    for group, known in _chosen(Adapters(folders).rows(), ids):
        row = known
        if row is None:
            row, finding = await _not_added(group, folders)
            yield finding
        if row is None:
            continue
        patient = _Patient(group, row, folders, env)
        if patient.question is None:
            for finding in patient.findings:
                yield finding
        else:
            patients.append(patient)
    waiting = {patient.group.name: patient for patient in patients}
    questions = [patient.question for patient in patients if patient.question is not None]
    async for name, answer in probe_many(questions, folders=folders):
        patient = waiting[name]
        for finding in (*patient.findings, *patient.versions(answer)):
            yield finding


def _chosen(rows: Sequence[Row], ids: Sequence[str] | None) -> Iterator[tuple[Group, Row | None]]:
    if ids is None:
        yield from ((Group(row["id"]), row) for row in rows)
        return
    for each in dict.fromkeys(ids):
        row = find_installed(rows, each)
        yield Group(each if row is None else row["id"]), row


async def _not_added(group: Group, folders: Folders) -> tuple[Row | None, Finding]:
    """What would be recorded of a shipped adapter, and the word that it is not; else no row."""
    if group.name not in shipped_ids():
        fix = "`barry adapter list` shows those that are"
        return None, group.broken("record", "no adapter of this id is installed", fix)
    examined = await Adapters(folders).inspect(group.name)
    if examined.record is None:
        fix = "install Barry anew: its own copy of this adapter is not whole"
        return None, group.broken("package", "; ".join(examined.problems), fix)
    row = snapshot(examined.record)
    text = "Barry ships it, and it is not added yet"
    return row, group.warn("record", text, f"barry adapter add {group.name}")


class _Patient:
    """One adapter: what is found at once, and what its program is still to be asked."""

    def __init__(self, group: Group, row: Row, folders: Folders, env: Mapping[str, str]) -> None:
        self.group = group
        self.question: Question | None = None
        self.findings = [self._package(row, folders)]
        try:
            self._record = InstalledAdapter.model_validate(row)
        except ValidationError as error:
            where = ".".join(map(str, error.errors()[0]["loc"])) or "it"
            text = f"it can't be read by this Barry: {where} is not what it should be"
            self.findings.append(group.broken("record", text, _again(row)))
            return
        self.findings += self._standing()
        if self._runs_binary():
            self.findings.append(self._program(env))
        self.findings += self._login(env)

    def _package(self, row: Row, folders: Folders) -> Finding:
        path = row.get("path")
        match Adapters(folders).state(row):
            case "ok":
                return self.group.ok("package", f"{path}, as it was checked")
            case "gone":
                fix = f"bring it back, or forget it: barry adapter remove {row['id']}"
                return self.group.broken("package", f"{path} holds it no longer", fix)
            case "drifted":
                text = f"{path} has other files than those that were checked"
                return self.group.broken("package", text, _again(row))

    def _standing(self) -> Iterator[Finding]:
        """What holds of the adapter as such: its evidence and its platforms."""
        record, group = self._record, self.group
        if record.experimental is not None:
            yield group.warn(
                "evidence",
                f"experimental: {record.experimental}",
                "take none of its guarantees for granted; an update may bring the evidence",
            )
        where = record.requirements.platforms
        if where is not None and sys.platform not in where:
            text = f"this harness runs on {', '.join(where)}, and this is {sys.platform}"
            yield group.broken("platform", text, "use it on a machine of that kind")
            return
        elsewhere = [
            name
            for name, mode in record.modes.items()
            if mode is not None
            and mode.platforms is not None
            and sys.platform not in mode.platforms
        ]
        if elsewhere:
            yield group.warn(
                "platform",
                f"the guarantees of {', '.join(elsewhere)} were not shown on {sys.platform}",
                "take them as unverified here",
            )
        else:
            yield group.ok("platform", sys.platform)

    def _offered(self) -> dict[str, RecordedMode]:
        return {name: mode for name, mode in self._record.modes.items() if mode is not None}

    def _runs_binary(self) -> bool:
        return any(mode.build == "binary" for mode in self._offered().values())

    def _program(self, env: Mapping[str, str]) -> Finding:
        binary = self._record.requirements.binary
        try:
            found = find_binary(binary, env)
        except (HarnessNotFound, HarnessCannotRun) as problem:
            return self.group.broken("program", problem.message, problem.hint)
        asked = reachable(enough(env), found.path)
        self.question = Question(self.group.name, binary, found.path, asked)
        passed = f"; passed over: {'; '.join(found.tried)}" if found.tried else ""
        return self.group.ok("program", f"{found.path} ({found.why}){passed}")

    def _login(self, env: Mapping[str, str]) -> Iterator[Finding]:
        needs: Requirements = self._record.requirements
        concerns = check_login(needs.login, env)
        for concern in concerns:
            say = self.group.broken if concern.blocking else self.group.warn
            yield say("login", concern.text, concern.fix)
        if needs.login is not None and not concerns:
            there = login_present(needs.login, env)
            yield self.group.ok("login", f"{there} is there" if there else "none is needed")

    def versions(self, answer: Probe) -> Iterator[Finding]:
        """What the program's answer means for each mode that runs it."""
        binary = self._record.requirements.binary
        if answer.version is None:
            command = " ".join([answer.path, *binary.version_args])
            # An unknown build starts, with a warning.
            say = self.group.warn if answer.ran else self.group.broken
            yield say(
                "version",
                f"{answer.path}: {answer.why_not}",
                f"see what `{command}` says by hand, or install it anew: {install_hint(binary)}",
            )
            return
        by_build: dict[str, list[str]] = {}
        for name, mode in self._offered().items():
            if mode.build == "binary":
                by_build.setdefault(mode.verified_on, []).append(name)
        for verified_on, modes in by_build.items():
            yield self._version(answer.version, verified_on, modes)

    def _version(self, observed: str, verified_on: str, modes: list[str]) -> Finding:
        binary = self._record.requirements.binary
        which = ", ".join(modes)
        install = f"install {verified_on}: {install_hint(binary)}"
        match judge(observed, verified_on, binary.pin):
            case "verified" | "unknown":
                return self.group.ok("version", f"{observed}, the build that {which} was shown on")
            case "unverified":
                text = f"{observed}, and the guarantees of {which} were shown on {verified_on}"
                return self.group.warn("version", text, f"take them as unverified, or {install}")
            case "mismatch":
                text = f"{observed} is outside the family of {verified_on}, on which {which} was"
                text += " shown: a launch is refused"
                return self.group.broken(
                    "version", text, f"{install}; or launch with --allow-unverified-build"
                )


def _again(row: Row) -> str:
    """The command that records an adapter anew."""
    import shlex

    source = row["id"] if row.get("source") in ("shipped", "distribution") else row.get("path")
    return f"look at what changed, then: barry adapter add {shlex.quote(str(source))}"
