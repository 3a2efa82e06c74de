"""The notice hook: it tells the session of an event, brings back a message, and fails silently."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from barry_cli.bags.manifest import HookFormat
from barry_cli.base.problems import Refused
from barry_cli.hook.install import NOTICE_PROGRAM, PROGRAM, Installed, install
from barry_cli.policy.bundle import Bundle, bundle
from tests.unit.hook.conftest import FORMAT, policy

PATHS = {"event": "what", "session": "talk", "prompt": "said", "tool": "doing.tool"}
STOP = {
    "event": "Paused", "kind": "stop", "paths": PATHS,
    "answers": {"message": {"stdout": {"go": "on", "because": "{reason}"}}},
}  # fmt: skip
PROMPT = {"event": "Told", "kind": "prompt", "paths": PATHS}


@dataclass
class Session:
    """Whoever listens at the session's socket."""

    path: str
    answer: bytes | None = b"{}\n"
    heard: list[str] = field(default_factory=list)
    _server: socket.socket | None = None

    def listen(self) -> None:
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(self.path)
        self._server.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        assert self._server is not None
        while True:
            try:
                link, _ = self._server.accept()
            except OSError:
                return
            with link, link.makefile(encoding="utf-8") as lines:
                for line in lines:
                    self.heard.append(line)
                    if json.loads(line).get("takes") and self.answer is not None:
                        link.sendall(self.answer)

    def wait(self, count: int, seconds: float = 10) -> list[dict[str, object]]:
        give_up = time.monotonic() + seconds
        while len(self.heard) < count and time.monotonic() < give_up:
            time.sleep(0.01)
        return [json.loads(each) for each in self.heard]

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown(socket.SHUT_RDWR)
            self._server.close()
            os.unlink(self.path)


@pytest.fixture(scope="session")
def codes() -> dict[str, Bundle]:
    return {name: bundle(name) for name in (PROGRAM, NOTICE_PROGRAM)}


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(f"/tmp/{os.path.basename(tmp_path.parent)}-{os.getpid()}-n.sock")
    yield made
    made.close()


@pytest.fixture
def hooked(
    tmp_path: Path,
    codes: dict[str, Bundle],
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Installed]:
    monkeypatch.setattr("barry_cli.hook.install.kept_bundle", codes.__getitem__)

    def make(*forms: dict[str, object]) -> Installed:
        shapes = [HookFormat.model_validate(each) for each in (FORMAT, *forms)]
        return install(tmp_path / "own", policy(), shapes, listener=(session.path, "k", "s-1"))

    return make


def call(installed: Installed, event: object, **more: object) -> subprocess.CompletedProcess[str]:
    assert installed.notice is not None
    text = event if isinstance(event, str) else json.dumps(event)
    done = subprocess.run(
        ["/bin/sh", "-c", installed.notice.command],
        input=text.encode("utf-8", "surrogatepass"), env={"PATH": "/usr/bin:/bin"},
        capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def test_an_event_is_told_with_its_parts(
    hooked: Callable[..., Installed], session: Session
) -> None:
    session.listen()
    installed = hooked(STOP, PROMPT)
    event = {"what": "Told", "talk": "c-9", "said": "two\nlines\t\u00e9 \U0001f600"}
    done = call(installed, event)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (told,) = session.wait(1)
    assert json.loads(str(told.pop("event"))) == event
    assert told == {
        "type": "notice", "key": "k", "session": "s-1", "kind": "prompt", "takes": False,
        "parts": {"event": "Told", "session": "c-9", "prompt": event["said"], "tool": ""},
    }  # fmt: skip


@pytest.mark.parametrize("text", ["hi", 'a "quoted"\n\ttext', "\U0001f600" * 2000, "{reason}"])
def test_a_message_is_given_back_in_the_harness_own_form(
    hooked: Callable[..., Installed], session: Session, text: str
) -> None:
    session.answer = json.dumps({"text": text}).encode() + b"\n"
    session.listen()
    done = call(hooked(STOP, PROMPT), {"what": "Paused"})
    assert json.loads(done.stdout) == {"go": "on", "because": text}
    first, second = session.wait(2)
    assert (first["kind"], first["takes"]) == ("stop", True)
    assert second == {"type": "given"}


def test_without_a_message_nothing_is_said(
    hooked: Callable[..., Installed], session: Session
) -> None:
    session.listen()
    done = call(hooked(STOP), {"what": "Paused"})
    assert (done.returncode, done.stdout) == (0, "")
    assert len(session.wait(2, seconds=0.3)) == 1


@pytest.mark.parametrize(
    "answer", [b"", b"not json\n", b"[1]\n", b'{"text": 3}\n', b'{"text": ""}\n']
)
def test_an_answer_that_is_none_is_no_message(
    hooked: Callable[..., Installed], session: Session, answer: bytes
) -> None:
    session.answer = answer
    session.listen()
    installed = hooked(STOP)
    if not answer:
        session.answer = None
    done = call(installed, {"what": "Paused"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "event", ["", "nonsense", "[]", '{"what": "Else"}', '{"what": 1}', "{" * 9]
)
def test_what_is_no_event_of_its_is_passed_over(
    hooked: Callable[..., Installed], session: Session, event: str
) -> None:
    session.listen()
    done = call(hooked(STOP), event)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert session.wait(1, seconds=0.2) == []


def test_a_session_that_is_gone_is_no_loss(hooked: Callable[..., Installed]) -> None:
    done = call(hooked(STOP), {"what": "Paused"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_long_event_is_told_without_what_makes_it_long(
    hooked: Callable[..., Installed], session: Session
) -> None:
    session.listen()
    installed = hooked(STOP, PROMPT)
    call(installed, {"what": "Told", "said": "x" * 90_000, "more": "y" * 2_000_000})
    (told,) = session.wait(1)
    assert "event" not in told
    assert told["parts"] == {"event": "Told", "session": "", "prompt": "x" * 90_000, "tool": ""}
    call(installed, {"what": "Told", "said": "\u00e9" * 1_000_000})
    prompt = session.wait(2)[1]["parts"]
    assert isinstance(prompt, dict)
    assert prompt["prompt"] == "\u00e9" * 65_536
    assert max(map(len, session.heard)) < 1_000_000


def test_a_changed_file_is_not_obeyed(hooked: Callable[..., Installed], session: Session) -> None:
    session.listen()
    installed = hooked(STOP)
    assert installed.notice is not None
    events = Path(installed.notice.words[-2])
    events.chmod(0o600)
    events.write_bytes(events.read_bytes() + b"x")
    assert call(installed, {"what": "Paused"}).returncode == 0
    assert session.wait(1, seconds=0.2) == []


def test_nobody_to_tell_needs_no_program(tmp_path: Path, codes: dict[str, Bundle]) -> None:
    shapes = [HookFormat.model_validate(each) for each in (FORMAT, STOP)]
    assert install(tmp_path, policy(), shapes).notice is None
    assert not list(tmp_path.glob("notice-*"))


def test_a_message_cannot_be_given_by_failing(tmp_path: Path) -> None:
    shapes = [
        HookFormat.model_validate(each)
        for each in (FORMAT, {**STOP, "answers": {"message": {"stderr": "{reason}", "exit": 2}}})
    ]
    with pytest.raises(Refused, match="exit code 2"):
        install(tmp_path, policy(), shapes, listener=("/x", "k", "s"))


def test_events_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    shapes = [
        HookFormat.model_validate({**each, "paths": {"prompt": "said", "tool": "t", "input": "i"}})
        for each in (STOP, PROMPT)
    ]
    with pytest.raises(Refused, match="tell them apart"):
        install(
            tmp_path,
            policy(),
            [HookFormat.model_validate(FORMAT), *shapes],
            listener=("/x", "k", "s"),
        )
