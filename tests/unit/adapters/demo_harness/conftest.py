"""Starts the demo harness as users do: by file path, isolated, with a scrubbed environment."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

ROOT = Path(__file__).parents[4]
PACKAGE = ROOT / "adapters" / "demo" / "barry_adapter_demo"
COMMAND = [sys.executable, "-I", "-S", str(PACKAGE / "harness" / "main.py")]


class Demo:
    """The program, in one temporary directory and home."""

    def __init__(self, base: Path) -> None:
        self.cwd = base / "work"
        self.home = base / "home"
        self.cwd.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(base), "TERM": "xterm"}
        self.env["BARRY_DEMO_HOME"] = str(self.home)
        self.command = list(COMMAND)
        self.base = base
        self.started: list[Any] = []

    def run(self, *arguments: str, text: str | None = None, **kwargs: Any) -> Any:
        """Run to the end, at most 30 s. stdin is empty unless a text is given."""
        source: Any = {"input": text} if text is not None else {"stdin": subprocess.DEVNULL}
        return subprocess.run(
            [*self.command, *arguments],
            **{"cwd": self.cwd, "env": self.env, **source, **kwargs},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    def events(self, *arguments: str, **kwargs: Any) -> list[dict[str, Any]]:
        """The NDJSON events of one headless turn."""
        done = self.run("-p", "--output", "ndjson", *arguments, **kwargs)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def popen(self, *arguments: str, **kwargs: Any) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [*self.command, *arguments],
            cwd=self.cwd,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **{"stdin": subprocess.DEVNULL, **kwargs},
        )
        self.started.append(child)
        return child

    def tui(self, *arguments: str, **env: str) -> pexpect.spawn:
        """The program in a terminal."""
        return self.pty(self.command[0], [*self.command[1:], *arguments], **env)

    def pty(self, command: str, arguments: list[str], **env: str) -> pexpect.spawn:
        child = pexpect.spawn(
            command,
            arguments,
            cwd=str(self.cwd),
            env={**self.env, "NO_COLOR": "1", **env},
            encoding="utf-8",
            timeout=15,
            dimensions=(40, 200),
        )
        child.delaybeforesend = None
        self.started.append(child)
        return child

    def script(self, *rules: Any) -> str:
        """A script file with these rules; a rule is (when, step, ...)."""
        path = self.base / f"script{len(list(self.base.iterdir()))}.json"
        path.write_text(json.dumps([{"when": when, "then": then} for when, *then in rules]))
        return str(path)

    def file(self, name: str, value: Any) -> str:
        path = self.base / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return str(path)

    def transcripts(self) -> list[Path]:
        return sorted(self.home.glob("projects/*/*.jsonl"))

    def recorded(self) -> list[dict[str, Any]]:
        """The events of the only transcript."""
        (path,) = self.transcripts()
        return [json.loads(line) for line in path.read_text().splitlines()]

    def close(self) -> None:
        for child in self.started:
            if isinstance(child, subprocess.Popen):
                if child.poll() is None:
                    child.kill()
                child.wait()
                for pipe in (child.stdin, child.stdout, child.stderr):
                    if pipe:
                        pipe.close()
            else:
                child.close(force=True)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    made = Demo(tmp_path)
    yield made
    made.close()


@pytest.fixture
def package() -> Path:
    return PACKAGE


@pytest.fixture
def prompt() -> Callable[[pexpect.spawn], None]:
    """Waits for the prompt."""

    def wait(child: pexpect.spawn) -> None:
        child.expect_exact("you> ")

    return wait


@pytest.fixture
def ended() -> Callable[[pexpect.spawn], int]:
    """Waits for the end; the exit status, or minus the signal."""

    def wait(child: pexpect.spawn) -> int:
        child.expect(pexpect.EOF)
        child.close()
        return child.exitstatus if child.exitstatus is not None else -child.signalstatus

    return wait


@pytest.fixture
def gone() -> Callable[[int], bool]:
    """Whether a process ends within 5 s."""

    def wait(pid: int) -> bool:
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return True
            if re.search(r"^State:\s+Z", _status(pid), re.MULTILINE):
                return True
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        return False

    return wait


@pytest.fixture
def wait_for() -> Callable[[Callable[[], Any]], Any]:
    """Waits at most 10 s for a function to return something true."""

    def wait(probe: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            found = probe()
            if found:
                return found
            time.sleep(0.03)
        raise AssertionError("it did not happen in time")

    return wait


def _status(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return ""
