"""One run of one adapter's check: a fresh home, a scripted model, and real launches."""

from __future__ import annotations

import asyncio
import importlib
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barry_cli.base.ids import new_id
from barry_cli.base.paths import Folders
from barry_cli.base.problems import BarryError
from barry_cli.contract.adapter import Adapter, LaunchMode, Mode, SessionMode
from barry_cli.contract.draft import private_folder
from barry_cli.contract.events import Done, SessionEvent
from barry_cli.contract.levels import ModeId
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.proof import NotShown, Ruled
from barry_cli.contract.session import DeliveryOptions, Session, SessionConfig
from barry_cli.groundwork import environment
from barry_cli.launch.planning import discard, make_plan
from barry_cli.verify.bending import Bend, BentExecutor, no_engine, without
from barry_cli.verify.models import ModelServer
from barry_cli.verify.scripted import Model
from barry_cli.verify.terminal import ScreenTerminal

if TYPE_CHECKING:
    from barry_cli.bags.manifest import BagManifest
    from barry_cli.contract.instrument import Notice
    from barry_cli.verify.attended import Attended

__all__ = ["KEY", "Bend", "Proof", "Proven", "prove", "without"]

KEY = "sk-made-up-0123456789abcdefghijklmnopqrstuv"
"""A key that opens nothing; long enough for harnesses that look at its end."""


@dataclass(frozen=True, slots=True)
class Proven:
    """What came of a check."""

    adapter: str
    mode: ModeId
    proves: str
    shown: bool
    reason: str
    """Why it was not shown; empty when it was."""
    model_requests: int


class Proof:
    """What a check gets to work with; see ``barry_cli.contract.proof.ProofContext``."""

    def __init__(
        self,
        adapter: Adapter,
        mode: ModeId,
        *,
        home: Path,
        cwd: Path,
        model: Model,
        program: str | None,
        base_env: Mapping[str, str],
        bend: Bend | None = None,
        manifest: BagManifest | None = None,
    ) -> None:
        """``manifest``: the adapter's bag, which instrumented sessions are ruled by."""
        self.adapter = adapter
        self.mode: ModeId = mode
        self.home = home
        self.cwd = cwd
        self.key = KEY
        self.model = model
        self._program = program
        self._bend = bend
        self._terminals: list[ScreenTerminal] = []
        self._plans: list[LaunchPlan] = []
        self._sessions: list[Session] = []
        self._manifest = manifest
        self._attended: list[Attended] = []
        base = {
            name: value
            for name, value in base_env.items()
            if name in ("PATH", "LANG", "TZ", "BARRY_HOME")
        }
        self.env: Mapping[str, str] = {
            **base,
            "HOME": str(home),
            "TERM": "xterm-256color",
            "SHELL": "/bin/sh",
            "LANG": base.get("LANG", "C.UTF-8"),
        }

    async def launch(
        self, *, bound: Mapping[str, object] | None = None, **config: Any
    ) -> tuple[LaunchPlan, ScreenTerminal]:
        """Plan with these SessionConfig fields, and start the plan in a terminal."""
        mode = self.adapter.modes[self.mode]
        if not isinstance(mode, LaunchMode):
            raise NotShown(f"{self.adapter.id} has no launch mode {self.mode}")
        if self.mode == "instrumented":
            return await self._instrumented(mode, bound, config)
        asked = self._config(mode, config)
        plan = await make_plan(self.adapter, mode, asked)
        self._plans.append(plan)
        return plan, self._open(plan, asked)

    async def _instrumented(
        self, mode: LaunchMode, bound: Mapping[str, object] | None, config: Mapping[str, Any]
    ) -> tuple[LaunchPlan, ScreenTerminal]:
        from barry_cli.verify.attended import Attended, planned, with_variables

        given = {"session_id": new_id(), "cwd": str(self.cwd), **config}
        made = await planned(
            self.adapter,
            mode,
            self._manifest,
            self._folders,
            bound,
            lambda tools: self._config(mode, {**given, **tools.asked}),
            session_id=given["session_id"],
            cwd=given["cwd"],
            env=given.get("env", self.env),
            program=self._file(self.adapter.requirements.binary.command),
        )
        try:
            attended = Attended(made, self.mode)
        except BaseException:
            made.discard()
            raise
        self._attended.append(attended)
        terminal = self._open(with_variables(made.plan, made.instruments), made.config)
        attended.runs(terminal.pid)
        return made.plan, terminal

    def _open(self, plan: LaunchPlan, asked: SessionConfig) -> ScreenTerminal:
        if self._bend is not None:
            plan = self._bend(plan)
        command = self._file(plan.command)
        env = environment.apply(
            {name: value for name, value in asked.env.items() if value is not None}, plan.env
        )
        terminal = ScreenTerminal([command, *plan.args], env, plan.cwd or asked.cwd)
        self._terminals.append(terminal)
        return terminal

    @property
    def _folders(self) -> Folders:
        top = self.home.parent / "barry"
        return Folders(*(top / name for name in ("config", "data", "state", "cache", "run")))

    async def send(
        self,
        content: str,
        *,
        from_: str | None = None,
        wait: str = "consumed",
        seconds: float = 60,
    ) -> str:
        """Send a message to the newest instrumented session; the state that it came to."""

        async def read() -> None:
            for terminal in self._terminals:
                terminal.pump(0.05)
            await asyncio.sleep(0)

        return await self._newest.send(
            content, name=from_, until=wait, seconds=seconds, meanwhile=read
        )

    @property
    def _newest(self) -> Attended:
        if not self._attended:
            raise NotShown("this check has launched no instrumented session")
        return self._attended[-1]

    @property
    def notices(self) -> Sequence[Notice]:
        """What hooks and plugins of the newest instrumented session told, oldest first."""
        return list(self._newest.notices)

    @property
    def rulings(self) -> Sequence[Ruled]:
        """What was ruled on its calls, oldest first."""
        return self._newest.rulings

    @property
    def standing(self) -> Mapping[str, object]:
        """What is recorded of it now."""
        row = self._newest.row
        return {
            "activity": row.activity,
            "harnessSessionId": row.harness_session_id,
            "guarantees": row.guarantees,
            "lowered": row.lowered,
        }

    async def start(self, **config: Any) -> Session:
        """Start a driven session with these SessionConfig fields; it is closed with the check."""
        mode = self.adapter.modes[self.mode]
        if not isinstance(mode, SessionMode):
            raise NotShown(f"{self.adapter.id} has no session mode {self.mode}")
        executor = BentExecutor(self._file, self._bend)
        session = await mode.start(self._config(mode, {"executor": executor, **config}), no_engine)
        self._sessions.append(session)
        return session

    async def turn(
        self,
        session: Session,
        content: str,
        *,
        options: DeliveryOptions | None = None,
        seconds: float = 60,
    ) -> list[SessionEvent]:
        """Deliver a message, and all that happens up to the turn's ``done``."""
        found: list[SessionEvent] = []
        try:
            async with asyncio.timeout(seconds):
                await session.deliver(content, options)
                async for event in session.events():
                    found.append(event)
                    if isinstance(event, Done):
                        return found
        except TimeoutError:
            raise NotShown(f"the turn was not over in {seconds:g} s: {found[-3:]}") from None
        raise NotShown(f"the session ended before its turn: {found[-3:]}")

    def _config(self, mode: Mode, config: Mapping[str, Any]) -> SessionConfig:
        defaults: dict[str, Any] = {
            "session_id": new_id(),
            "cwd": str(self.cwd),
            "env": self.env,
            "allowed_native_tools": self.adapter.native_tools,
        }
        asked = SessionConfig(**{**defaults, **config})
        return configure_harness_session(asked, self.adapter.native_tools, mode.native)

    def _file(self, command: str) -> str:
        """The program to start in the place of a plan's command."""
        own = command == self.adapter.requirements.binary.command
        return self._program if self._program is not None and own else command

    def require(self, shown: bool, otherwise: str | Callable[[], str]) -> None:
        """Raise NotShown with the sentence unless the thing was shown."""
        if not shown:
            raise NotShown(otherwise if isinstance(otherwise, str) else otherwise())

    async def close(self) -> None:
        """End every session and terminal, and remove what the plans made."""
        for session in self._sessions:
            await session.close()
        for terminal in self._terminals:
            terminal.close(seconds=5)
        for attended in self._attended:
            attended.close()
        for plan in self._plans:
            discard(plan)


async def prove(
    adapter: Adapter,
    package: str,
    mode_id: ModeId,
    *,
    program: str | None = None,
    base_env: Mapping[str, str] | None = None,
    bend: Bend | None = None,
    keep_in: Path | None = None,
) -> Proven:
    """Run the check that a mode names as its evidence, on the real program.

    ``package`` is the imported adapter package's name; ``program`` the file to start instead of
    looking the command up. Whatever the check raises is its answer "not shown".
    """
    mode = adapter.modes[mode_id]
    if mode is None:
        raise ValueError(f"{adapter.id} has no mode {mode_id}")
    module, _, function = mode.evidence.check.partition(":")
    check: Callable[[Proof], Awaitable[None]] = getattr(
        importlib.import_module(f"{package}.{module}"), function
    )
    # Not below /tmp itself: some harnesses treat homes and settings there as unsafe.
    top = Path(tempfile.mkdtemp(prefix="proof-")) if keep_in is None else private_folder(keep_in)
    home, cwd = top / "home", top / "work"
    home.mkdir(mode=0o700)
    cwd.mkdir()
    reason = ""
    with ModelServer() as server:
        proof = Proof(
            adapter,
            mode_id,
            home=home,
            cwd=cwd,
            model=Model(server),
            program=program,
            base_env=os.environ if base_env is None else base_env,
            bend=bend,
            manifest=_manifest(adapter, package),
        )
        try:
            await check(proof)
        except NotShown as missing:
            reason = str(missing) or "the check did not say what it missed"
        except BarryError as problem:
            reason = f"{problem}" + (f" ({problem.hint})" if problem.hint else "")
        except Exception as error:
            reason = f"the check itself failed: {type(error).__name__}: {error}"
        finally:
            await proof.close()
            shutil.rmtree(top, ignore_errors=True)
        requests = len(server.model_requests())
    return Proven(
        adapter=adapter.id,
        mode=mode_id,
        proves=mode.evidence.proves,
        shown=not reason,
        reason=reason,
        model_requests=requests,
    )


def _manifest(adapter: Adapter, package: str) -> BagManifest | None:
    if adapter.bag is None:
        return None
    from barry_cli.bags.manifest import read_bag

    (folder, *_) = importlib.import_module(package).__path__
    return read_bag(Path(folder, adapter.bag))
