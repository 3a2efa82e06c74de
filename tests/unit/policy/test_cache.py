"""What is kept of a policy, where, and when nothing is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from barry_cli.base.paths import folders
from barry_cli.policy import cache
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.record import Question, read, state
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.schema import parse_bound
from tests.conftest import AsNobody
from tests.toy import ROOT, Barry
from tests.unit.policy.doors import door, kept, spare_bundling, whole

WHERE = (
    "from barry_cli.policy.record import folder; from barry_cli.base.paths import folders; "
    "print(folder()); print(folders().cache / 'policies')"
)
SURROUNDINGS: dict[str, dict[str, str]] = {
    "a home": {"HOME": "/somebody"},
    "a home of Barry's": {"HOME": "/somebody", "BARRY_HOME": "/barry's"},
    "no home but Barry's": {"BARRY_HOME": "/barry's"},
    "a cache": {"HOME": "/somebody", "XDG_CACHE_HOME": "/cached"},
    "an empty cache": {"HOME": "/somebody", "XDG_CACHE_HOME": ""},
}
LEFT_TO_OTHERS: dict[str, dict[str, str]] = {
    "no home": {},
    "a home of Barry's that is relative": {"HOME": "/somebody", "BARRY_HOME": "barry"},
    "a home of Barry's with a tilde": {"HOME": "/somebody", "BARRY_HOME": "~/barry"},
    "a cache that is relative": {"HOME": "/somebody", "XDG_CACHE_HOME": "cached"},
}


def places(env: dict[str, str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", WHERE],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **env},
        capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


@pytest.mark.parametrize("case", SURROUNDINGS)
def test_the_door_looks_where_everybody_else_keeps_things(case: str) -> None:
    quick, right = places(SURROUNDINGS[case])
    assert quick == right


@pytest.mark.parametrize("case", LEFT_TO_OTHERS)
def test_the_door_looks_nowhere_where_it_is_not_sure(case: str) -> None:
    assert places(LEFT_TO_OTHERS[case])[0] == ""


def policy(root: Path, *deny: str) -> Policy:
    return compile_policy(
        parse_bound({"files": {"deny": list(deny)}}),
        root=str(root),
        floor=floor_patterns(folders()),
    )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A process that began with the surroundings that it has."""
    own = {name.encode(): value.encode() for name, value in os.environ.items()}
    monkeypatch.setattr("posix.environ", own)
    monkeypatch.setattr(cache, "kept_bundle", lambda _: None)
    return tmp_path


def keep(root: Path, made: Policy, *looked_at: Path, began_ns: int | None = None) -> Question:
    question = Question(("x",), None, None, str(root))
    cache.keep(
        question,
        made,
        cwd=str(root),
        looked_at=map(str, looked_at),
        began_ns=time.time_ns() if began_ns is None else began_ns,
    )
    return question


def test_a_policy_is_kept_and_found_for_its_question_alone(here: Path) -> None:
    question = keep(here, policy(here, ".env"))
    found = read(question)
    assert found is not None
    assert found.cwd == str(here)
    assert str(here) in dict(found.links)
    for other in (
        Question((), None, None, str(here)),
        Question(("x",), "toy", None, str(here)),
        Question(("x",), None, ".", str(here)),
        Question(("x",), None, None, "/"),
    ):
        assert read(other) is None


def test_what_is_kept_is_private(here: Path) -> None:
    keep(here, policy(here, ".env"))
    (record,) = (folders().cache / "policies").glob("check-*")
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(record.parent.stat().st_mode) == 0o700


def test_what_is_too_young_is_not_kept(here: Path) -> None:
    file = here / "bound.toml"
    file.write_text("")
    moment = file.stat().st_ctime_ns
    assert read(keep(here, policy(here), file, began_ns=moment)) is None
    assert read(keep(here, policy(here), file, began_ns=moment - 10**9)) is None
    assert read(keep(here, policy(here), file, began_ns=moment + 10**9)) is not None


def test_what_cannot_be_looked_at_again_is_not_kept(here: Path) -> None:
    loop = here / "loop"
    loop.symlink_to(loop)
    assert read(keep(here, policy(here), loop)) is None
    assert read(keep(here, policy(here, "a\\*b/c"))) is None


def test_in_other_surroundings_nothing_is_kept(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BARRY_HOME", str(tmp_path / "other"))
    assert read(keep(here, policy(here))) is None
    assert not (tmp_path / "other").exists()


def test_the_oldest_make_room(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST", 3)
    questions = []
    for number in range(5):
        root = here / str(number)
        root.mkdir()
        questions.append(keep(root, policy(root)))
    assert [read(each) is not None for each in questions] == [False, False, True, True, True]


def test_states_tell_what_a_change_would_change(tmp_path: Path) -> None:
    file, link, folder = tmp_path / "file", tmp_path / "link", tmp_path / "folder"
    assert state(str(file)) is None
    assert state(str(file / "below")) is None
    file.write_text("1")
    assert state(str(file / "below")) is None
    link.symlink_to("file")
    before = state(str(file)), state(str(link))
    file.write_text("2")
    os.utime(file, ns=(0, before[0][0][4] if before[0] else 0))
    assert state(str(file)) != before[0]
    assert state(str(link)) != before[1]
    link.unlink()
    link.symlink_to("nowhere")
    dangling = state(str(link))
    assert dangling is not None
    assert len(dangling) == 1
    folder.mkdir()
    before_it = state(str(folder))
    (folder / "new").touch()
    assert state(str(folder)) == before_it
    folder.rename(tmp_path / "old")
    folder.mkdir()
    assert state(str(folder)) != before_it


def test_another_barry_is_told_by_its_files(tmp_path: Path) -> None:
    own = {os.path.relpath(path, cache.HOUSE) for path in cache._own_files()}
    assert {"policy/merge.py", "policy/ruling/rule.py", "hook/run.py"} <= own
    installed = tmp_path / "site-packages" / "barry_cli"
    assert cache._own_files(str(installed)) == [str(installed / "__init__.py")]


def test_where_nothing_can_be_kept_checks_are_answered_all_the_same(barry: Barry) -> None:
    barry.folders.cache.parent.mkdir(parents=True, exist_ok=True)
    barry.folders.cache.write_text("no folder")
    for _ in range(2):
        done = barry.run("bound", "check", "--bound=no-push", "--", "git", "push")
        assert (done.code, done.err) == (1, "")


def test_a_folder_that_is_not_ours_to_write(
    here: Path, open_folder: Path, as_nobody: AsNobody, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed = open_folder / "cache"
    sealed.mkdir(mode=0o755)
    ours, made = replace(folders(), cache=sealed), policy(open_folder)

    def work() -> tuple[bool, bool]:
        try:
            (sealed / "x").touch()
            bare = True
        except OSError:
            bare = False
        monkeypatch.setattr(cache, "folder", lambda: str(sealed / "policies"))
        monkeypatch.setattr(cache, "folders", lambda: ours)
        question = Question((), None, None, str(open_folder))
        began = time.time_ns()
        kept = cache.keep(question, made, cwd=str(open_folder), looked_at=(), began_ns=began)
        return bare, kept

    assert as_nobody(work) == (False, False)


def test_bound_files_that_were_looked_for_and_not_there_are_remembered(barry: Barry) -> None:
    spare_bundling(barry)
    words = ("--bound=no-push", "--", "ls")
    assert whole(barry, *words).code == 0
    assert len(kept(barry)) == 1
    late = barry.work / ".barry"
    late.mkdir()
    assert door(barry, *words).code == 0  # an empty folder decides nothing
    (late / "bound.toml").write_text('[bash]\ndenyPrograms = ["ls"]\n')
    assert door(barry, *words).code == 125
    assert whole(barry, *words).code == 1


def test_bundles_are_made_by_another_process_and_found(home: Path) -> None:
    from barry_cli.hook.install import NOTICE_PROGRAM

    place = folders().cache / "policies"
    cache.keep_bundles(NOTICE_PROGRAM)
    (kept,) = place.glob("code-*.marshal")
    made = kept.stat()
    assert cache.kept_bundle(NOTICE_PROGRAM).body
    cache.keep_bundles(NOTICE_PROGRAM)
    assert kept.stat() == made


def test_what_another_process_could_not_make_is_made_here(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_cli.hook.install import NOTICE_PROGRAM

    monkeypatch.setattr("sys.executable", "/nowhere/python")
    cache.keep_bundles(NOTICE_PROGRAM)
    assert list((folders().cache / "policies").glob("code-*")) == []
    assert cache.kept_bundle(NOTICE_PROGRAM).body
