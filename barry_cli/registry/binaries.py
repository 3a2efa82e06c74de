"""Finds a harness's program: where its adapter says, on PATH, then in the managers' folders."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from barry_cli.base.problems import HarnessCannotRun, HarnessNotFound
from barry_cli.contract.requirements import Binary


@dataclass(frozen=True, slots=True)
class Found:
    """A program that can be started, and how it was come by."""

    path: str
    why: str
    """In words: ``named by the adapter``, ``on PATH``, ``in the folder of nvm``."""
    tried: tuple[str, ...]
    """What was passed over on the way, with the reason. Places where nothing was don't count."""


def find_binary(binary: Binary, env: Mapping[str, str]) -> Found:
    """The first program in order that can be started.

    Raises HarnessNotFound when it is nowhere, HarnessCannotRun when all there is can't be run.
    """
    passed: list[str] = []
    seen: set[str] = set()
    for path, why in _candidates(binary, env, passed):
        if path in seen:
            continue
        seen.add(path)
        try:
            problem = cannot_run(path)
        except FileNotFoundError:
            continue
        if problem is None:
            return Found(path, why, tuple(passed))
        passed.append(f"{path} {problem}")
    broken = [each for each in passed if each.startswith("/")]
    details = {"command": binary.command, "tried": passed}
    if broken:
        import shlex

        path, _, problem = broken[0].rpartition(f" {_NOT_EXECUTABLE}")
        mend = f"make it executable (chmod +x {shlex.quote(path)})" if path and not problem else (
            "mend or remove that file"
        )  # fmt: skip
        raise HarnessCannotRun(
            f"{binary.command} can't be run: {broken[0]}",
            hint=f"{mend}, or install it anew: {install_hint(binary)}",
            details=details,
        )
    raise HarnessNotFound(
        f"{binary.command} is not on this machine: not where its adapter names it, not on PATH, "
        "not in the folders of nvm, volta, bun, brew, npm or ~/.local/bin",
        hint=f"install it: {install_hint(binary)}",
        details=details,
    )


def reachable(env: Mapping[str, str], path: str) -> dict[str, str]:
    """The environment with the program's own folder last on PATH: a script that a version manager
    keeps beside its interpreter finds that interpreter.
    """
    folder = os.path.dirname(path)
    parts = [part for part in env.get("PATH", "").split(os.pathsep) if part]
    if folder in parts:
        return dict(env)
    return {**env, "PATH": os.pathsep.join([*parts, folder])}


_NOT_EXECUTABLE = "is not executable"


def cannot_run(path: str) -> str | None:
    """Why a file can't be started, or None. Raises FileNotFoundError when nothing is there."""
    try:
        status = os.stat(path)
    except OSError as error:
        return _unreachable(path, error)
    if stat.S_ISDIR(status.st_mode):
        return "is a directory"
    if not stat.S_ISREG(status.st_mode):
        return "is not a file"
    if not os.access(path, os.X_OK):
        return _NOT_EXECUTABLE
    if status.st_size == 0:
        return "is an empty file"
    return None


def install_hint(binary: Binary) -> str:
    """How a person installs the program on this platform: a command or a sentence."""
    install = binary.install
    here = {"linux": install.linux, "darwin": install.darwin}.get(sys.platform)
    return here or install.fallback or f"see the documentation of {binary.command}"


def expand(path: str, env: Mapping[str, str]) -> str | None:
    """A path with a leading ``~`` made whole from HOME; None when there is no HOME."""
    if path != "~" and not path.startswith("~/"):
        return path
    home = env.get("HOME")
    return home + path[1:] if home else None


def _unreachable(path: str, error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "is a symlink that leads back to itself"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        if os.path.islink(path):
            return f"is a symlink to {os.readlink(path)}, where nothing is"
        raise FileNotFoundError(path)
    if isinstance(error, PermissionError):
        return "lies in a folder that may not be entered"
    return f"can't be looked at: {error.strerror or error}"


def _candidates(
    binary: Binary, env: Mapping[str, str], passed: list[str]
) -> Iterator[tuple[str, str]]:
    for named in binary.paths:
        path = expand(named, env)
        if path is not None:
            yield path, "named by the adapter"
    command = binary.command
    if "/" in command:
        yield os.path.abspath(command), "named by the adapter"
        return
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(folder):
            yield os.path.join(folder, command), "on PATH"
        elif os.path.lexists(os.path.join(folder, command)):
            # What stands in the current folder may be the work of whoever wrote the project.
            passed.append(f"PATH entry {folder or '(empty)'!s}: relative to the current folder")
    for manager, folder in _managers(env):
        yield os.path.join(folder, command), f"in the folder of {manager}"


def _managers(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Where tools that install programs put them, also when no shell has set PATH up."""
    home = env.get("HOME")

    def place(variable: str, below_home: str) -> str | None:
        return env.get(variable) or (os.path.join(home, below_home) if home else None)

    if nvm := place("NVM_DIR", ".nvm"):
        for version in _newest_first(os.path.join(nvm, "versions", "node")):
            yield "nvm", os.path.join(version, "bin")
    if volta := place("VOLTA_HOME", ".volta"):
        yield "volta", os.path.join(volta, "bin")
    if bun := place("BUN_INSTALL", ".bun"):
        yield "bun", os.path.join(bun, "bin")
    for prefix in (
        env.get("HOMEBREW_PREFIX"),
        "/opt/homebrew",
        "/usr/local",
        "/home/linuxbrew/.linuxbrew",
    ):
        if prefix:
            yield "brew", os.path.join(prefix, "bin")
    if npm := place("NPM_CONFIG_PREFIX", ".npm-global"):
        yield "npm", os.path.join(npm, "bin")
    if home:
        yield "the user", os.path.join(home, ".local", "bin")


def _newest_first(folder: str) -> list[str]:
    """The version folders (``v20.11.1``) in a folder, the highest version first."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    numbered = []
    for name in names:
        numbers = name.removeprefix("v").split(".")
        if all(each.isascii() and each.isdigit() for each in numbers):
            numbered.append(([int(each) for each in numbers], name))
    return [os.path.join(folder, name) for _, name in sorted(numbered, reverse=True)]
