"""A hook of an invented harness, as a launch leaves it, and a way to call it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from barry_cli.bags.manifest import HookFormat
from barry_cli.hook.install import PROGRAM, Installed, install
from barry_cli.policy.bundle import Bundle, bundle
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.programs.rules import table

FORMAT = {
    "event": "AboutToAct",
    "kind": "before-tool",
    "paths": {
        "event": "what.kind", "tool": "what.tool", "input": "with", "cwd": "at", "call": "id",
    },
    "answers": {
        "deny": {"stdout": {"verdict": {"no": "{reason}", "again": ["{reason}!"]}}},
    },
}  # fmt: skip


def policy() -> Policy:
    """No `touch`, whatever it is called through."""
    made = Policy()
    made.harness = "invented"
    made.root = made.home = "/nowhere"
    made.programs = table(["touch"])
    made.tools = {"zap": ("shell", ("line",)), "scribble": ("write", ("where",))}
    return made


@dataclass(frozen=True)
class Hook:
    """What a launch left."""

    installed: Installed
    cwd: Path

    def event(self, line: str = "ls", **more: object) -> str:
        return json.dumps(
            {
                "what": {"kind": "AboutToAct", "tool": "zap"},
                "with": {"line": line},
                "at": str(self.cwd),
                "id": "call-1",
                **more,
            }
        )

    def call(
        self, event: str | bytes, command: str | None = None, seconds: float = 30
    ) -> subprocess.CompletedProcess[str]:
        """Call it as a harness does: by a shell, from a folder that is the agent's."""
        done = subprocess.run(
            ["/bin/sh", "-c", command or self.installed.command],
            input=event if isinstance(event, bytes) else event.encode(),
            env={"PATH": "/usr/bin:/bin"},
            cwd=self.cwd,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        out, error = done.stdout.decode(), done.stderr.decode()
        return subprocess.CompletedProcess(done.args, done.returncode, out, error)


Hooked = Callable[..., Hook]


@pytest.fixture(scope="session")
def code() -> Bundle:
    return bundle(PROGRAM)


@pytest.fixture
def hooked(tmp_path: Path, code: Bundle, monkeypatch: pytest.MonkeyPatch) -> Hooked:
    """Makes a hook; ``form`` changes its format, ``listener`` is whom it tells."""
    monkeypatch.setattr("barry_cli.hook.install.kept_bundle", {PROGRAM: code}.__getitem__)

    def make(
        *, listener: tuple[str, str, str] | None = None, folder: str = "own", **form: object
    ) -> Hook:
        cwd = tmp_path / "the agent's"
        cwd.mkdir(exist_ok=True)
        shape = HookFormat.model_validate({**FORMAT, **form})
        return Hook(install(tmp_path / folder, policy(), [shape], listener=listener), cwd)

    return make
