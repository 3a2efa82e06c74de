"""An adapter under test: loaded as ``barry adapter add`` would, planned in a home of its own."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from barry_cli.base.problems import BarryError
from barry_cli.contract.adapter import Adapter, LaunchMode
from barry_cli.contract.instrument import HookCall, Instrument
from barry_cli.contract.levels import ModeId
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import SessionConfig
from barry_cli.launch.inside import Within
from barry_cli.registry.content import PackageProblem
from barry_cli.registry.examine import Examined, examine
from barry_cli.registry.ledger import describe
from barry_cli.registry.load import load_object
from barry_cli.registry.package import read_package

LOAD_SECONDS = 60.0

CONVERSATION = "6f1c2a34-9f5e-4d7b-8a41-0c2d3e4f5a6b"
"""The id of a conversation that a session is asked to go on with."""

# What a plan makes up each time: UUIDs and times.
_MADE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.\d-]*Z?"
)


class NotConforming(AssertionError):
    """What an adapter does that no adapter may; the message says what and where."""


def require(holds: object, otherwise: str) -> None:
    """Raise NotConforming with the sentence unless the thing holds."""
    if not holds:
        raise NotConforming(otherwise)


@dataclass(frozen=True)
class Subject:
    """A package, what checking it came to, and its adapter."""

    path: Path
    examined: Examined
    adapter: Adapter

    @property
    def launch_modes(self) -> dict[ModeId, LaunchMode]:
        """The modes in which a person drives."""
        modes = self.adapter.modes
        found: dict[ModeId, LaunchMode] = {}
        if modes["guest"] is not None:
            found["guest"] = modes["guest"]
        if modes["instrumented"] is not None:
            found["instrumented"] = modes["instrumented"]
        return found


def load_subject(path: Path) -> Subject:
    """Check a package in a child process and load its adapter.

    Raises NotConforming with every problem that the check has found.
    """
    package = read_package(str(path), source="path")
    examined = asyncio.run(examine(package, seconds=LOAD_SECONDS))
    require(not examined.problems, "\n".join(["the package is refused:", *examined.problems]))
    try:
        adapter = load_object(str(path), package.entry)
    except PackageProblem as problem:
        raise NotConforming(f"it loads in a child process and not here: {problem}") from problem
    assert isinstance(adapter, Adapter)
    return Subject(path, examined, adapter)


@dataclass(frozen=True)
class Place:
    """Empty folders that a plan is made in."""

    root: Path

    def __post_init__(self) -> None:
        for folder in (self.home, self.cwd, self.tmp):
            folder.mkdir()

    @property
    def home(self) -> Path:
        """The user's home."""
        return self.root / "home"

    @property
    def cwd(self) -> Path:
        """The session's folder."""
        return self.root / "cwd"

    @property
    def tmp(self) -> Path:
        """Where temporary files go by default."""
        return self.root / "tmp"

    @property
    def run(self) -> Path:
        """Where a plan's own folders go."""
        return self.root / "barry" / "run"

    def folder(self, name: str) -> str:
        """Another folder, such as an extra root."""
        made = self.root / name
        made.mkdir(exist_ok=True)
        return str(made)

    def config(self, subject: Subject, mode: ModeId) -> SessionConfig:
        """A session that asks for nothing beyond all of the harness's own tools."""
        return SessionConfig(
            instrument=self._instrument() if mode == "instrumented" else None,
            session_id="conformance01",
            cwd=str(self.cwd),
            env={"HOME": str(self.home), "PATH": "/usr/bin:/bin", "TERM": "xterm-256color"},
            allowed_native_tools=subject.adapter.native_tools,
        )

    def _instrument(self) -> Instrument:
        """What an instrumented launch gives: hooks that refuse everything and tell nothing."""
        return Instrument(
            ruling=HookCall(command="/bin/false || exit 2", words=("/bin/false",)),
            notice=HookCall(command="/bin/true || exit 0", words=("/bin/true",)),
            deadline_seconds=20,
            fingerprint="0" * 32,
            socket=str(self.root / "session.sock"),
            key="conformance-key-0123456789abcdef",
            inside=Within(),
        )


@contextlib.contextmanager
def private_place() -> Iterator[Place]:
    """Empty folders, with HOME and Barry's own folders in them, removed at the end."""
    root = Path(tempfile.mkdtemp(prefix="conformance-"))
    kept = {name: os.environ.get(name) for name in ("HOME", "BARRY_HOME")}
    kept_tmp = tempfile.tempdir
    try:
        place = Place(root)
        tempfile.tempdir = str(place.tmp)
        os.environ["HOME"] = str(place.home)
        os.environ["BARRY_HOME"] = str(root / "barry")
        yield place
    finally:
        tempfile.tempdir = kept_tmp
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        shutil.rmtree(root, ignore_errors=True)


def make_plan(subject: Subject, mode: LaunchMode, config: SessionConfig) -> LaunchPlan:
    """The plan for a configuration, as a launch would ask for it.

    Raises BarryError when it is refused, and NotConforming for what no planning may do.
    """
    cut = configure_harness_session(config, subject.adapter.native_tools, mode.native)
    before = copy.deepcopy(replace(cut, instrument=None))

    async def plan() -> LaunchPlan:
        return await mode.plan(cut)

    try:
        made = asyncio.run(plan())
    except (BarryError, NotConforming):
        raise
    except Exception as error:
        raise NotConforming(f"plan raises {describe(error)}") from error
    require(isinstance(made, LaunchPlan), f"plan gives a {type(made).__name__}, not a LaunchPlan")
    require(
        replace(cut, instrument=None) == before, "plan changes the configuration that it is given"
    )
    return made


def answer(subject: Subject, mode: LaunchMode, config: SessionConfig) -> Mapping[str, object]:
    """What planning came to, without what differs each time, to be compared with another."""
    try:
        plan = make_plan(subject, mode, config)
    except BarryError as refused:
        return {"refused": str(refused)}
    try:
        return essence(plan)
    finally:
        for folder in plan.tmp_dirs:
            shutil.rmtree(folder, ignore_errors=True)


def essence(plan: LaunchPlan) -> Mapping[str, object]:
    """All that a plan arranges, with its ids and temporary folders under fixed names."""
    names = {folder: f"<folder {number}>" for number, folder in enumerate(plan.tmp_dirs)}
    if plan.harness_session_id:
        names[plan.harness_session_id] = "<conversation>"
    names.update(dict.fromkeys(plan.secrets, "<secret>"))

    def plain(text: str | None) -> str | None:
        if text is None:
            return None
        for found, name in names.items():
            text = text.replace(found, name)
        return _MADE.sub(lambda made: made[0] if made[0] == CONVERSATION else "<made>", text)

    files = {
        plain(str(path)): plain(path.read_text(encoding="utf-8", errors="replace"))
        for folder in plan.tmp_dirs
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }
    return {
        "command": plain(plan.command),
        "args": [plain(arg) for arg in plan.args],
        "env": {name: plain(value) for name, value in plan.env.items()},
        "cwd": plan.cwd,
        "stdin": plain(plan.stdin),
        "files": files,
        "guarantees": plan.guarantees,
        "warnings": [plain(warning) for warning in plan.warnings],
        "reserved": plan.harness_session_id is not None,
        "discovers": plan.discover_harness_session_id is not None,
    }


def changed(config: SessionConfig, fields: Mapping[str, object]) -> SessionConfig:
    """The configuration with these fields in place of its own."""
    return replace(config, **fields)  # type: ignore[arg-type]  # the matrix gives each its type
