"""Where Barry keeps things: five folders, each under ``$BARRY_HOME`` when that is set."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from barry_cli.base.problems import StoreProblem


@dataclass(frozen=True, slots=True)
class Folders:
    """Barry's folders. Nothing is created until something is written."""

    config: Path
    data: Path
    state: Path
    cache: Path
    run: Path

    @property
    def registry(self) -> Path:
        """The installed adapters."""
        return self.data / "adapters.json"

    @property
    def database(self) -> Path:
        """Sessions and what belongs to them."""
        return self.state / "barry.db"

    @property
    def probes(self) -> Path:
        """What harness programs answered when asked for their version."""
        return self.cache / "probes.json"

    @property
    def verified(self) -> Path:
        """What this machine itself has shown of its harnesses."""
        return self.state / "verified.json"

    @property
    def policies(self) -> Path:
        """Compiled bounds; they are made again where they are missing."""
        return self.cache / "policies"

    @property
    def settings(self) -> Path:
        """The user's own settings."""
        return self.config / "config.toml"

    @property
    def bounds(self) -> Path:
        """The user's own bounds, by name."""
        return self.config / "bounds"

    @property
    def launches(self) -> Path:
        """What plans keep for as long as their harness runs."""
        return self.state / "launches"

    @property
    def crashes(self) -> Path:
        """Logs of failures that Barry did not expect."""
        return self.state / "crashes"


def folders() -> Folders:
    """The folders for this environment.

    Raises StoreProblem for a BARRY_HOME that can't be a folder.
    """
    home = os.environ.get("BARRY_HOME")
    if home:
        root = _root(home)
        return Folders(*(root / name for name in ("config", "data", "state", "cache", "run")))
    import platformdirs

    return Folders(
        config=platformdirs.user_config_path("barry"),
        data=platformdirs.user_data_path("barry"),
        state=platformdirs.user_state_path("barry"),
        cache=platformdirs.user_cache_path("barry"),
        run=_run(),
    )


def _root(home: str) -> Path:
    """The folder that BARRY_HOME names; it need not be there yet."""
    hint = "set BARRY_HOME to a folder that is yours, or unset it"
    try:
        root = Path(home).expanduser().absolute()
    except RuntimeError:  # somebody's home that is not known
        who = home.partition("/")[0]
        raise _no_home(home, f"nobody knows what {who} stands for", hint) from None
    except OSError:
        why = "it is relative to the current folder, and that is gone"
        hint = "cd to a folder that is there, or set BARRY_HOME to an absolute path"
        raise _no_home(home, why, hint) from None
    try:
        # Of something inside: a file, a loop and a path that leaves no room all show there.
        os.lstat(root / ("x" * 100))
    except FileNotFoundError:
        if os.path.islink(root) and not os.path.exists(root):
            raise _no_home(home, "it is a link to where nothing is", hint) from None
    except PermissionError as error:
        hint += f"; `ls -ld {shown(home)}` says whose it is"
        raise _no_home(home, error.strerror or "it may not be entered", hint) from error
    except OSError as error:
        raise _no_home(home, error.strerror or str(error), hint) from error
    return root


def _no_home(home: str, why: str, hint: str) -> StoreProblem:
    return StoreProblem(
        f"BARRY_HOME is {shown(home)}, and that can't be used: {why}",
        hint=hint,
        details={"path": home},
    )


def shown(path: str) -> str:
    """A path as a message can bear it: of a very long one, its beginning."""
    return path if len(path) <= 200 else path[:197] + "..."


def in_the_way(path: Path) -> Path | None:
    """What is above a path and is there, but is no folder."""
    for place in reversed(path.parents):
        if os.path.lexists(place) and not place.is_dir():
            return place
    return None


def _run() -> Path:
    """The platform's folder for what lives as long as a login, else a short one of our own."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isdir(runtime):
        return Path(runtime) / "barry"
    return _short_run()


def _short_run() -> Path:
    return Path(f"/tmp/barry-{os.getuid()}")  # noqa: S108 - who makes it checks whose it is


def ensure(folder: Path) -> Path:
    """Create a private folder (0700) where it is missing.

    Raises StoreProblem when it can't be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        hint = "make the folder above it writable, or set BARRY_HOME to a folder that is"
        if (other := in_the_way(folder / "inside")) is not None:
            hint = f"move {other} aside: it is no folder; or set BARRY_HOME to one that is"
        raise StoreProblem(
            f"the folder {folder} can't be made: {error.strerror or error}",
            hint=hint,
            details={"path": str(folder)},
        ) from error
    return folder


def ensure_own(folder: Path) -> Path:
    """``ensure``, and refuse a folder that others could have put there or can reach into.

    Raises StoreProblem.
    """
    ensure(folder)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        hint = f"remove it, or make it private: chmod 700 {folder}"
        if status.st_uid != os.getuid():
            hint = f"have its owner remove {folder}, or set BARRY_HOME to a folder of your own"
        raise StoreProblem(
            f"the folder {folder} is not yours alone: it is a link, another user's, or open to "
            "others",
            hint=hint,
            details={"path": str(folder)},
        )
    return folder


# sun_path holds 108 bytes on Linux and 104 elsewhere, the closing NUL included.
SOCKET_PATH_LIMIT = 107 if os.uname().sysname == "Linux" else 103


def socket_folder() -> Path:
    """The folder that sockets go to: ``run``, or a short one when ``run`` is too long a path."""
    run = folders().run
    longest = len(os.fsencode(run / ("x" * 12 + ".sock")))
    return run if longest <= SOCKET_PATH_LIMIT else _short_run()
