"""Where Claude Code keeps its settings and conversations."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

Env = Mapping[str, str | None]

_LONGEST = 200
_MANAGED = Path("/etc/claude-code")
_MANAGED_MAC = Path("/Library/Application Support/ClaudeCode")
_CONVERSATION = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def config_folder(env: Env) -> Path:
    """The user's folder of settings and conversations."""
    named = env.get("CLAUDE_CONFIG_DIR")
    return Path(named) if named else _home(env) / ".claude"


def state_file(env: Env) -> Path:
    """The user's state: answered dialogs, trusted folders."""
    named = env.get("CLAUDE_CONFIG_DIR")
    return (Path(named) if named else _home(env)) / ".claude.json"


def managed_files() -> list[Path]:
    """The settings of an organisation, each going over the ones before it."""
    folder = _MANAGED_MAC if sys.platform == "darwin" else _MANAGED
    return [folder / "managed-settings.json", *sorted(folder.glob("managed-settings.d/*.json"))]


def conversation_files(cwd: str, env: Env) -> Iterator[Path]:
    """The conversations of a folder, newest first; each is named by its id."""
    dated = []
    for folder in _folders_of(cwd, env):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    name, dot, kind = entry.name.rpartition(".")
                    if dot and kind == "jsonl" and _CONVERSATION.fullmatch(name):
                        dated.append((entry.stat().st_mtime_ns, Path(entry.path)))
        except OSError:
            continue
    for _, path in sorted(dated, reverse=True):
        yield path


def conversation_file(conversation: str, cwd: str, env: Env) -> Path | None:
    """Where a conversation of a folder is kept, or None when it isn't there."""
    if not _CONVERSATION.fullmatch(conversation):
        return None
    paths = (folder / f"{conversation}.jsonl" for folder in _folders_of(cwd, env))
    return next((path for path in paths if path.is_file()), None)


def new_conversation_file(conversation: str, cwd: str, env: Env) -> Path | None:
    """Where Claude Code will look for a conversation of a folder; None when that can't be told."""
    folders = _folders_of(cwd, env)
    return folders[0] / f"{conversation}.jsonl" if len(folders) == 1 else None


def _folders_of(cwd: str, env: Env) -> list[Path]:
    """Where a folder's conversations are. A long name is cut and gets a hash, hence the search."""
    projects = config_folder(env) / "projects"
    # Claude Code replaces UTF-16 units, of which the letters beyond the first plane have two.
    units = "".join("--" if ord(letter) > 0xFFFF else letter for letter in os.path.realpath(cwd))
    name = re.sub("[^a-zA-Z0-9]", "-", units)
    if len(name) <= _LONGEST:
        return [projects / name]
    return sorted(projects.glob(f"{name[:_LONGEST]}-*"))


def _home(env: Env) -> Path:
    return Path(env.get("HOME") or "~").expanduser()
