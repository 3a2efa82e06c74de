"""Where Barry keeps things, and that it is the user's alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from barry_cli.base.paths import SOCKET_PATH_LIMIT, ensure, ensure_own, folders, socket_folder
from barry_cli.base.problems import StoreProblem


def test_one_folder_for_all(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("BARRY_HOME", "~/all")
    found = folders()
    assert found.registry == home / "all" / "data" / "adapters.json"
    assert found.database == home / "all" / "state" / "barry.db"
    assert found.settings == home / "all" / "config" / "config.toml"
    assert found.probes == home / "all" / "cache" / "probes.json"


def test_the_platforms_folders(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.delenv("BARRY_HOME")
    found = folders()
    for folder in (found.config, found.data, found.state, found.cache):
        assert folder.is_relative_to(home)
        assert not folder.exists()
    assert found.run == Path(f"/tmp/barry-{os.getuid()}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
    assert folders().run == home / "barry"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "conf"))
    assert folders().config == home / "conf" / "barry"


def test_an_empty_name_is_none(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("BARRY_HOME", "")
    assert folders().data.is_relative_to(home)


def test_folders_are_private(tmp_path: Path) -> None:
    made = ensure_own(tmp_path / "a" / "b")
    assert made.stat().st_mode & 0o777 == 0o700
    assert ensure(made) == made


@pytest.mark.parametrize("how", ["open", "link", "theirs"])
def test_a_folder_that_others_reach_into_is_refused(tmp_path: Path, how: str) -> None:
    place = tmp_path / "place"
    if how == "link":
        (tmp_path / "real").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "real")
    else:
        place.mkdir(mode=0o700)
    if how == "open":
        place.chmod(0o750)
    if how == "theirs":
        if os.getuid() != 0:
            return
        os.chown(place, 65534, 65534)
    with pytest.raises(StoreProblem, match="not yours alone") as problem:
        ensure_own(place)
    assert str(place) in problem.value.hint
    assert ("BARRY_HOME" in problem.value.hint) is (how == "theirs")


def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreProblem, match="can't be made"):
        ensure(tmp_path / "file" / "folder")


def test_sockets_go_where_their_path_is_short_enough(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    assert socket_folder() == folders().run
    monkeypatch.setenv("BARRY_HOME", str(home / ("x" * 100)))
    assert socket_folder() == Path(f"/tmp/barry-{os.getuid()}")
    assert len(os.fsencode(socket_folder() / ("x" * 12 + ".sock"))) <= SOCKET_PATH_LIMIT


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("{top}/file", "Not a directory"),
        ("{top}/file/below", "Not a directory"),
        ("/dev/null", "Not a directory"),
        ("{top}/loop", "symbolic links"),
        ("{top}/nowhere", "a link to where nothing is"),
        ("{top}/" + "x" * 300, "File name too long"),
        ("/x" * 2040, "File name too long"),
        ("~nobody-of-this-name/barry", "nobody knows what ~nobody-of-this-name stands for"),
    ],
)
def test_a_home_that_can_be_none_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str, why: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "nowhere").symlink_to("absent")
    monkeypatch.setenv("BARRY_HOME", value.format(top=tmp_path))
    with pytest.raises(StoreProblem, match=r"^BARRY_HOME is ") as problem:
        folders()
    assert why in problem.value.message
    assert len(problem.value.message) < 400
    assert "set BARRY_HOME to" in problem.value.hint


def test_a_home_that_is_a_link_or_not_there_yet_is_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    for home in (tmp_path / "link", tmp_path / "a" / "b"):
        monkeypatch.setenv("BARRY_HOME", str(home))
        assert folders().data == home / "data"


def test_a_home_below_a_folder_that_is_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setenv("BARRY_HOME", "relative")
    with pytest.raises(StoreProblem, match="the current folder, and that is gone"):
        folders()


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(StoreProblem) as problem:
            ensure(folder)
        assert f"move {tmp_path / 'file'} aside" in problem.value.hint
