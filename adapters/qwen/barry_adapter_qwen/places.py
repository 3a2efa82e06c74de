"""Where Qwen Code keeps its settings and conversations."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

Env = Mapping[str, str | None]

SYSTEM_SETTINGS = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
SYSTEM_DEFAULTS = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"

TRUSTED_FOLDERS = "QWEN_CODE_TRUSTED_FOLDERS_PATH"

_CONVERSATION = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def home(env: Env) -> Path:
    """The user's home folder."""
    return Path(env.get("HOME") or "~").expanduser()


def user_folder(env: Env) -> Path:
    """The user's folder of settings."""
    named = env.get("QWEN_HOME")
    return _resolved(named, env) if named else home(env) / ".qwen"


def machine_folder() -> Path:
    """Where an administrator's settings are."""
    if sys.platform == "darwin":
        return Path("/Library/Application Support/QwenCode")
    return Path("/etc/qwen-code")


def conversation_files(cwd: str, env: Env, elsewhere: str | None = None) -> Iterator[Path]:
    """The conversations of a folder, newest first; each is named by its id.

    ``elsewhere`` is the folder for them that the settings name.
    """
    dated = []
    try:
        with os.scandir(_chats(cwd, env, elsewhere)) as entries:
            for entry in entries:
                name, dot, kind = entry.name.rpartition(".")
                if dot and kind == "jsonl" and _CONVERSATION.fullmatch(name):
                    dated.append((entry.stat().st_mtime_ns, Path(entry.path)))
    except OSError:
        return
    for _, path in sorted(dated, reverse=True):
        yield path


def conversation_file(id: str, cwd: str, env: Env, elsewhere: str | None = None) -> Path:
    """Where a conversation of this folder is kept, whether it is there or not."""
    return _chats(cwd, env, elsewhere) / f"{id}.jsonl"


def _chats(cwd: str, env: Env, elsewhere: str | None) -> Path:
    named = env.get("QWEN_RUNTIME_DIR") or elsewhere
    top = _resolved(named, env) if named else user_folder(env)
    # Qwen Code replaces UTF-16 units, of which the letters beyond the first plane have two.
    units = "".join("--" if ord(letter) > 0xFFFF else letter for letter in os.path.realpath(cwd))
    return top / "projects" / re.sub("[^a-zA-Z0-9]", "-", units) / "chats"


def _resolved(path: str, env: Env) -> Path:
    if path == "~" or path.startswith("~/"):
        return home(env) / path[2:]
    return Path(os.path.abspath(path))
