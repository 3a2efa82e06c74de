"""Asks a harness's program for its version: time-bound, and once per build.

On the way to a launch an answer mostly comes from the cache: that way imports no more than it must.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from barry_cli.base.files import lock, read_json, write_json
from barry_cli.base.paths import Folders
from barry_cli.base.problems import StoreProblem
from barry_cli.contract.requirements import Binary

if TYPE_CHECKING:
    from barry_cli.base.processes import Finished

SECONDS = 5.0
"""How long a program may take to answer."""
PATIENT_SECONDS = 15.0
"""How long a person who starts a harness waits for its first answer: some need 6 s when cold."""
AT_ONCE = 16
"""How many programs are asked side by side."""
_MOMENT_SECONDS = 1.0
_LIMIT_BYTES = 65536
_SHOWN = 120
_SCHEMA = 1


_ENOUGH = (
    "HOME PATH SHELL USER LOGNAME TERM LANG TZ TMPDIR NVM_DIR VOLTA_HOME BUN_INSTALL "
    "XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR"
).split()


def enough(env: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment in which a program can say its version: no key, no token."""
    return {name: env[name] for name in _ENOUGH if name in env}


@dataclass(frozen=True, slots=True)
class Probe:
    """What a program answered."""

    path: str
    version: str | None
    why_not: str | None
    """Why there is no version, as the rest of a sentence about the program."""
    seconds: float
    """How long it took to get the answer."""
    cached: bool = False
    ran: bool = True
    """Whether it ran and ended well, even if what it said holds no version."""


@dataclass(frozen=True, slots=True)
class Question:
    """One program of many to ask, and the name under which its answer comes back."""

    name: str
    binary: Binary
    path: str
    env: Mapping[str, str]


def probe(
    binary: Binary,
    path: str,
    env: Mapping[str, str],
    *,
    seconds: float = SECONDS,
    folders: Folders,
    waiting: Callable[[str], None] | None = None,
) -> Probe:
    """The version of the program at a path, run in the environment given and no other.

    ``waiting`` is told once, from a thread of its own, when the answer takes its time.
    """
    began = time.monotonic()
    if (known := _known(binary, path, folders, began)) is not None:
        return known
    from barry_cli.base.processes import run_bounded

    stamp = _stamp(path)
    try:
        with _patience(f"asking {path} for its version ...", waiting):
            finished = run_bounded(
                [path, *binary.version_args],
                env=env,
                cwd="/",
                timeout=seconds,
                limit_bytes=_LIMIT_BYTES,
            )
    except (OSError, ValueError) as error:
        return _not_started(path, error, began)
    return _conclude(binary, path, finished, env, seconds, began, stamp, folders)


@contextlib.contextmanager
def _patience(text: str, waiting: Callable[[str], None] | None) -> Iterator[None]:
    """Say a text to somebody who waits inside for longer than a moment."""
    if waiting is None:
        yield
        return
    import threading

    timer = threading.Timer(_MOMENT_SECONDS, waiting, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


async def probe_many(
    questions: Iterable[Question], *, seconds: float = SECONDS, folders: Folders
) -> AsyncGenerator[tuple[str, Probe], None]:
    """The answers of many programs, each as it comes: asked side by side, each with its own time.

    Leaving the loop early ends the programs that have not answered.
    """
    import asyncio

    turns = asyncio.Semaphore(AT_ONCE)

    async def ask(question: Question) -> tuple[str, Probe]:
        async with turns:
            return question.name, await _probe_async(question, seconds, folders)

    tasks = [asyncio.create_task(ask(question)) for question in questions]
    try:
        for answer in asyncio.as_completed(tasks):
            yield await answer
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _probe_async(question: Question, seconds: float, folders: Folders) -> Probe:
    began = time.monotonic()
    binary, path, env = question.binary, question.path, question.env
    if (known := _known(binary, path, folders, began)) is not None:
        return known
    from barry_cli.base.processes import run_bounded_async

    stamp = _stamp(path)
    try:
        finished = await run_bounded_async(
            [path, *binary.version_args],
            env=env,
            cwd="/",
            timeout=seconds,
            limit_bytes=_LIMIT_BYTES,
        )
    except (OSError, ValueError) as error:
        return _not_started(path, error, began)
    return _conclude(binary, path, finished, env, seconds, began, stamp, folders)


# --- from what a program did to an answer ---


def _conclude(
    binary: Binary,
    path: str,
    finished: Finished,
    env: Mapping[str, str],
    seconds: float,
    began: float,
    stamp: list[int] | None,
    folders: Folders,
) -> Probe:
    took = time.monotonic() - began
    version = None if finished.timed_out else _version(binary, finished)
    if version is None:
        ran = not finished.timed_out and finished.returncode == 0
        return Probe(path, None, _why_not(finished, env, seconds), took, ran=ran)
    if stamp is not None and stamp == _stamp(path):  # not replaced while it answered
        _remember(binary, path, stamp, version, folders)
    return Probe(path, version, None, took)


def _version(binary: Binary, finished: Finished) -> str | None:
    import re

    if finished.returncode != 0:
        return None
    # Line by line: some say something else first.
    found = re.search(binary.version_pattern, _answer(finished), re.MULTILINE)
    return (found.group(1) or None) if found and found.groups() else None


def _answer(finished: Finished) -> str:
    """What it printed on stdout. Only of a program that printed nothing there at all, stderr: one
    harness moves its own output there when no terminal is on its input.
    """
    for stream in (finished.stdout, finished.stderr):
        if text := stream.decode("utf-8", "replace").strip():
            return text
    return ""


def _why_not(finished: Finished, env: Mapping[str, str], seconds: float) -> str:
    code = finished.returncode
    if finished.timed_out or code is None:
        return f"not answered in {seconds:g} s"
    if code == 0:
        said = _shown(_answer(finished), env)
        return f"gave an answer without a version: {said}" if said else "printed nothing"
    if code < 0:
        ended = f"was ended by signal {-code}{_signal_name(-code)}"
    else:
        ended = f"ended with exit status {code}"
    words = finished.stderr.strip() or finished.stdout.strip()
    lines = words.decode("utf-8", "replace").splitlines()
    return f"{ended}: {said}" if lines and (said := _shown(lines[-1], env)) else ended


def _signal_name(number: int) -> str:
    import signal

    with contextlib.suppress(ValueError):
        return f" ({signal.Signals(number).name})"
    return ""


def _shown(text: str, env: Mapping[str, str]) -> str:
    """A program's words, safe to print: one line, short, and without what its environment hides."""
    from barry_cli.base.secrets import looks_secret, redact

    text = redact(text, [value for name, value in env.items() if looks_secret(name)])
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."


def _not_started(path: str, error: OSError | ValueError, began: float) -> Probe:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOEXEC:
        why = "is no program for this machine: built for another architecture, or a script without"
        why += " a first line that names its interpreter"
    elif number == errno.ENOENT and os.path.exists(path):
        why = "can't be started: the interpreter that it names, or its loader, is not there"
    elif number == errno.ENOENT:
        why = "is no longer there"
    elif number in (errno.EACCES, errno.EPERM):
        why = "may not be run: permission denied"
    else:
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        why = f"can't be started: {words}"
    return Probe(path, None, why, time.monotonic() - began, ran=False)


# --- the cache: only a cache, so nothing about it is ever an error ---


def _stamp(path: str) -> list[int] | None:
    """What differs between two builds in one place. Some package managers set the same times on
    every build; only the time of the last change (ctime) can't be set.
    """
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino]


def _key(binary: Binary, path: str) -> str:
    return json.dumps([os.path.realpath(path), [*binary.version_args], binary.version_pattern])


def _known(binary: Binary, path: str, folders: Folders, began: float) -> Probe | None:
    kept = _kept(folders.probes)
    entry = kept.get(_key(binary, path)) if kept else None
    if not isinstance(entry, dict) or entry.get("stamp") != _stamp(path):
        return None
    version = entry.get("version")
    if not isinstance(version, str) or not version:
        return None
    return Probe(path, version, None, time.monotonic() - began, cached=True)


def _kept(path: Path) -> dict[str, object] | None:
    """The answers in the cache, none where it is unreadable; None when a newer Barry wrote it."""
    try:
        document = read_json(path)
    except (StoreProblem, ValueError, RecursionError):
        return {}
    if not isinstance(document, dict):
        return {}
    schema = document.get("schema")
    if isinstance(schema, int) and schema > _SCHEMA:
        return None
    kept = document.get("probes")
    return kept if schema == _SCHEMA and isinstance(kept, dict) else {}


def _remember(binary: Binary, path: str, stamp: list[int], version: str, folders: Folders) -> None:
    with contextlib.suppress(StoreProblem), lock(folders.probes, wait_seconds=1.0):
        kept = _kept(folders.probes)
        if kept is None:
            return
        kept[_key(binary, path)] = {"stamp": stamp, "version": version}
        write_json(folders.probes, {"schema": _SCHEMA, "probes": kept})
