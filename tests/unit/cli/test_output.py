"""Where output goes, what becomes of it where it can't, and how failures are told."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from barry_cli.cli.render import events, session_rows
from barry_cli.cli.render.live import LiveView
from barry_cli.cli.render.output import json_text
from barry_cli.cli.render.talk import Talk
from barry_cli.turns.store.events import StoredEvent
from tests.toy import Barry, says, written

READING = [
    ("--version",),
    ("--help",),
    ("adapter", "list"),
    ("adapter", "list", "--json"),
    ("adapter", "show", "toy"),
    ("session", "list"),
    ("session", "list", "--json"),
    ("completion", "bash"),
    ("man",),
]


def shell(barry: Barry, line: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell in which $barry is Barry."""
    return subprocess.run(
        ["/bin/bash", "-c", line],
        env={**barry.env, "barry": f"{sys.executable} -m barry_cli", **env},
        cwd=barry.work,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_an_output_that_takes_nothing(barry: Barry, words: tuple[str, ...]) -> None:
    """A reader that has gone ends it as SIGPIPE would; a full or closed one is said."""
    verb = " ".join(words)
    # A pipe without a reader, whoever is quicker.
    gone = shell(barry, f"exec 3> >(exec true); sleep 0.3; $barry {verb} >&3; echo $?")
    assert gone.stdout == f"{128 + signal.SIGPIPE}\n"
    assert gone.stderr == ""
    for output, said in ((">/dev/full", "No space left on device"), (">&-", "output is closed")):
        done = shell(barry, f"$barry {verb} {output}")
        assert done.returncode == 125
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == (1 if "--json" in words else 2)
    assert not barry.folders.crashes.exists()


@pytest.mark.parametrize("output", ["2>/dev/full", "2>&-", "<&-", "2>&- <&-"])
def test_nobody_to_talk_to(barry: Barry, output: str) -> None:
    """The work is done, and the exit code is its own."""
    assert shell(barry, f"$barry adapter list {output}").returncode == 0
    assert "toy" in shell(barry, f"$barry adapter list {output}").stdout
    assert shell(barry, f"$barry adapter show nope {output}").returncode == 127
    assert shell(barry, f"$barry session launch toy --env = {output}").returncode == 2


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_lacks_letters(barry: Barry, encoding: str) -> None:
    odd = barry.top / "caf\N{LATIN SMALL LETTER E WITH ACUTE} \N{SNOWMAN}"
    odd.mkdir()
    words = ("session", "launch", "toy", "--cwd", str(odd), "--dry-run")
    env = {"PYTHONIOENCODING": encoding}
    done = barry.run(*words, "--json", env=env, encoding=encoding)
    assert done.code == 0
    assert done.json["plan"]["cwd"] == str(odd)
    assert barry.run(*words, env=env, encoding=encoding).code == 0


def test_names_that_are_no_text(barry: Barry) -> None:
    name = os.fsdecode(b"\xff")
    done = barry.run("adapter", "show", name)
    says(done, 127, "no adapter named")
    assert barry.run("adapter", "show", name, "--json").error["details"]["adapterId"] == name
    words = ("session", "launch", "toy", "--dry-run", "--json", "--", name)
    assert barry.run(*words).json["plan"]["argv"][-1] == name


FAILURES: list[tuple[tuple[str, ...], int, str]] = [
    (("adapter", "show", "nope"), 127, "adapter-not-installed"),
    (("adapter", "add", "nowhere"), 127, "adapter-not-installed"),
    (("adapter", "models", "nope"), 127, "adapter-not-installed"),
    (("adapter", "remove", "nope"), 127, "adapter-not-installed"),
    (("adapter", "doctor", "nope"), 127, "adapter-not-installed"),
    (("session", "show", "nope"), 2, "session-not-found"),
    (("session", "stop", "nope"), 2, "session-not-found"),
    (("session", "resume", "nope"), 2, "session-not-found"),
    (("session", "launch", "toy"), 2, "no-terminal"),
    (("session", "launch", "toy", "--mode", "hosted", "--dry-run"), 2, "usage"),
    (("session", "launch", "toy", "--mode", "instrumented", "--dry-run"), 2, "mode-not-offered"),
    (("session", "launch", "toy", "--require", "steer=true", "--dry-run"), 2, "guarantee-not-met"),
    (("session", "launch", "toy", "--resume", "x", "--dry-run"), 2, "conversation-lost"),
    (("session", "launch", "toy", "--model", "keyles/x", "--dry-run"), 2, "refused"),
    (("session", "lunch"), 2, "usage"),
    (("adapter", "show"), 2, "usage"),
    (("doctor", "too", "many"), 2, "usage"),
]


@pytest.mark.parametrize(("words", "code", "kind"), FAILURES, ids=lambda value: str(value)[:40])
def test_failures_in_words_and_in_json(
    barry: Barry, words: tuple[str, ...], code: int, kind: str
) -> None:
    plain = barry.run(*words)
    says(plain, code)
    assert plain.out == ""
    told = barry.run(*words, "--json")
    assert (told.code, told.out) == (code, "")
    assert len(told.err.splitlines()) == 1
    error = told.error
    assert set(error) == {"code", "message", "hint", "details"}
    assert error["code"] == kind
    assert error["message"]
    assert error["hint"]
    assert isinstance(error["details"], dict)


def test_the_remaining_exit_codes(barry: Barry) -> None:
    """0 is everywhere; 125 to 130 and the harness's own are with what leads to them."""
    (barry.bin / "toy").unlink()
    assert barry.run("adapter", "doctor", "toy").code == 1
    (barry.top / "empty").mkdir()
    assert barry.run("adapter", "check", str(barry.top / "empty")).code == 1


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("adapter", "list"), "adapters"),
        (("adapter", "show", "toy"), "adapter"),
        (("adapter", "models", "carrier"), "models"),
        (("adapter", "doctor", "toy"), "findings"),
        (("session", "list"), "sessions"),
        (("session", "launch", "toy", "--dry-run"), "plan"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_documents(barry: Barry, words: tuple[str, ...], key: str) -> None:
    barry.install(id="carrier", aliases=(), vendor="othervendor")
    done = barry.run(*words, "--json")
    document: dict[str, Any] = done.json
    assert (done.code, done.err) == (0, "")
    assert set(document) == {"schema", key}
    assert document["schema"] == 1
    if key != "plan":  # whose keys are also names of variables and folders
        assert "_" not in "".join(_keys(document))


def _keys(value: object) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for inner in value.values() for key in _keys(inner))]
    return [key for inner in value for key in _keys(inner)] if isinstance(value, list) else []


# --- colour ---


@pytest.mark.parametrize(
    ("env", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colour_is_for_terminals_that_want_it(
    barry: Barry, env: dict[str, str], coloured: bool
) -> None:
    child = barry.open("adapter", "show", "nope", env=env)
    assert barry.ended(child) == 127
    raw = child.logfile_read.getvalue()
    assert ("\x1b[31merror:" in raw) is coloured
    assert ("\x1b" in raw) is coloured
    assert written(child).startswith("error: no adapter named nope is installed\nhint: ")


def test_there_is_none_elsewhere(barry: Barry) -> None:
    for words in (("adapter", "list"), ("adapter", "doctor", "toy"), ("--help",), ("nope",)):
        done = barry.run(*words)
        assert "\x1b" not in done.out + done.err


def test_json_has_no_colour_on_a_terminal(barry: Barry) -> None:
    child = barry.open("adapter", "show", "nope", "--json")
    assert barry.ended(child) == 127
    assert json.loads(child.logfile_read.getvalue())["error"]["code"] == "adapter-not-installed"


# --- what a harness says, on a terminal ---

OBEYED = "\x1b]52;c;aGk=\x07\x9b2J\x7f"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_json_has_no_letter_that_a_terminal_obeys() -> None:
    said = json_text({OBEYED: ["é", OBEYED]})
    assert all(" " <= letter <= "~" or letter == "é" for letter in said)
    assert json.loads(said) == {OBEYED: ["é", OBEYED]}


def test_an_answer_moves_no_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stdout", screen)
    view = LiveView(Talk(), structured=False)
    view.event({"type": "partial", "text": f"a{OBEYED}"})
    view.event({"type": "text", "text": f"a{OBEYED}\n\tb \U0001f469\u200d\U0001f4bb"})
    assert screen.getvalue() == "a]52;c;aGk=2J\n\tb \U0001f469\u200d\U0001f4bb\n"


def test_an_answer_turns_no_text_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """An override shows a command as another one; letters that run from the right stay."""
    screen = Screen()
    monkeypatch.setattr("sys.stdout", screen)
    view = LiveView(Talk(), structured=False)
    view.event({"type": "text", "text": "run \u202egnp.exe\u2066\u2069 \u05d0\u05d1"})
    assert screen.getvalue() == "run gnp.exe \u05d0\u05d1\n"


def test_an_event_is_one_line_that_moves_no_cursor() -> None:
    said = events.text(StoredEvent(1, "t", {"type": f"x{OBEYED}", OBEYED: f"\n{OBEYED}"}, 0))
    assert said.endswith("\n")
    assert said[:-1].isprintable()


def test_a_prompt_is_told_from_an_answer() -> None:
    asked, answered = (
        events.text(StoredEvent(1, "t", {"type": "text", "text": "push it", "role": role}, 0))
        for role in ("user", "assistant")
    )
    assert asked.split() == ["1", "text", "(user)", "push", "it"]
    assert answered.split() == ["1", "text", "push", "it"]


@pytest.mark.parametrize(
    ("ended", "told"), [("12:00:05", "completed, 5.0 s"), ("11:59:00", "completed")]
)
def test_a_clock_that_was_set_back_gives_no_time(ended: str, told: str) -> None:
    turn = {
        "state": "completed", "createdAt": "2026-01-31T12:00:00Z",
        "endedAt": f"2026-01-31T{ended}Z", "usage": None, "error": None, "uncertainCalls": [],
    }  # fmt: skip
    assert session_rows._turn(turn) == told


# --- an installation that is not whole ---


def test_a_missing_dependency_is_a_sentence(barry: Barry) -> None:
    code = "import sys; sys.modules['typer'] = None; from barry_cli.__main__ import main; main()"
    done = barry.run("adapter", "list", python=("-c", code))
    says(done, 125, "not whole", "install it again")
