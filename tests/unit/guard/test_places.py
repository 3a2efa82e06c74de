"""Where guarded tools may go, and that nobody swaps the place under them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.guard.files import edit_file, read_file, write_file
from barry_cli.guard.inputs import EditFile, ReadFile, WriteFile
from barry_cli.guard.output import MOST
from barry_cli.guard.places import Place, content, find, put
from barry_cli.guard.problems import NotDone
from tests.conftest import AsNobody


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "file").write_text("inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("outside")
    return folder


def at(work: Path, path: str, *more: Path) -> Place:
    return find(path, [str(work), *map(str, more)], "/home/nobody")


def test_paths_that_stay_inside(work: Path) -> None:
    for path in ("sub/file", "./sub/../sub/file", f"{work}/sub/file", "sub//file"):
        assert at(work, path).path == f"{work}/sub/file"
    assert at(work, ".").parts == ()
    assert at(work, "new/one").path == f"{work}/new/one"
    outside = work.parent / "outside"
    assert at(work, f"{outside}/file", outside).path == f"{outside}/file"


def test_paths_that_lead_outside(work: Path) -> None:
    outside = work.parent / "outside"
    (work / "link").symlink_to(outside)
    (work / "leaf").symlink_to(outside / "file")
    (work / "dangling").symlink_to(outside / "absent")
    (work / "loop").symlink_to("loop")
    paths = (
        "..", "../outside/file", "sub/../../outside/file", f"{outside}/file", "link/file", "leaf",
        "dangling", "/", "~/x", "/proc/self/environ", f"{work}x", "file:///etc/passwd",
    )  # fmt: skip
    for path in paths:
        with pytest.raises(NotDone, match="outside"):
            at(work, path)
    for path in ("", "a\0b"):
        with pytest.raises(NotDone, match="NUL"):
            at(work, path)
    with pytest.raises(NotDone, match="UTF-8"):
        at(work, "sub/\udcff")
    with pytest.raises(NotDone):
        content(at(work, "loop"), 10)
    assert (outside / "file").read_text() == "outside"
    # The counter-case: a link that stays inside is followed.
    (work / "near").symlink_to("sub/file")
    assert content(at(work, "near"), 10) == b"inside"


NAMES = st.sampled_from(["..", ".", "sub", "file", "link", "deep", "", "a b", "é"])


@given(st.lists(NAMES, max_size=8), st.booleans())
def test_whatever_a_path_is_made_of_it_stays_inside(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], absolute: bool
) -> None:
    top = tmp_path_factory.getbasetemp() / "any"
    if not top.exists():
        (top / "work" / "sub" / "deep").mkdir(parents=True)
        (top / "work" / "sub" / "link").symlink_to("../..")
        (top / "work" / "link").symlink_to("sub/deep")
    work = top / "work"
    path = "/".join([str(work)] * absolute + names)
    try:
        place = find(path, [str(work)], str(top))
    except NotDone:
        return
    real = os.path.realpath(os.path.join(work, path))
    assert place.path == real
    assert Path(real).is_relative_to(work)


def swapped(work: Path, name: str, target: Path) -> None:
    """What another process does between the look and the deed."""
    os.rename(work / name, work / f"{name}-before")
    (work / name).symlink_to(target)


@pytest.mark.parametrize("swap", ["sub", "sub/file"])
def test_a_link_that_is_swapped_in_is_not_followed(work: Path, swap: str) -> None:
    outside = work.parent / "outside"
    place = at(work, "sub/file")
    swapped(work, swap, outside if swap == "sub" else outside / "file")
    with pytest.raises(NotDone):
        content(place, 10)
    with pytest.raises(NotDone):
        put(place, b"x")
    assert (outside / "file").read_text() == "outside"
    # The counter-case: found again it is refused for where it leads.
    with pytest.raises(NotDone, match="outside"):
        at(work, "sub/file")


def test_a_file_that_is_replaced_keeps_its_mode(work: Path) -> None:
    path = work / "sub" / "file"
    path.chmod(0o751)
    assert put(at(work, "sub/file"), b"new") is True
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert path.read_bytes() == b"new"
    assert put(at(work, "a/b/c"), b"made") is False
    assert sorted(each.name for each in (work / "sub").iterdir()) == ["file"]


def test_what_is_no_file(work: Path) -> None:
    os.mkfifo(work / "pipe")
    (work / "sub" / "name").write_text("")
    for path, word in (("sub", "folder"), ("pipe", "regular"), (".", "folder")):
        with pytest.raises(NotDone, match=word):
            content(at(work, path), 10)
        with pytest.raises(NotDone, match=word):
            put(at(work, path), b"")
    with pytest.raises(NotDone, match="No such file"):
        content(at(work, "absent"), 10)
    with pytest.raises(NotDone, match="Not a directory"):
        put(at(work, "sub/name/x"), b"")


def test_what_may_not_be_written_stays_as_it_is(work: Path, as_nobody: AsNobody) -> None:
    for folder in (work.parent, work, work / "sub"):
        folder.chmod(0o755)

    def write() -> str:
        with pytest.raises(PermissionError):
            (work / "sub" / "file").write_text("no")
        with pytest.raises(NotDone) as told:
            put(at(work, "sub/file"), b"no")
        return str(told.value)

    for parent in work.parents:
        if parent.owner() == "root" and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    assert "Permission denied" in as_nobody(write)
    assert (work / "sub" / "file").read_text() == "inside"
    assert [each.name for each in (work / "sub").iterdir()] == ["file"]


def reading(work: Path, **asked: object) -> list[str]:
    return read_file(ReadFile(path="f", **asked), at(work, "f"))


def test_reading_is_bounded(work: Path) -> None:
    path = work / "f"
    path.write_text("")
    assert reading(work) == ["[f is empty]"]
    path.write_text("".join(f"{n}\n" for n in range(1, 5001)))
    text, note = reading(work)
    assert text.endswith("\n2000\n")
    assert note == "[lines 1 to 2000 of 5000; ask on with start 2001]"
    assert reading(work, start=4999) == ["4999\n5000\n", "[lines 4999 to 5000 of 5000]"]
    with pytest.raises(NotDone, match="5000 lines"):
        reading(work, start=5001)
    path.write_bytes("a\fb\u2028c\rd\r\ne\n".encode())  # lines as grep and sed count them
    assert reading(work, start=2) == ["e\n", "[lines 2 to 2 of 2]"]
    path.write_text("x" * 100 + "\n" + "y" * 50_000)
    assert reading(work)[1] == "[lines 1 to 1 of 2; ask on with start 2]"
    text, note = reading(work, start=2)
    assert text == "y" * MOST
    assert "50,000" in note
    for data in (b"a\0b", b"\xff\xfe", "ab".encode("utf-16")):
        path.write_bytes(data)
        with pytest.raises(NotDone, match="no text"):
            reading(work)
    with path.open("wb") as file:
        file.truncate((16 << 20) + 1)
    with pytest.raises(NotDone, match="more than 16 MiB"):
        reading(work)


LINES = st.text(alphabet=st.sampled_from("ab\n\r\té\u2028"), max_size=60)


@given(LINES)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    work = tmp_path_factory.getbasetemp()
    write_file(WriteFile(path="f", content=text), at(work, "f"))
    assert (work / "f").read_bytes() == text.encode()
    assert reading(work) == [text or "[f is empty]"]


@given(st.text(alphabet="ab", max_size=12), st.text(alphabet="ab", min_size=1, max_size=3))
def test_an_edit_is_made_where_it_is_plain(
    tmp_path_factory: pytest.TempPathFactory, text: str, old: str
) -> None:
    work = tmp_path_factory.getbasetemp()
    (work / "f").write_text(text)
    places = [n for n in range(len(text)) if text.startswith(old, n)]
    asked = EditFile(path="f", old=old, new="[new]")
    if len(places) == 1:
        edit_file(asked, at(work, "f"))
        start = places[0]
        assert (work / "f").read_text() == text[:start] + "[new]" + text[start + len(old) :]
    else:
        with pytest.raises(NotDone, match=f"{len(places)} times"):
            edit_file(asked, at(work, "f"))
        assert (work / "f").read_text() == text


def test_half_a_character_is_not_written(work: Path) -> None:
    with pytest.raises(NotDone, match="half a character"):
        write_file(WriteFile.model_construct(path="f", content="\ud800"), at(work, "f"))
