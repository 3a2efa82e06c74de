"""Going on with a session: where it was, with what it asked for, and never with more rights."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.toy import Barry, eventually, says


def once(barry: Barry, *words: str, talk: str = "talk-1", **more: Any) -> str:
    """A session with one conversation, ended; its id."""
    child = barry.launch(*words, **more)
    if talk:
        child.sendline(f"name {talk}")
        child.expect_exact("<name done>")
    child.sendline("quit")
    barry.ended(child)
    (row, *_) = barry.sessions.all()
    barry.note.unlink()
    return row.id


@pytest.fixture
def talking(barry: Barry) -> Barry:
    barry.install(discover=True, modes=("guest", "instrumented"))
    return barry


def again(barry: Barry, *words: str, **more: Any) -> list[str]:
    """The arguments of the toy when a session goes on."""
    child = barry.open(*words, **more)
    child.expect("<ready")
    child.sendline("quit")
    assert barry.ended(child) == 0
    started = barry.started()
    barry.note.unlink()
    assert started["cwd"] == str(barry.work)
    return list(started["argv"][1:])


def test_it_goes_on_where_it_was(talking: Barry) -> None:
    session = once(talking)
    words = again(talking, "session", "resume", session[:8], cwd=talking.top)
    assert words == ["--resume=talk-1"]
    newest, oldest = talking.sessions.all()
    assert (newest.resumed_from, oldest.id) == (session, session)
    assert newest.cwd == str(talking.work)
    assert again(talking, "session", "launch", "toy", "--resume", session, cwd=talking.top) == words


def test_by_the_harnesses_own_id(talking: Barry) -> None:
    once(talking)
    assert again(talking, "session", "launch", "toy", "--resume", "talk-1") == ["--resume=talk-1"]
    # Which belongs to the folder that it began in.
    done = talking.refused("session", "launch", "toy", "--resume", "talk-1", cwd=talking.top)
    says(done, 2, "no record of conversation talk-1", "give --cwd")


@pytest.mark.parametrize(
    ("words", "which"), [(("--last",), "last"), (("--pick",), "pick"), (("--resume",), "pick"),
                         (("--resume", ""), "pick"), (("--resume", "--supervise"), "pick")]
)  # fmt: skip
def test_the_last_one_or_one_to_pick(talking: Barry, words: tuple[str, ...], which: str) -> None:
    assert again(talking, "session", "launch", "toy", *words) == [f"--resume={which}"]


def test_what_it_asked_for_is_asked_for_again(talking: Barry) -> None:
    for name in ("here", "there"):
        (talking.work / name).mkdir()
    asked = ("--model", "toyco/big", "--root", "here", "--option", 'theme="dark"', "--env", "EXTRA",
             "--deny-tool", "shell", "--relax", "--mode", "instrumented")  # fmt: skip
    env = {"EXTRA": "1", "OTHER": "2"}
    session = once(talking, *asked, env=env)
    child = talking.open(
        "session", "resume", session, "--deny-tool", "Read", "--root", str(talking.work / "there"),
        "--option", 'theme="light"', "--option", "depth=2", env=env, cwd=talking.top,
    )  # fmt: skip
    child.expect("<ready")
    started = talking.started()
    child.sendline("quit")
    talking.ended(child)
    assert started["argv"][1:] == [
        "--resume=talk-1",
        "--model=toyco/big",
        "--deny=Shell,Read",
        f"--root={talking.work}/here",
        f"--root={talking.work}/there",
        "--theme=light",
        "--depth=2",
        "--relaxed",
    ]
    assert started["env"]["EXTRA"] == "1"
    assert "OTHER" not in started["env"]
    assert talking.sessions.all()[0].mode == "instrumented"
    # Third time: what was denied the second time stays denied.
    words = again(talking, "session", "resume", talking.sessions.all()[0].id, env=env)
    assert "--deny=Shell,Read" in words


def test_the_conversation_is_lost(talking: Barry) -> None:
    session = once(talking)
    shutil.rmtree(talking.work / ".toy")
    with talking.leaves_nothing():
        says(
            talking.refused("session", "resume", session),
            2,
            f"no record of session {session}",
            "start a new session",
            "--pick",
        )
    assert talking.run("session", "resume", session, "--dry-run", "--json").error["code"] == (
        "conversation-lost"
    )


def test_it_never_had_a_conversation(talking: Barry) -> None:
    session = once(talking, talk="")
    says(talking.refused("session", "resume", session), 2, "no conversation to go on with")


def test_its_folder_is_gone(talking: Barry) -> None:
    place = talking.top / "passing"
    place.mkdir()
    session = once(talking, cwd=place)
    shutil.rmtree(place)
    with talking.leaves_nothing():
        done = talking.refused("session", "resume", session)
        says(done, 2, str(place), "that folder is gone", "put the folder back")


def test_not_in_another_folder(talking: Barry) -> None:
    session = once(talking)
    words = ("session", "launch", "toy", "--resume", session, "--cwd")
    says(talking.refused(*words, str(talking.top)), 2, "belongs to", "leave out --cwd")
    assert again(talking, *words, str(talking.work)) == ["--resume=talk-1"]
    link = talking.top / "link"
    link.symlink_to(talking.work)
    assert again(talking, *words, str(link)) == ["--resume=talk-1"]


def test_another_adapters_session(talking: Barry) -> None:
    talking.install(id="other", aliases=())
    session = once(talking)
    says(
        talking.refused("session", "launch", "other", "--resume", session),
        2,
        "a session of toy, not of other",
        f"`barry session resume {session}`",
    )


def test_a_prefix_of_two(talking: Barry) -> None:
    for name in ("aa1", "aa2"):
        once(talking)
        talking.sessions._write(
            "UPDATE session SET id = :new WHERE id NOT LIKE 'aa_'", {"new": name}
        )
    for words in (("launch", "toy", "--resume"), ("resume",)):
        done = talking.refused("session", *words, "aa")
        says(done, 2, "2 sessions begin with aa: aa", "give more of the id")


def test_recorded_under_a_former_id(talking: Barry) -> None:
    session = once(talking)
    talking.sessions.change(session, adapter="oldtoy")
    assert again(talking, "session", "resume", session) == ["--resume=talk-1"]
    assert again(talking, "session", "launch", "toy", "--resume", session) == ["--resume=talk-1"]


def test_one_that_still_runs(talking: Barry) -> None:
    child = talking.launch()
    child.sendline("name talk-1")
    child.expect_exact("<name done>")
    session = talking.row().id
    assert eventually(lambda: talking.row().harness_session_id == "talk-1")
    plan = talking.run("session", "resume", session, "--dry-run", "--json").json["plan"]
    assert any("still runs" in warning for warning in plan["warnings"])
    child.sendline("quit")
    talking.ended(child)
    plan = talking.run("session", "resume", session, "--dry-run", "--json").json["plan"]
    assert not plan["warnings"]


def warned(barry: Barry, *words: str) -> list[str]:
    found: list[str] = barry.run("session", *words, "--dry-run", "--json").json["plan"]["warnings"]
    return [each for each in found if "two would write" in each]


def test_a_conversation_that_another_session_goes_on_with(talking: Barry) -> None:
    """Whichever way it is named, and whichever row it is that lives."""
    first = once(talking)
    once(talking, talk="talk-2")
    child = talking.open("session", "resume", first)
    child.expect("<ready")
    second = talking.sessions.all()[0]
    assert (second.resumed_from, second.harness_session_id) == (first, "talk-1")
    (talking.work / ".toy" / "talk-1").touch()
    for words in (("resume", first), ("launch", "toy", "--resume", "talk-1"),
                  ("launch", "toy", "--last")):  # fmt: skip
        (text,) = warned(talking, *words)
        assert text == f"session {second.id} still runs: two would write the same conversation"
    # The counter-cases: another conversation, and the last one of another folder.
    assert not warned(talking, "launch", "toy", "--resume", "talk-2")
    assert not warned(talking, "launch", "toy", "--last", "--cwd", str(talking.top))
    assert not warned(talking, "launch", "toy")
    child.sendline("quit")
    talking.ended(child)
    assert not warned(talking, "resume", first)
    assert not warned(talking, "launch", "toy", "--last")


def test_the_last_one_where_one_lives_whose_name_is_not_known(talking: Barry) -> None:
    talking.install(modes=("guest",))
    child = talking.launch()
    (text,) = warned(talking, "launch", "toy", "--last")
    assert f"session {talking.row().id} still runs in this folder" in text
    assert not warned(talking, "launch", "toy", "--last", "--cwd", str(talking.top))
    child.sendline("quit")
    talking.ended(child)
    assert not warned(talking, "launch", "toy", "--last")


def test_an_adapter_that_fails_to_look(talking: Barry, tmp_path: Path) -> None:
    session = once(talking)
    talking.sessions.change(session, harness_session_id="x" * 5000)  # a name too long for a file
    says(talking.refused("session", "resume", session), 2, "failed to look for", "fault of the")
