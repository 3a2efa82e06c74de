"""One run of one adapter's check: a fresh home, a scripted model, and real launches."""

from __future__ import annotations

import importlib
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from barry_cli.base.ids import new_id
from barry_cli.base.problems import BarryError
from barry_cli.contract.adapter import Adapter, LaunchMode
from barry_cli.contract.levels import ModeId
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.proof import NotShown
from barry_cli.contract.session import SessionConfig
from barry_cli.groundwork import environment
from barry_cli.launch.prepare import discard, make_plan
from barry_cli.verify.models import ModelServer, Script
from barry_cli.verify.terminal import ScreenTerminal

KEY = "sk-made-up-0123456789abcdefghijklmnopqrstuv"
"""A key that opens nothing; long enough for harnesses that look at its end."""

Bend = Callable[[LaunchPlan], LaunchPlan]
"""Changes a plan before it starts: how a check is shown to fail without its guard."""


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


class Model:
    """The scripted model of one run."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server

    def url(self, api: str) -> str:
        urls = {str(name): url for name, url in self.server.urls().items()}
        if api not in urls:
            raise ValueError(f"no API named {api}; there are {', '.join(urls)}")
        return urls[api]

    def script(self, rules: list[dict[str, object]]) -> None:
        """Replace the script: rules of ``when`` and ``then``."""
        self.server.play(Script.parse({"rules": rules}))

    def texts(self) -> list[str]:
        return self.server.texts()

    def tool_results(self) -> list[str]:
        return [result.text for result in self.server.tool_results()]

    def offered_tools(self) -> list[str]:
        for request in reversed(self.server.model_requests()):
            if request.tools:
                return list(request.tools)
        return []

    def wait_for_text(self, text: str, *, seconds: float = 60) -> None:
        """Wait until a request carries the text. Raises NotShown when none does."""
        try:
            self.server.wait_for(lambda request: request.contains(text), seconds)
        except TimeoutError:
            raise NotShown(f"no request to the model carried {text!r} in {seconds:g} s") from None


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
    ) -> None:
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

    async def launch(self, **config: Any) -> tuple[LaunchPlan, ScreenTerminal]:
        """Plan with these SessionConfig fields, and start the plan in a terminal."""
        mode = self.adapter.modes[self.mode]
        if not isinstance(mode, LaunchMode):
            raise NotShown(f"{self.adapter.id} has no launch mode {self.mode}")
        defaults: dict[str, Any] = {
            "session_id": new_id(),
            "cwd": str(self.cwd),
            "env": self.env,
            "allowed_native_tools": self.adapter.native_tools,
        }
        asked = SessionConfig(**{**defaults, **config})
        asked = configure_harness_session(asked, self.adapter.native_tools, mode.native)
        plan = await make_plan(self.adapter, mode, asked)
        self._plans.append(plan)
        if self._bend is not None:
            plan = self._bend(plan)
        command = plan.command
        if self._program is not None and command == self.adapter.requirements.binary.command:
            command = self._program
        env = environment.apply(
            {name: value for name, value in asked.env.items() if value is not None}, plan.env
        )
        terminal = ScreenTerminal([command, *plan.args], env, plan.cwd or asked.cwd)
        self._terminals.append(terminal)
        return plan, terminal

    def require(self, shown: bool, otherwise: str | Callable[[], str]) -> None:
        """Raise NotShown with the sentence unless the thing was shown."""
        if not shown:
            raise NotShown(otherwise if isinstance(otherwise, str) else otherwise())

    def close(self) -> None:
        """End every terminal and remove what the plans made."""
        for terminal in self._terminals:
            terminal.close(seconds=5)
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
    top = Path(tempfile.mkdtemp(prefix="proof-", dir=keep_in))
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
            proof.close()
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


def without(*flags: str) -> Bend:
    """A bend that takes flags, with the values that follow them, out of a plan."""

    def bend(plan: LaunchPlan) -> LaunchPlan:
        kept: list[str] = []
        skipping = False
        for word in plan.args:
            if word.startswith("-"):
                skipping = word.split("=", 1)[0] in flags
            if not skipping:
                kept.append(word)
        return replace(plan, args=tuple(kept))

    return bend
