"""Whether the user can probably reach a model: by presence alone, nothing is opened or read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from barry_cli.contract.requirements import Login, Requirements
from barry_cli.registry.binaries import expand

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Concern:
    """One thing about the login that should be mended, and how."""

    text: str
    fix: str
    blocking: bool = False
    """Whether a launch is refused until it is mended."""


def check_login(login: Login | None, env: Mapping[str, str]) -> list[Concern]:
    """What is missing or contradicts itself. An empty variable counts as unset."""
    if login is None:
        return []
    found = [_conflict(names) for names in _together(login, env)]
    if login.needed and not login_present(login, env):
        found.append(_missing(login))
    return found


def conflicts(requirements: Requirements, env: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Groups of variables that are set together although at most one of each may be."""
    return _together(requirements.login, env) if requirements.login is not None else []


def login_present(login: Login, env: Mapping[str, str]) -> str | None:
    """The name of the variable or file that shows a login, or None."""
    for name in _set(login.variables, env):
        return name
    for file in login.files:
        path = _place(file, env)
        if path is not None and os.path.exists(path):
            return file
    return None


def _together(login: Login, env: Mapping[str, str]) -> list[tuple[str, ...]]:
    found = [tuple(_set(group, env)) for group in login.conflicts]
    return [names for names in found if len(names) > 1]


def _conflict(names: tuple[str, ...]) -> Concern:
    listed = " and ".join(names)
    return Concern(
        text=f"{listed} are set together, and at most one of them may be",
        fix=f"unset all but one: unset {' '.join(names[1:])}",
        blocking=True,
    )


def _missing(login: Login) -> Concern:
    places = [*login.variables, *login.files]
    if not places:
        return Concern("a login is needed, and its adapter doesn't say how it shows", "log in once")
    instead = f", or set {login.variables[0]}" if login.variables else ""
    return Concern(
        text=f"no login was found: looked for {_listed(places)}",
        fix=f"start the harness once and log in{instead}",
    )


def _listed(places: list[str]) -> str:
    more = len(places) - _SHOWN
    return ", ".join(places[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _set(names: tuple[str, ...], env: Mapping[str, str]) -> list[str]:
    return [name for name in names if env.get(name)]


def _place(file: str, env: Mapping[str, str]) -> str | None:
    """The path of a login file, or None while a variable in it is unset."""
    path = expand(file, env)
    if path is None:
        return None
    names = re.findall(r"\$\{?(\w+)\}?", path)
    if any(not env.get(name) for name in names):
        return None
    return re.sub(r"\$\{?(\w+)\}?", lambda found: env[found.group(1)], path)
