"""The environment of a harness: an allow-list, never the caller's whole environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

ALWAYS = (
    "HOME PATH SHELL USER LOGNAME TERM COLORTERM LANG LC_* TZ TMPDIR XDG_* DISPLAY "
    "WAYLAND_DISPLAY SSH_AUTH_SOCK EDITOR VISUAL PAGER NO_COLOR *_PROXY *_proxy VIRTUAL_ENV "
    "NVM_DIR JAVA_HOME GOPATH CARGO_HOME"
).split()
"""What every program may see. A ``*`` stands for any run of letters."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What a harness will see, and the names of what it will not."""

    values: dict[str, str]
    dropped: tuple[str, ...]


def cut(
    base: Mapping[str, str],
    *,
    also: Iterable[str] = (),
    never: Iterable[str] = (),
    certainly: Iterable[str] = (),
) -> Environment:
    """The part of an environment that may pass.

    ``also`` adds names and patterns (the adapter's, the user's); ``never`` takes names out
    whatever else says so, the marks of the session that the caller itself runs in; only the
    names of ``certainly`` pass even then, because the user gave each of them.
    """
    passing = (*ALWAYS, *also)
    stripped = tuple(never)
    asked = frozenset(certainly)
    values: dict[str, str] = {}
    dropped: list[str] = []
    for name, value in base.items():
        if name in asked:
            values[name] = value
        elif any(fnmatchcase(name, mark) for mark in stripped):
            dropped.append(name)
        elif any(fnmatchcase(name, pattern) for pattern in passing):
            values[name] = value
        else:
            dropped.append(name)
    return Environment(values=values, dropped=tuple(sorted(dropped)))


def apply(values: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """An environment with a plan's changes made: None unsets a name."""
    after = dict(values)
    for name, value in changes.items():
        if value is None:
            after.pop(name, None)
        else:
            after[name] = value
    return after
