"""Where pi keeps its settings and sessions, read from the same files and variables as pi does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

Env = Mapping[str, str | None]

# A shell, what goes before each command, what installs packages, packages that get installed;
# and the name by which pi lets a file smuggle in any of these.
PROGRAMS = ("shellPath", "shellCommandPrefix", "npmCommand", "packages", "__proto__")


@dataclass(frozen=True)
class SessionFile:
    """One of pi's session files, known by its first line."""

    path: Path
    id: str
    cwd: str


def agent_folder(env: Env) -> Path:
    """Pi's own folder: settings, login, sessions."""
    named = env.get("PI_CODING_AGENT_DIR")
    return _expanded(named, env) if named else _home(env) / ".pi" / "agent"


def session_folder(cwd: str, env: Env) -> Path:
    """Where pi keeps the sessions of a folder. A folder that settings name holds all folders'."""
    named = env.get("PI_CODING_AGENT_SESSION_DIR") or _setting_of_folder(cwd, env)
    if named:
        return Path(cwd) / _expanded(named, env)
    safe = _real(cwd).lstrip("/\\")
    for letter in "/\\:":
        safe = safe.replace(letter, "-")
    return agent_folder(env) / "sessions" / f"--{safe}--"


def settings(path: Path) -> dict[str, object]:
    """A settings file of pi; empty when it isn't there or can't be read, as for pi itself."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def settings_files(cwd: str, env: Env) -> tuple[Path, Path]:
    """The user's settings and the folder's own, which go over them."""
    return agent_folder(env) / "settings.json", Path(cwd) / ".pi" / "settings.json"


def folder_programs(cwd: str) -> list[str] | None:
    """What in a folder's own settings makes pi run programs of the folder's choice.

    None: there are settings that can't be read here, and pi may read them otherwise.
    """
    path = Path(cwd) / ".pi" / "settings.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError):
        return None
    return [name for name in PROGRAMS if isinstance(found, dict) and name in found]


def refused_programs(cwd: str) -> str | None:
    """Why a folder's own settings can't stay where calls are ruled on, for a sentence."""
    programs = folder_programs(cwd)
    if programs is None:
        return "can't be read, and pi may read more in it"
    if programs:
        return f"sets {', '.join(programs)}: pi would run what it names, and nobody is asked"
    return None


def has_extensions(cwd: str, env: Env) -> bool:
    """Whether pi would load any code of the user's or the folder's as an extension."""
    for folder in (agent_folder(env), Path(cwd) / ".pi"):
        try:
            if any((folder / "extensions").iterdir()):
                return True
        except OSError:
            continue
    return any(
        found.get(name)
        for found in map(settings, settings_files(cwd, env))
        for name in ("extensions", "packages")
    )


def appended_prompt(cwd: str, env: Env) -> Path | None:
    """The file that pi appends to its system prompt when no flag says otherwise."""
    for folder in (Path(cwd) / ".pi", agent_folder(env)):
        if (folder / "APPEND_SYSTEM.md").exists():
            return folder / "APPEND_SYSTEM.md"
    return None


def session_files(cwd: str, env: Env) -> Iterator[SessionFile]:
    """The session files of a folder, newest first; what is no session file is passed over."""
    dated = ((_changed(path), path) for path in session_folder(cwd, env).glob("*.jsonl"))
    for _, path in sorted(dated, reverse=True):
        found = read_header(path)
        if found is not None and found.cwd == _real(cwd):
            yield found


def read_header(path: Path) -> SessionFile | None:
    """What a session file's first line says; None when it isn't there or is none."""
    try:
        with path.open("rb") as lines:
            head = json.loads(lines.readline(65536))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(head, dict) or head.get("type") != "session":
        return None
    session, cwd = head.get("id"), head.get("cwd")
    if not isinstance(session, str) or not isinstance(cwd, str) or not session:
        return None
    return SessionFile(path, session, cwd)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:  # gone since it was listed
        return 0


def _setting_of_folder(cwd: str, env: Env) -> str | None:
    user, project = map(settings, settings_files(cwd, env))
    named = {**user, **project}.get("sessionDir")
    return named if isinstance(named, str) and named else None


def _real(cwd: str) -> str:
    """The folder as pi names it: without symbolic links."""
    return os.path.realpath(cwd)


def _home(env: Env) -> Path:
    return Path(env.get("HOME") or "~").expanduser()


def _expanded(named: str, env: Env) -> Path:
    if named == "~" or named.startswith("~/"):
        return _home(env) / named[2:]
    return Path(named)
