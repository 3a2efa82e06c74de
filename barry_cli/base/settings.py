"""The user's own settings: ``config/config.toml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from barry_cli.base.ids import nearest
from barry_cli.base.paths import Folders
from barry_cli.base.problems import StoreProblem

KNOWN: Mapping[str, tuple[str, ...]] = {
    "bounds": ("always",),
    "env": ("pass",),
    "session": ("retention",),
}
"""Table -> its keys."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user set for every launch."""

    env_pass: tuple[str, ...] = ()
    """``[env] pass``: names, or patterns with ``*``, of variables that every harness may see."""
    bounds_always: tuple[str, ...] = ()
    """``[bounds] always``: names or paths of bounds that hold everywhere."""
    session_retention: timedelta | None = None
    """``[session] retention``: how old a session that has ended may grow before it is pruned."""


def read_settings(folders: Folders) -> Settings:
    """The settings, or the defaults where there is no file.

    Raises StoreProblem for a file that can't be read and for keys that Barry doesn't know: a
    setting that is misspelt must not pass for one that holds.
    """
    path = folders.settings
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise StoreProblem(
            f"{path} can't be read: {error.strerror}", hint="mend its permissions"
        ) from error
    import tomllib

    try:
        document = tomllib.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise StoreProblem(f"{path} is not TOML: {error}", hint="mend the file") from error
    for section, values in document.items():
        if section not in KNOWN:
            raise _unknown(str(path), section, KNOWN)
        if not isinstance(values, dict):
            raise StoreProblem(f"{path}: [{section}] is not a table", hint="mend the file")
        for key in values:
            if key not in KNOWN[section]:
                raise _unknown(str(path), key, KNOWN[section])
    return Settings(
        env_pass=_texts(document, str(path), "env", "pass"),
        bounds_always=_texts(document, str(path), "bounds", "always"),
        session_retention=_duration(document, str(path), "session", "retention"),
    )


def _texts(document: Mapping[str, Any], path: str, section: str, key: str) -> tuple[str, ...]:
    found = document.get(section, {}).get(key, [])
    if not (isinstance(found, list) and all(isinstance(each, str) for each in found)):
        raise StoreProblem(f"{path}: {section}.{key} is not a list of names", hint="mend the file")
    return tuple(found)


def _duration(document: Mapping[str, Any], path: str, section: str, key: str) -> timedelta | None:
    found = document.get(section, {}).get(key)
    if found is None:
        return None
    from barry_cli.base.durations import FORM, duration

    try:
        if isinstance(found, str):
            return duration(found)
    except ValueError:
        pass
    raise StoreProblem(f"{path}: {section}.{key} is not {FORM}", hint="mend the file")


def _unknown(path: str, key: str, known: Iterable[str]) -> StoreProblem:
    names = list(known)
    close = nearest(key, names)
    return StoreProblem(
        f"{path} has a key that Barry doesn't know: {key}",
        hint=f"did you mean {close}?" if close else f"the keys here: {', '.join(names)}",
        details={"path": path, "key": key},
    )
