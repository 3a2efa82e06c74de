"""A package's files are vouched for: an edit is noticed, and nothing outside is followed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from barry_cli.registry import content
from barry_cli.registry.content import (
    PackageProblem,
    content_hash,
    content_stamp,
    locate,
    unchanged,
)
from tests.conftest import AsNobody
from tests.unit.registry.packages import package_of, write_package

ENTRY = "barry_adapter_toy:adapter"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return write_package(tmp_path / "toy")


def digest(path: Path) -> str:
    return content_hash(str(path), ENTRY).hash


def test_a_package_is_found_beside_its_project_and_in_src(tmp_path: Path) -> None:
    flat = write_package(tmp_path / "flat")
    assert locate(str(flat), ENTRY).folder == str(package_of(flat))
    inner = write_package(tmp_path / "src", src=True)
    assert locate(str(inner), ENTRY).folder == str(inner / "src/barry_adapter_toy")
    (tmp_path / "toy.py").write_text("")
    single = locate(str(tmp_path), "toy:adapter")
    assert (single.file, single.folder) == (str(tmp_path / "toy.py"), None)
    with pytest.raises(PackageProblem, match="holds no package other"):
        locate(str(flat), "other.inner:adapter")


def test_the_same_files_have_the_same_hash_wherever_they_are(package: Path, tmp_path: Path) -> None:
    assert digest(write_package(tmp_path / "copy")) == digest(package)


EDITS: dict[str, Callable[[Path], object]] = {
    "more code": lambda code: (code / "checks.py").write_text("x = 1\n"),
    "a new file": lambda code: (code / "new.py").write_text(""),
    "a removed file": lambda code: (code / "checks.py").unlink(),
    "a renamed file": lambda code: (code / "checks.py").rename(code / "check.py"),
    "data": lambda code: (code / "bag.toml").write_text('name = "other"\n'),
    "the project": lambda code: (code.parent / "pyproject.toml").write_text(""),
    "a new folder": lambda code: [(code / "in").mkdir(), (code / "in/a.py").write_text("")],
    "a link in": lambda code: (code / "again.py").symlink_to("checks.py"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_noticed(package: Path, edit: str) -> None:
    before = digest(package)
    EDITS[edit](package_of(package))
    assert digest(package) != before


def test_an_edit_that_keeps_size_and_times_is_noticed(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "_FRESH_NANOSECONDS", -(10**12))  # never too young for a stamp
    before = content_hash(str(package), ENTRY)
    assert before.stamp == content_stamp(str(package), ENTRY) != ""
    assert unchanged(str(package), ENTRY, before.hash, before.stamp)
    file = package_of(package) / "checks.py"
    facts = file.stat()
    time.sleep(0.02)  # the file system's clock has ticks
    file.write_bytes(file.read_bytes().replace(b"guest", b"quest"))
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (facts.st_size, facts.st_mtime_ns)
    assert content_stamp(str(package), ENTRY) != before.stamp
    assert not unchanged(str(package), ENTRY, before.hash, before.stamp)


def test_a_young_package_has_no_stamp_and_is_read_each_time(package: Path) -> None:
    seen = content_hash(str(package), ENTRY)
    assert seen.stamp == ""
    assert unchanged(str(package), ENTRY, seen.hash, seen.stamp)
    assert not unchanged(str(package), ENTRY, "0" * 64, seen.stamp)


def test_touching_a_file_is_no_drift(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "_FRESH_NANOSECONDS", -(10**12))
    seen = content_hash(str(package), ENTRY)
    os.utime(package_of(package) / "checks.py", (1, 1))
    assert content_stamp(str(package), ENTRY) != seen.stamp
    assert unchanged(str(package), ENTRY, seen.hash, seen.stamp)


def test_what_tools_leave_behind_is_no_drift(package: Path) -> None:
    before = digest(package)
    code = package_of(package)
    for name in ("__pycache__", ".git", ".mypy_cache", ".ruff_cache"):
        (code / name).mkdir()
        (code / name / "x.py").write_text("x")
    (code / "old.pyc").write_bytes(b"x")
    (package / "notes.txt").write_text("beside the package")
    assert digest(package) == before


def test_a_link_that_leaves_the_package_is_refused(package: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    link = package_of(package) / "linked"
    link.symlink_to(tmp_path / "outside")
    with pytest.raises(PackageProblem, match="leaves the package"):
        digest(package)
    link.unlink()
    link.symlink_to("checks.py")  # one that stays inside is a link like any other
    digest(package)


def test_a_link_that_leads_back_to_itself_is_named(package: Path) -> None:
    link = package_of(package) / "linked"
    link.symlink_to("linked")
    with pytest.raises(PackageProblem, match=f"{link} is a link that leads back to itself"):
        digest(package)


def test_a_package_folder_may_itself_be_a_link(package: Path, tmp_path: Path) -> None:
    before = digest(package)
    package_of(package).rename(tmp_path / "elsewhere")
    package_of(package).symlink_to(tmp_path / "elsewhere")
    assert digest(package) == before
    (tmp_path / "elsewhere/checks.py").write_text("other")
    assert digest(package) != before


def test_a_pipe_is_not_read_but_named(package: Path) -> None:
    pipe = package_of(package) / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(PackageProblem, match=f"{pipe} is a pipe"):
        digest(package)


def test_there_are_bounds(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "LIMIT_FILES", 3)
    with pytest.raises(PackageProblem, match="more than 3 files"):
        digest(package)
    monkeypatch.undo()
    monkeypatch.setattr(content, "LIMIT_BYTES", 100)
    with pytest.raises(PackageProblem, match="MiB"):
        digest(package)
    monkeypatch.undo()
    folder = package_of(package)
    with (folder / "sparse").open("wb") as out:
        out.truncate(content.LIMIT_BYTES + 1)
    with pytest.raises(PackageProblem, match="64 MiB"):
        digest(package)


def test_a_file_that_may_not_be_read_is_named(as_nobody: AsNobody, open_folder: Path) -> None:
    package = write_package(open_folder / "toy")
    secret = package_of(package) / "checks.py"
    secret.chmod(0)

    def work() -> tuple[bool, str]:
        try:
            secret.read_bytes()
        except PermissionError:
            forbidden = True
        else:
            forbidden = False
        try:
            digest(package)
        except PackageProblem as problem:
            return forbidden, str(problem)
        return forbidden, ""

    digest(package) if os.getuid() == 0 else None  # what is imported late is imported now
    assert as_nobody(work) == (True, f"{secret} can't be read: Permission denied")
