"""Conversations on disk: one JSON line an event, written as it happens.

``<home>/projects/<folder of the cwd>/<id>.jsonl``, where home is ``$BARRY_DEMO_HOME`` or
``~/.barry-demo``. Every line has ``time`` (ISO 8601, UTC) and ``type``: meta, user, assistant,
tool_use, tool_result, usage or error.
"""

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from .problems import Refused, reason
from .wire import json_line, parsed

Event = dict[str, object]


def projects(env: Mapping[str, str]) -> str:
    """The directory that holds every project's conversations."""
    home = env.get("BARRY_DEMO_HOME")
    if not home:
        user = env.get("HOME") or os.path.expanduser("~")
        home = os.path.join(user, ".barry-demo")
    return os.path.join(os.path.abspath(home), "projects")


def project(cwd: str, env: Mapping[str, str]) -> str:
    """The directory for one cwd: its end, for people, and a digest, so that none collide."""
    from hashlib import sha256

    cwd = os.path.realpath(cwd)
    readable = "".join(each if each.isalnum() and each.isascii() else "-" for each in cwd)[-60:]
    digest = sha256(os.fsencode(cwd)).hexdigest()[:10]
    return os.path.join(projects(env), f"{readable.strip('-')}-{digest}".lstrip("-"))


def is_id(text: str) -> bool:
    """Whether a text is a conversation id: a UUID in its usual lower-case form."""
    parts = text.split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and all(
        each in "0123456789abcdef" for part in parts for each in part
    )


def find(session: str, cwd: str, env: Mapping[str, str]) -> str | None:
    """The transcript of a conversation of this cwd."""
    path = os.path.join(project(cwd, env), f"{session}.jsonl")
    return path if is_id(session) and os.path.isfile(path) else None


def in_use(session: str, env: Mapping[str, str]) -> bool:
    """Whether a conversation of any cwd has this id."""
    root = projects(env)
    try:
        folders = os.listdir(root)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Refused(f"cannot read {root}: {reason(error)}") from None
    return any(os.path.exists(os.path.join(root, each, f"{session}.jsonl")) for each in folders)


def ids(cwd: str, env: Mapping[str, str]) -> list[str]:
    """The conversations of a cwd, the one written to last first."""
    folder = project(cwd, env)
    found: list[tuple[float, str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                session, dot, _ = entry.name.partition(".jsonl")
                if dot and is_id(session) and entry.is_file():
                    found.append((entry.stat().st_mtime, session))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Refused(f"cannot read {folder}: {reason(error)}") from None
    return [session for _, session in sorted(found, reverse=True)]


def read(path: str) -> Iterator[Event]:
    """The events of a transcript. A line that is no JSON object (torn by a crash) is left out."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                event = parsed(line)
            except ValueError:
                continue
            if isinstance(event, dict) and isinstance(event.get("type"), str):
                yield event


def now() -> str:
    """The time as lines have it; of two, the later one is the greater text."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Transcript:
    """Appends to one conversation's file. ``create`` means it must not exist yet."""

    def __init__(self, path: str, *, create: bool) -> None:
        self.path = path
        self._create = create
        self._file: int | None = None

    def append(self, event: Event) -> None:
        """Write one line. Raises Refused when it cannot be written."""
        line = json_line({"time": now(), **event})
        try:
            if self._file is None:
                self._file = self._open()
            while line:
                line = line[os.write(self._file, line) :]
        except FileExistsError:
            name = os.path.basename(self.path).removesuffix(".jsonl")
            raise Refused(f"session id {name} is already in use") from None
        except OSError as error:
            self.close()  # The next line opens it anew and mends a torn end.
            raise Refused(f"cannot write the transcript {self.path}: {reason(error)}") from None

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        if self._create:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
            file = os.open(self.path, flags, 0o600)
            self._create = False  # Only now: another process's file is never appended to.
            return file
        file = os.open(self.path, os.O_RDWR | os.O_APPEND)
        end = os.lseek(file, 0, os.SEEK_END)
        if end and os.pread(file, 1, end - 1) != b"\n":
            os.write(file, b"\n")  # A crash tore the last line; ours starts on its own.
        return file
