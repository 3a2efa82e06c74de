"""Loading and checking a package in a child process, so that nothing it does can hurt this one."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from barry_cli.base.processes import Finished, run_bounded_async
from barry_cli.registry.content import PackageProblem, content_hash
from barry_cli.registry.package import Package
from barry_cli.registry.records import InstalledAdapter

LIMIT_OUTPUT = 64 << 10
LIMIT_ANSWER = 16 << 20

_CHILD = Path(__file__).with_name("inspect.py")
_PASSED = frozenset(
    {"HOME", "PATH", "LANG", "LANGUAGE", "TMPDIR", "TZ", "VIRTUAL_ENV", "BARRY_HOME"}
)
_PYTHON = frozenset({"PYTHONHOME", "PYTHONNOUSERSITE", "PYTHONUSERBASE", "PYTHONUTF8"})


@dataclass(frozen=True, kw_only=True)
class Examined:
    """What loading and checking a package came to."""

    called: str
    """The adapter's id where that is known, else the name of the folder."""
    checked: int
    """How many checks ran; zero when it could not even be loaded."""
    problems: list[str]
    record: InstalledAdapter | None
    """What would be recorded, when there are no problems."""
    hint: str = ""
    """What to do, where mending the package is not it."""


async def examine(package: Package, *, seconds: float) -> Examined:
    """Load a package in a child of its own and check it. Never raises for what the package does.

    ``seconds`` is how long that may take.
    """
    if package.problems:
        return _refused(package, *package.problems)
    try:
        before = content_hash(package.path, package.entry)
        with tempfile.TemporaryFile() as answer:
            finished = await _run(package, before.hash, before.stamp, answer, seconds)
            document = _read(answer)
        after = content_hash(package.path, package.entry)
    except PackageProblem as problem:
        return _refused(package, *problem.problems)
    except OSError as error:
        return _refused(package, f"it can't be loaded in a process of its own: {error}")
    if document is None:
        return _refused(package, _ended(finished, seconds))
    if not document:
        return _refused(package, "its answer can't be read: something else was written over it")
    problems = [str(problem) for problem in document["problems"]]
    if finished.stdout.strip():
        problems.append(
            f"it printed while it was loaded, and a package only declares: "
            f"{_start(finished.stdout)!r}"
        )
    if after.hash != before.hash:
        problems.append("its files changed while they were checked: try again")
    record = None
    if not problems:
        try:
            record = InstalledAdapter.model_validate(document["record"])
        except ValidationError as error:
            first = error.errors()[0]
            problems.append(f"its answer does not fit: {first['loc']}: {first['msg']}")
    return Examined(
        called=str(document.get("id") or package.called),
        checked=int(document["checked"]),
        problems=problems,
        record=record,
    )


async def _run(
    package: Package, hash: str, stamp: str, answer: IO[bytes], seconds: float
) -> Finished:
    order = {
        "called": package.called,
        "path": package.path,
        "entry": package.entry,
        "packageName": package.name,
        "version": package.version,
        "source": package.source,
        "contentHash": hash,
        "contentStamp": stamp,
        "installedAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    flags = ["-P", "-B"]  # nothing from the current folder, no compiled files in somebody's
    flags += ["-E"] if sys.flags.ignore_environment else []
    flags += ["-s"] if sys.flags.no_user_site else []
    argv = [sys.executable, *flags, str(_CHILD), str(answer.fileno()), json.dumps(order)]
    return await run_bounded_async(
        argv,
        env=_environment(),
        cwd="/",
        timeout=seconds,
        limit_bytes=LIMIT_OUTPUT,
        pass_fds=(answer.fileno(),),
    )


def _environment() -> dict[str, str]:
    """What a stranger's code gets to see: no keys, no tokens."""
    passed = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED or name in _PYTHON or name.startswith("LC_")
    }
    # Relative entries mean the folder that Barry was started in, which is not the child's.
    if path := os.environ.get("PYTHONPATH"):
        entries = [os.path.abspath(entry) for entry in path.split(os.pathsep) if entry]
        passed["PYTHONPATH"] = os.pathsep.join(entries)
    return passed


def _read(answer: IO[bytes]) -> dict[str, Any] | None:
    """The child's answer; None when it left none, empty when it can't be understood."""
    answer.seek(0)
    text = answer.read(LIMIT_ANSWER + 1)
    if not text:
        return None
    try:
        document = json.loads(text) if len(text) <= LIMIT_ANSWER else None
    except (ValueError, RecursionError):
        return {}
    if not isinstance(document, dict) or not isinstance(document.get("problems"), list):
        return {}
    return document if isinstance(document.get("checked"), int) else {}


def _ended(finished: Finished, seconds: float) -> str:
    """Why there is no answer."""
    if finished.timed_out:
        noise = ", and kept printing" if finished.truncated else ""
        return f"it did not finish loading within {seconds:g} seconds{noise}"
    code = finished.returncode
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"its process was ended by {name} while it was loaded"
    said = _start(finished.stderr)
    return f"its process ended with status {code} while it was loaded" + (
        f": {said!r}" if said else ""
    )


def _start(output: bytes) -> str:
    text = output.decode("utf-8", "replace").strip()
    return text if len(text) <= 80 else text[:77] + "..."


def _refused(package: Package, *problems: str) -> Examined:
    return Examined(
        called=package.called, checked=0, problems=list(problems), record=None, hint=package.hint
    )
