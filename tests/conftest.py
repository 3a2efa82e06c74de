"""Every test has a home of its own, and one kind of test runs as nobody."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import settings

from tests.toy import Barry, Toys

NOBODY = 65534

# What every change must pass is the same for every change; at home each run tries other examples.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

# What would lead Barry, or a harness, out of the test's own folders.
ELSEWHERE = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
             "XDG_RUNTIME_DIR")  # fmt: skip


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A fresh HOME and BARRY_HOME. Its path is short, because sockets go below it."""
    top = Path(tempfile.mkdtemp(prefix="barry-"))
    user = top / "home"
    user.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("BARRY_HOME", str(top / "barry"))
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    yield user
    shutil.rmtree(top, ignore_errors=True)


class AsNobody(Protocol):
    """Runs a function in a child under a uid that owns nothing; gives its result back."""

    def __call__(self, work: Callable[[], Any]) -> Any: ...


@pytest.fixture
def as_nobody() -> AsNobody:
    """For what permissions forbid: the tests may run as root, and root is forbidden nothing.

    The child has what is imported here already and can import no more where the interpreter's
    own folder is private. What the work raises fails the test, with the child's own traceback.
    """

    def run(work: Callable[[], Any]) -> Any:
        reader, writer = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the child only runs the work
            child = os.fork()
        if child == 0:
            try:
                os.close(reader)
                if os.getuid() == 0:
                    os.setgroups([])
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                answer = (True, work())
            except BaseException:
                answer = (False, traceback.format_exc())
            with os.fdopen(writer, "wb") as out:
                pickle.dump(answer, out)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as answers:
            data = answers.read()
        os.waitpid(child, 0)
        worked, result = pickle.loads(data)
        assert worked, result
        return result

    return run


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that nobody may read and write too, whoever runs the tests."""
    folder = Path(tempfile.mkdtemp(prefix="barry-open-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Toys:
    """The toy adapters of this run."""
    return Toys(tmp_path_factory.mktemp("toys"))


@pytest.fixture
def barry(home: Path, tmp_path: Path, toys: Toys) -> Iterator[Barry]:
    """Barry with the toy installed, in folders of the test's own."""
    made = Barry(tmp_path, toys)
    made.install()
    yield made
    made.close()


@pytest.fixture
def small_disk(barry: Barry) -> Iterator[Path]:
    """Where sessions are recorded: a disk of its own with no room, where one may be mounted."""
    place = barry.folders.state
    place.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    yield place
    if mounted.returncode == 0:
        subprocess.run(["umount", "-l", str(place)], check=True)
