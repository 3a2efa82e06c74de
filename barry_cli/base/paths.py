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
    """The folders for this environment."""
    home = os.environ.get("BARRY_HOME")
    if home:
        root = Path(home).expanduser().absolute()
        return Folders(*(root / name for name in ("config", "data", "state", "cache", "run")))
    import platformdirs

    return Folders(
        config=platformdirs.user_config_path("barry"),
        data=platformdirs.user_data_path("barry"),
        state=platformdirs.user_state_path("barry"),
        cache=platformdirs.user_cache_path("barry"),
        run=_run(),
    )


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
        raise StoreProblem(
            f"the folder {folder} can't be made: {error.strerror or error}",
            hint="make it writable, or set BARRY_HOME to a folder that is",
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
        raise StoreProblem(
            f"the folder {folder} is not yours alone: it is a link, another user's, or open to "
            "others",
            hint=f"remove it, or make it private: chmod 700 {folder}",
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
