"""The user's own settings: ``config/config.toml``."""

from __future__ import annotations

from dataclasses import dataclass

from barry_cli.base.ids import nearest
from barry_cli.base.paths import Folders
from barry_cli.base.problems import StoreProblem

_KNOWN = {"env": ("pass",)}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user set for every launch."""

    env_pass: tuple[str, ...] = ()
    """``[env] pass``: names, or patterns with ``*``, of variables that every harness may see."""


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
    except ValueError as error:
        raise StoreProblem(f"{path} is not TOML: {error}", hint="mend the file") from error
    for section, values in document.items():
        if section not in _KNOWN:
            raise _unknown(str(path), section, _KNOWN)
        if not isinstance(values, dict):
            raise StoreProblem(f"{path}: [{section}] is not a table", hint="mend the file")
        for key in values:
            if key not in _KNOWN[section]:
                raise _unknown(str(path), key, _KNOWN[section])
    passed = document.get("env", {}).get("pass", [])
    if not (isinstance(passed, list) and all(isinstance(name, str) for name in passed)):
        raise StoreProblem(f"{path}: env.pass is not a list of names", hint="mend the file")
    return Settings(env_pass=tuple(passed))


def _unknown(path: str, key: str, known: object) -> StoreProblem:
    names = [str(name) for name in known] if isinstance(known, dict | tuple) else []
    close = nearest(key, names)
    return StoreProblem(
        f"{path} has a key that Barry doesn't know: {key}",
        hint=f"did you mean {close}?" if close else f"the keys here: {', '.join(names)}",
        details={"path": path, "key": key},
    )
