from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from barry_cli.base.problems import HarnessCannotRun, HarnessNotFound
from barry_cli.contract.requirements import Binary, Install, Pin
from barry_cli.registry.binaries import Found, find_binary
from tests.conftest import AsNobody

Env = dict[str, str]


def binary(*paths: str, command: str = "tool") -> Binary:
    return Binary(
        command=command,
        version_args=("--version",),
        version_pattern=r"(\d+)",
        pin=Pin(version="1", enforced_by="nothing"),
        install=Install(linux="get tool", darwin="brew tool", fallback="build tool"),
        paths=paths,
    )


def program(path: Path, text: str = "#!/bin/sh\n", mode: int = 0o755) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return str(path)


@pytest.fixture
def env(home: Path, tmp_path: Path) -> Env:
    return {"HOME": str(home), "PATH": str(tmp_path / "bin")}


def test_the_adapters_own_path_comes_first(env: Env, home: Path, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "tool")
    own = program(home / "own" / "tool")
    assert find_binary(binary("/not/there", "~/own/tool"), env) == Found(
        own, "named by the adapter", ()
    )


def test_then_path_in_its_order(env: Env, tmp_path: Path, home: Path) -> None:
    first = program(tmp_path / "first" / "tool")
    program(tmp_path / "bin" / "tool")
    program(home / ".local" / "bin" / "tool")
    env["PATH"] = f"{tmp_path}/none:{tmp_path}/first:{tmp_path}/bin"
    found = find_binary(binary("~/own/tool"), env)
    assert (found.path, found.why) == (first, "on PATH")


MANAGED = {
    "nvm": ".nvm/versions/node/v9.0.0/bin",
    "volta": ".volta/bin",
    "bun": ".bun/bin",
    "npm": ".npm-global/bin",
    "the user": ".local/bin",
}


@pytest.mark.parametrize("manager", MANAGED)
def test_then_the_managers_folders(env: Env, home: Path, manager: str) -> None:
    path = program(home / MANAGED[manager] / "tool")
    found = find_binary(binary(), env)
    assert (found.path, found.why) == (path, f"in the folder of {manager}")


@pytest.mark.parametrize(
    ("variable", "below"),
    [
        ("NVM_DIR", "versions/node/v20.1.0/bin"),
        ("VOLTA_HOME", "bin"),
        ("BUN_INSTALL", "bin"),
        ("HOMEBREW_PREFIX", "bin"),
        ("NPM_CONFIG_PREFIX", "bin"),
    ],
)
def test_a_manager_may_say_where_it_is(env: Env, tmp_path: Path, variable: str, below: str) -> None:
    path = program(tmp_path / "managed" / below / "tool")
    with pytest.raises(HarnessNotFound):
        find_binary(binary(), env)
    assert find_binary(binary(), {**env, variable: str(tmp_path / "managed")}).path == path


def test_nvm_gives_its_newest_version(env: Env, home: Path) -> None:
    versions = home / ".nvm" / "versions" / "node"
    for name in ("v9.11.2", "v20.2.0", "v20.10.0", "system", "v21", "v٢٢"):
        program(versions / name / "bin" / ("tool" if name != "v21" else "other"))
    assert find_binary(binary(), env).path == str(versions / "v20.10.0" / "bin" / "tool")


@pytest.fixture
def broken(tmp_path: Path) -> dict[str, str]:
    """A path of each kind that can't be run, and the words for it."""
    place = tmp_path / "broken"
    program(place / "plain", mode=0o644)
    program(place / "empty", text="")
    (place / "folder").mkdir()
    (place / "dangling").symlink_to(place / "gone")
    (place / "loop").symlink_to(place / "pool")
    (place / "pool").symlink_to(place / "loop")
    os.mkfifo(place / "pipe", 0o755)
    return {
        str(place / "plain"): "is not executable",
        str(place / "empty"): "is an empty file",
        str(place / "folder"): "is a directory",
        str(place / "dangling"): f"is a symlink to {place}/gone, where nothing is",
        str(place / "loop"): "is a symlink that leads back to itself",
        str(place / "pipe"): "is not a file",
        str(place / ("x" * 300)): "can't be looked at: File name too long",
    }


def test_what_cannot_run_is_passed_over_and_named(
    env: Env, broken: dict[str, str], tmp_path: Path
) -> None:
    path = program(tmp_path / "bin" / "tool")
    found = find_binary(binary(*broken), env)
    assert found == Found(path, "on PATH", tuple(f"{at} {why}" for at, why in broken.items()))


def test_when_nothing_else_is_there_it_is_refused(env: Env, broken: dict[str, str]) -> None:
    for path, why in broken.items():
        with pytest.raises(HarnessCannotRun) as caught:
            find_binary(binary(path), env)
        assert str(caught.value) == f"tool can't be run: {path} {why}"
        assert "get tool" in caught.value.hint or "brew tool" in caught.value.hint


def test_nowhere_says_how_to_install(env: Env) -> None:
    with pytest.raises(HarnessNotFound) as caught:
        find_binary(binary(f"{env['HOME']}/file/below"), env)
    wanted = {"linux": "get tool", "darwin": "brew tool"}.get(sys.platform, "build tool")
    assert caught.value.hint == f"install it: {wanted}"
    assert caught.value.exit_code == 127


def test_a_file_on_the_way_is_no_program(env: Env, home: Path) -> None:
    program(home / "file")
    with pytest.raises(HarnessNotFound):
        find_binary(binary("~/file/tool"), env)


def test_without_a_home_nothing_below_it_is_looked_for(env: Env, home: Path) -> None:
    program(home / ".local" / "bin" / "tool")
    assert find_binary(binary(), env).why == "in the folder of the user"
    del env["HOME"]
    with pytest.raises(HarnessNotFound):
        find_binary(binary("~/.local/bin/tool"), env)


@pytest.fixture
def standing_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize("entry", ["", ".", "bin"])
def test_a_relative_entry_of_path_is_not_followed(env: Env, standing_in: Path, entry: str) -> None:
    program(standing_in / entry / "tool")
    env["PATH"] = entry
    with pytest.raises(HarnessNotFound) as caught:
        find_binary(binary(), env)
    assert "relative to the current folder" in str(caught.value.details["tried"])
    env["PATH"] = str(standing_in / entry)
    assert find_binary(binary(), env).why == "on PATH"


def test_a_private_folder_is_named(open_folder: Path, as_nobody: AsNobody) -> None:
    path = program(open_folder / "private" / "tool")
    (open_folder / "private").chmod(0o700)

    def look() -> tuple[bool, str]:
        try:
            find_binary(binary(path), {"PATH": "/nowhere"})
        except HarnessCannotRun as problem:
            return os.access(path, os.R_OK), str(problem)
        return True, "it was found"

    assert as_nobody(look) == (
        False,
        f"tool can't be run: {path} lies in a folder that may not be entered",
    )
    (open_folder / "private").chmod(0o755)
    assert as_nobody(lambda: find_binary(binary(path), {"PATH": "/nowhere"}).path) == path
