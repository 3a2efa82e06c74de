"""Where Gemini CLI keeps its settings and conversations."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

Env = Mapping[str, str | None]

SYSTEM_SETTINGS = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"
SYSTEM_DEFAULTS = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"


@dataclass(frozen=True, slots=True)
class Conversation:
    """One transcript."""

    id: str
    path: Path
    written: int
    """When it was last written to, in nanoseconds."""


def home(env: Env) -> Path:
    """The folder that holds the user's ``.gemini``."""
    return Path(env.get("GEMINI_CLI_HOME") or env.get("HOME") or "~").expanduser()


def machine_folder() -> Path:
    """Where an administrator's settings and policies are."""
    if sys.platform == "darwin":
        return Path("/Library/Application Support/GeminiCli")
    return Path("/etc/gemini-cli")


def conversations(cwd: str, env: Env) -> list[Conversation]:
    """The conversations of a folder, newest first; a conversation in two files counts once."""
    found: dict[str, Conversation] = {}
    for folder in _folders_of(cwd, env):
        for each in _in(folder / "chats"):
            if each.id not in found or found[each.id].written < each.written:
                found[each.id] = each
    return sorted(found.values(), key=lambda each: each.written, reverse=True)


def new_conversation_file(id: str, cwd: str, env: Env) -> Path | None:
    """Where a conversation is looked for that is brought here; None where no folder is named yet.

    Its name has a minute that is long past: a file of the present one may be written anew.
    """
    folder = next((each for each in _folders_of(cwd, env) if each.is_dir()), None)
    return folder / "chats" / f"session-2000-01-01T00-00-{id[:8]}.jsonl" if folder else None


def _in(chats: Path) -> Iterator[Conversation]:
    try:
        paths = sorted(chats.glob("session-*.jsonl"))
    except OSError:
        return
    for path in paths:
        try:
            with path.open("rb") as lines:
                header = json.loads(lines.readline(65536))
            written = path.stat().st_mtime_ns
        except (OSError, ValueError, RecursionError):
            continue
        # What subagents did is kept apart, under ids of their own.
        if isinstance(header, dict) and header.get("kind", "main") == "main":
            known = header.get("sessionId")
            # One with a blank before it belongs to a file that is left over, see ``dialogue``.
            if isinstance(known, str) and known == known.strip() != "":
                yield Conversation(known, path, written)


def _folders_of(cwd: str, env: Env) -> Iterator[Path]:
    """Where a folder's files are: under the short name it was given, or an older build's hash."""
    top = home(env) / ".gemini"
    real = os.path.realpath(cwd)
    try:
        registry = json.loads((top / "projects.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        registry = None
    projects = registry.get("projects") if isinstance(registry, dict) else None
    name = projects.get(real) if isinstance(projects, dict) else None
    if isinstance(name, str) and name not in ("", ".", "..") and "/" not in name:
        yield top / "tmp" / name
    yield top / "tmp" / hashlib.sha256(real.encode("utf-8", "surrogateescape")).hexdigest()
