"""What the tests on real harness programs share: a home, a scripted model, a job in a terminal."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from barry_cli.base.processes import ProcessIdentity, descendants, is_alive
from barry_cli.contract.adapter import Adapter, Mode
from barry_cli.contract.levels import ModeId
from barry_cli.verify.models import ModelServer, Script
from barry_cli.verify.proof import KEY, Bend, Proven, prove
from barry_cli.verify.terminal import ScreenTerminal

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / ".harnesses" / "node_modules" / ".bin"
_MARK = "barry-test"


@dataclass
class Figures:
    """What the closing table shows of one harness."""

    version: str = "not run"
    pinned: str = ""
    requests: int = 0


FIGURES: dict[str, Figures] = {}


def package_of(adapter_id: str) -> ModuleType:
    """The shipped package of an adapter, imported from the tree."""
    folder = ROOT / "adapters" / adapter_id
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    entry = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["entry-points"]
    module = entry["barry.adapters"][adapter_id].partition(":")[0]
    return importlib.import_module(module)


def adapter_of(adapter_id: str) -> Adapter:
    """The shipped adapter itself."""
    adapter = package_of(adapter_id).adapter
    assert isinstance(adapter, Adapter)
    return adapter


def _modes(adapter: Adapter) -> list[Mode | None]:
    return [adapter.modes["guest"], adapter.modes["instrumented"], adapter.modes["hosted"]]


def program_of(adapter_id: str) -> Path:
    """The pinned program. A test that needs it fails when it isn't there."""
    adapter = adapter_of(adapter_id)
    if any(mode is not None and mode.build == "bundled" for mode in _modes(adapter)):
        return Path(sys.executable)
    program = PROGRAMS / adapter.requirements.binary.command
    assert program.exists(), f"{program} is missing: run `make harnesses`"
    return program


def tree(home: Path) -> set[str]:
    """The files below a folder, with what differs from run to run written alike."""
    found = (path for path in home.rglob("*") if path.is_file() or path.is_symlink())
    return {alike(str(path.relative_to(home))) for path in found}


def alike(name: str) -> str:
    """A file's name without what differs from run to run."""
    name = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}", "ID", name)
    name = re.sub(r"\b(ses|msg|prt)_[A-Za-z0-9]+", "ID", name)
    return re.sub(r"[0-9a-f]{16,}|\d+", "N", name)


@dataclass
class Job:
    """A command line run by a shell in a terminal, as a person would run it."""

    terminal: ScreenTerminal
    seen: set[ProcessIdentity] = field(default_factory=set)

    def watch(self) -> set[ProcessIdentity]:
        """Remember what runs below the shell now, to look for it afterwards."""
        self.seen |= set(descendants(self.terminal.pid))
        return self.seen

    def over(self) -> bool:
        """Whether the shell has seen it end."""
        return f"{_MARK} status" in self._plain()

    def status(self, *, seconds: float = 60) -> int:
        """The exit status that the shell saw, once the job has ended."""
        self.terminal.wait_for(f"{_MARK} status", seconds=seconds)
        found = re.findall(rf"{_MARK} status (\d+) ", self._plain())
        assert found, self._plain()
        return int(found[-1])

    def modes(self) -> tuple[str, str]:
        """The terminal's modes before and after the job, as ``stty -g`` writes them."""
        self.status()
        before = re.findall(rf"{_MARK} before (\S+)", self._plain())
        after = re.findall(rf"{_MARK} status \d+ (\S+)", self._plain())
        return before[-1], after[-1]

    def left_running(self) -> list[ProcessIdentity]:
        """What was seen below the shell and runs still; the shell itself aside."""
        return [each for each in self.seen if is_alive(each)]

    def _plain(self) -> str:
        return bytes(self.terminal.raw).decode(errors="replace")


class Lab:
    """A settled home of one harness, a model server, and Barry's command line."""

    def __init__(self, adapter_id: str, top: Path) -> None:
        self.adapter = adapter_of(adapter_id)
        self.program = program_of(adapter_id)
        self.top = top
        self.home = top / "home"
        self.work = top / "work"
        for folder in (self.home, self.work, top / "tmp"):
            folder.mkdir(mode=0o700, parents=True)
        self.key = KEY
        self.server = ModelServer()
        self.settle(self.home)
        self.env: dict[str, str] = {
            "HOME": str(self.home),
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/bash",
            "TMPDIR": str(top / "tmp"),
            "BARRY_HOME": str(top / "barry"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        own = self.program == Path(sys.executable)  # carried by its adapter: no model, no pin
        figures = Figures() if own else FIGURES.setdefault(adapter_id, Figures())
        self.figures = figures
        figures.pinned = self.adapter.requirements.binary.pin.version
        self._jobs: list[Job] = []

    def settle(self, home: Path) -> None:
        """Make a home that of somebody who has used the harness before."""
        checks = importlib.import_module(f"{package_of(self.adapter.id).__name__}.checks")
        checks.settle(home, self.work, self.key)

    def script(self, *rules: Mapping[str, object]) -> None:
        """What the model says from now on."""
        self.server.play(Script.parse({"rules": [dict(rule) for rule in rules]}))

    def barry(
        self, *words: str, env: Mapping[str, str] | None = None, seconds: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Barry's command line without a terminal."""
        return subprocess.run(
            [sys.executable, "-m", "barry_cli", *words],
            env={**self.env, **(env or {})},
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def add(self) -> None:
        """Install the adapter, and note the version that its program tells."""
        added = self.barry("adapter", "add", self.adapter.id, "--json")
        assert added.returncode == 0, added.stderr
        findings = json.loads(self.barry("adapter", "doctor", self.adapter.id, "--json").stdout)
        told = re.search(
            r"\d+\.\d+\.\d+",
            json.dumps([each for each in findings["findings"] if each["name"] == "version"]),
        )
        self.figures.version = told.group() if told else "not told"

    def shell(self, *, env: Mapping[str, str] | None = None) -> ScreenTerminal:
        """An interactive bash with job control, as a person sits before it."""
        terminal = ScreenTerminal(
            ["/bin/bash", "--norc", "--noprofile", "-i"],
            {**self.env, "PS1": "sh> ", "HISTFILE": "", **(env or {})},
            self.work,
        )
        self._jobs.append(Job(terminal))
        terminal.wait_for("sh>")
        return terminal

    def command(self, *words: str) -> str:
        """A Barry command line as a person types it."""
        return shlex.join([sys.executable, "-m", "barry_cli", *words])

    def launch(self, *words: str, env: Mapping[str, str] | None = None) -> Job:
        """``barry session launch <id> WORDS`` in a terminal, under a shell."""
        command = [sys.executable, "-m", "barry_cli", "session", "launch", self.adapter.id, *words]
        return self.job(command, env=env)

    def bare(self, *words: str, env: Mapping[str, str] | None = None) -> Job:
        """The harness alone, in a terminal, under a shell."""
        return self.job([str(self.program), *words], env=env)

    def job(self, command: Sequence[str], *, env: Mapping[str, str] | None = None) -> Job:
        """Any command in a terminal, under an interactive shell's eyes."""
        line = (
            f'echo "{_MARK} before $(stty -g)"; {shlex.join(command)}; '
            f'echo "{_MARK} status $? $(stty -g) "; sleep 600'
        )
        terminal = ScreenTerminal(
            ["/bin/bash", "--norc", "-c", line], {**self.env, **(env or {})}, self.work
        )
        job = Job(terminal)
        self._jobs.append(job)
        return job

    async def prove(self, *, mode: ModeId = "guest", bend: Bend | None = None) -> Proven:
        """Run the adapter's own check of a mode."""
        proven = await prove(
            self.adapter,
            package_of(self.adapter.id).__name__,
            mode,
            program=str(self.program),
            base_env=self.env,
            bend=bend,
            keep_in=self.top,
        )
        self.figures.requests += proven.model_requests
        return proven

    def close(self) -> None:
        """End what still runs, and count what the model was asked."""
        for job in self._jobs:
            job.terminal.close(seconds=5)
        self.figures.requests += len(self.server.model_requests())
        self.server.close()
