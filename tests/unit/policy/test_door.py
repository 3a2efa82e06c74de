"""The door answers as the whole command line does, or leaves the answer to it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toy import Barry
from tests.unit.policy.doors import LEFT, door, kept, spare_bundling, whole

BOUND = '[bash]\ndenyPrograms = ["git:push"]\n[files]\ndeny = [".env", "secret/**"]\n'


@pytest.fixture
def bounded(barry: Barry) -> Barry:
    """Barry in a folder with a bound of its own."""
    spare_bundling(barry)
    write(barry.work / ".barry" / "bound.toml", BOUND)
    return barry


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    time.sleep(0.06)  # what has just been written may change again unseen


ANSWERED = {
    "denied": ("--", "git", "push"),
    "allowed": ("--", "git", "status"),
    "quoted": ("--", "echo", "a b", "$(git push)", "é", "'"),
    "a line": ("--command", "cd x && cat .env"),
    "a line in one word": ("--command=git push # =",),
    "an empty line": ("--command=",),
    "as JSON": ("--json", "--command", "sudo -u a git 'push' é"),
    "a bound by name": ("--bound", "no-network", "--", "curl", "x"),
    "two bounds": ("--bound=no-network", "--bound", "./own.toml", "--", "sed", "x"),
    "a folder": ("--cwd", "below", "--command", "cat ../.env"),
    "undecidable": ("--command", "$x push"),
    "no shell": ("--command", "echo 'x"),
    "a tool": ("--harness", "toy", "--tool", "Shell", "--input", '{"command": "git push"}'),
    "a tool by alias": ("--harness=ty", "--tool=Read", '--input={"path": ".env"}'),
}


@pytest.mark.parametrize("case", ANSWERED)
def test_the_second_check_is_answered_at_the_door(bounded: Barry, case: str) -> None:
    bounded.install(aliases=("ty",))
    (bounded.work / "below").mkdir()
    write(bounded.work / "own.toml", '[bash]\ndenyPrograms = ["sed"]\n')
    words = ANSWERED[case]
    assert door(bounded, *words).code == LEFT
    expected = whole(bounded, *words)
    assert expected.code in (0, 1), expected.err
    assert len(kept(bounded)) == 1
    assert door(bounded, *words) == expected
    assert bounded.run("bound", "check", *words) == expected


LEAVES = {
    "nothing": (),
    "help": ("--help",),
    "a flag that nobody knows": ("--bounds", "x", "--", "ls"),
    "a word too many": ("ls",),
    "a trait": ("--trait", "x", "--", "ls"),
    "a stream": ("--stdin",),
    "a line that was quoted whole": ("--", "git push"),
    "a tool of any harness": ("--tool", "Shell", "--input", '{"command": "git push"}'),
    "two questions": ("--command", "ls", "--", "ls"),
    "a question asked twice": ("--command", "ls", "--command", "git push"),
    "an input without its tool": ("--input", "{}", "--", "ls"),
    "a tool without its input": ("--tool", "Shell"),
    "an input that is no JSON": ("--tool", "Shell", "--input", "{"),
    "an input that is no object": ("--tool", "Shell", "--input", "[]"),
    "an option without its value": ("--command",),
    "a value that looks like an option": ("--command", "--json"),
    "a bound that there isn't": ("--bound", "nosuch", "--", "ls"),
    "a harness that there isn't": ("--harness", "nosuch", "--", "ls"),
    "a folder that there isn't": ("--cwd", "nosuch", "--", "ls"),
    "an empty folder": ("--cwd=", "--", "ls"),
}


@pytest.mark.parametrize("case", LEAVES)
def test_what_is_unusual_is_left_to_the_command_line(bounded: Barry, case: str) -> None:
    assert whole(bounded, "--", "ls").code == 0
    words = LEAVES[case]
    left = door(bounded, *words)
    assert (left.code, left.out) == (LEFT, "")
    expected = whole(bounded, *words)
    assert bounded.run("bound", "check", *words) == expected
    # And again: nothing of it was kept.
    assert door(bounded, *words).code == LEFT or expected.code in (0, 1)


def nothing(barry: Barry) -> None:
    """The counter-case."""


def edited(barry: Barry) -> None:
    """The same length, and the time put back."""
    path = barry.work / ".barry" / "bound.toml"
    before = path.stat()
    path.write_text(BOUND.replace("git:push", "git:pull"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(barry: Barry) -> None:
    path = barry.work / ".barry" / "bound.toml"
    path.rename(path.with_name("old"))
    path.write_text(BOUND, encoding="utf-8")


def gone(barry: Barry) -> None:
    (barry.work / ".barry" / "bound.toml").unlink()


def one_above(barry: Barry) -> None:
    write(barry.top / ".barry" / "bound.toml", '[bash]\ndenyPrograms = ["ls"]\n')


def always(barry: Barry) -> None:
    write(barry.folders.config / "config.toml", '[bounds]\nalways = ["read-only"]\n')


def shadowed(barry: Barry) -> None:
    write(barry.folders.config / "bounds" / "no-push.toml", '[bash]\ndeny = ["ls"]\n')


def registry_changed(barry: Barry) -> None:
    barry.install(aliases=("other",))


def a_link_instead(barry: Barry) -> None:
    """What a pattern names leads elsewhere now."""
    (barry.work / "secret").rmdir()
    (barry.work / "elsewhere").mkdir()
    (barry.work / "secret").symlink_to("elsewhere")


def cut_short(barry: Barry) -> None:
    for path in kept(barry):
        path.write_bytes(path.read_bytes()[:-9])


def garbage(barry: Barry) -> None:
    for path in kept(barry):
        path.write_bytes(b"garbage")


def of_another(barry: Barry) -> None:
    """What was kept for another question stands under this one's name."""
    (mine,) = kept(barry)
    whole(barry, "--bound=no-secrets", "--", "ls")
    (other,) = set(kept(barry)) - {mine}
    other.rename(mine)


def code_gone(barry: Barry) -> None:
    for path in (barry.folders.cache / "policies").glob("code-*"):
        path.unlink()


def code_spoilt(barry: Barry) -> None:
    for path in (barry.folders.cache / "policies").glob("code-*"):
        path.write_bytes(b"(")


CHANGES: list[Callable[[Barry], None]] = [
    edited, replaced, gone, one_above, always, shadowed, registry_changed, a_link_instead,
    cut_short, garbage, of_another, code_gone, code_spoilt,
]  # fmt: skip


@pytest.mark.parametrize("change", [nothing, *CHANGES], ids=lambda each: each.__name__)
def test_whatever_decided_it_may_change(bounded: Barry, change: Callable[[Barry], None]) -> None:
    (bounded.work / "secret").mkdir()
    words = ("--bound", "no-push", "--command", "git push; cat elsewhere/x")
    before = whole(bounded, *words)
    assert door(bounded, *words) == before
    change(bounded)
    after = door(bounded, *words)
    if change is nothing:
        assert after == before
        return
    assert (after.code, after.out) == (LEFT, "")
    time.sleep(0.06)
    expected = whole(bounded, *words)
    assert bounded.run("bound", "check", *words) == expected
    assert door(bounded, *words) == expected


def test_another_home_is_another_question(bounded: Barry, tmp_path: Path) -> None:
    words = ("--command", "cat ~/.env")
    assert whole(bounded, *words).code == 1
    assert door(bounded, *words).code == 1
    other = tmp_path / "other"
    other.mkdir()
    bounded.env["HOME"] = str(other)
    assert door(bounded, *words).code == LEFT


def test_it_answers_where_output_cannot_be_written(bounded: Barry) -> None:
    words = ("--", "git", "push")
    whole(bounded, *words)
    with open("/dev/full", "w") as full:
        done = bounded.run("bound", "check", *words, capture_output=False, stdout=full, stderr=-1)
        expected = bounded.run(
            "bound",
            "check",
            *words,
            "--bound=no-push",
            capture_output=False,
            stdout=full,
            stderr=-1,
        )
    assert (done.code, done.err) == (expected.code, expected.err)
    assert "can't be written" in done.err


def test_an_encoding_without_its_letters_is_left_to_the_command_line(bounded: Barry) -> None:
    words = ("--command", "git push é")
    bounded.env |= {"LANG": "C", "LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"}
    expected = whole(bounded, *words)
    assert bounded.run("bound", "check", *words) == expected
    assert json.dumps(expected.out)
