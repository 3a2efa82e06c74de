"""Carries out what an adapter planned: the one place where plans meet the disk.

Everything goes into one private folder per session, which is removed with it. The user's own files
are read where a plan names them, and never written.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from barry_cli.base.files import write_atomic
from barry_cli.base.paths import ensure_own, folders
from barry_cli.contract.draft import sweep
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.plans import (
    AgentConfiguration,
    CredentialPlan,
    GeneratedFile,
    HostFile,
    MergedFile,
    relative_path,
)


@dataclass(frozen=True, slots=True)
class Placed:
    """What is in place for a session."""

    home: Path | None
    """The private folder; None when nothing was planned for it."""
    variables: Mapping[str, str] = field(repr=False)
    """What its processes are given beside their environment."""

    def remove(self) -> None:
        """Remove the folder. Idempotent."""
        if self.home is not None:
            shutil.rmtree(self.home, ignore_errors=True)


def place(
    credentials: CredentialPlan | None,
    configuration: AgentConfiguration | None,
    *,
    local: bool,
    user_home: str | None,
) -> Placed:
    """Put the files of both plans in place, credentials first.

    On this machine (``local``) the harness reads the user's own files, so of the credentials only
    the variables are used, and no file of the user's is copied. Raises AgentFault
    (``configuration``), or StoreProblem when Barry's own folder can't be written; nothing is left
    behind then.
    """
    variables = dict(credentials.variables) if credentials is not None else {}
    host: list[HostFile] = []
    files: list[GeneratedFile | MergedFile] = []
    if not local and credentials is not None:
        host += credentials.host
        files += credentials.files
    if configuration is not None:
        host += () if local else configuration.host
        files += configuration.files
    _refuse_twice(host, files)
    if not host and not files:
        return Placed(None, variables)
    home = _new_folder()
    try:
        for copy in host:
            _copy(copy, home, variables, user_home)
        for file in files:
            if isinstance(file, GeneratedFile):
                write_atomic(_inside(home, file.path), file.text.encode())
            else:
                merge_json(_inside(home, file.path), file.entries, file.section)
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise
    return Placed(home, variables)


def _new_folder() -> Path:
    where = ensure_own(folders().launches)
    sweep(where)
    return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=where))


def _refuse_twice(host: list[HostFile], files: list[GeneratedFile | MergedFile]) -> None:
    """A file is made once; entries may be merged into it as often as wanted."""
    made = [copy.path for copy in host if copy.path is not None]
    made += [file.path for file in files if isinstance(file, GeneratedFile)]
    for path in made:
        if made.count(path) > 1:
            raise AgentFault(
                "configuration",
                f"the agent's plans make the file {path} twice",
                hint="correct the adapter's plan",
            )


def _inside(home: Path, path: str) -> Path:
    """A path of the private folder, its own folder there (0700). No link leads out of it."""
    target = home / relative_path(path)
    for folder in reversed(target.relative_to(home).parents[:-1]):
        (home / folder).mkdir(mode=0o700, exist_ok=True)
    real = Path(os.path.realpath(target))
    if not real.is_relative_to(os.path.realpath(home)):
        raise AgentFault(
            "configuration",
            f"{path} is a link that leads out of the session's own folder",
            hint="correct the adapter's plan",
        )
    return real


def _copy(copy: HostFile, home: Path, variables: dict[str, str], user_home: str | None) -> None:
    source = Path(copy.source)
    if copy.source.startswith("~/"):
        source = Path(user_home or os.path.expanduser("~")) / copy.source[2:]
    try:
        text = source.read_text(encoding="utf-8")
        if copy.select is not None:
            text = copy.select(text)
    except (OSError, ValueError) as error:
        if copy.optional and isinstance(error, FileNotFoundError):
            return
        # What a selection says of a file's text may quote it: only its kind is told.
        why = (error.strerror if isinstance(error, OSError) else None) or "it is not as expected"
        raise AgentFault(
            "configuration",
            f"{copy.source} is needed for the agent, and it can't be used: {why}",
            hint=copy.alternative or "log in with the harness itself, then try again",
        ) from None
    if copy.variable is not None:
        variables[copy.variable] = text.strip()
    elif copy.path is not None:
        write_atomic(_inside(home, copy.path), text.encode())


def merge_json(path: Path, entries: Mapping[str, Any], section: str | None) -> None:
    """Put entries into a JSON file, one level deep; see ``MergedFile``.

    A link is followed, and its target replaced. The file's mode stays; a new one gets 0600. Raises
    AgentFault (``configuration``) when it isn't a JSON object, or the section none; it is then
    left as it is.
    """
    real = Path(os.path.realpath(path))
    mode = 0o600
    document: Any = {}
    try:
        document = json.loads(real.read_bytes())
        mode = stat.S_IMODE(real.stat().st_mode)
    except FileNotFoundError:
        pass
    except (OSError, ValueError):
        raise _no_object(path, "it can't be read as JSON") from None
    if not isinstance(document, dict):
        raise _no_object(path, "it holds no JSON object")
    target = document
    if section is not None:
        target = document.setdefault(section, {})
        if not isinstance(target, dict):
            raise _no_object(path, f"its entry {section} is no object")
    target.update(entries)
    data = (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
    write_atomic(real, data, mode=mode)
    if stat.S_IMODE(real.stat().st_mode) != mode:  # the umask took from it
        real.chmod(mode)


def _no_object(path: Path, why: str) -> AgentFault:
    return AgentFault(
        "configuration",
        f"{path} can't be given the agent's settings: {why}; it was left as it is",
        hint="correct that file, or move it aside",
    )
