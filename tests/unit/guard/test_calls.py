"""One call: ruled on before anything is done, and answered whatever happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from barry_cli.guard import calls as module
from barry_cli.guard.calls import Answer, Calls
from barry_cli.guard.table import TOOLS
from barry_cli.policy.ruling import verdict
from tests.unit.guard.guarded import Session

CALLS: dict[str, dict[str, Any]] = {
    "shell": {"command": "touch made"},
    "read_file": {"path": "there"},
    "write_file": {"path": "made", "content": "x"},
    "edit_file": {"path": "there", "old": "a", "new": "b"},
    "fetch": {"url": "http://127.0.0.1:9/"},
}


def calls(session: Session) -> Calls:
    server = session.server()
    return Calls(*server.args[-2:])


async def called(session: Session, name: str, **given: Any) -> Answer:
    async def progress(count: int, text: str) -> None: ...

    return await calls(session).call(name, given or CALLS[name], progress)


@pytest.mark.parametrize("name", TOOLS)
async def test_no_tool_does_anything_before_it_is_ruled_on(
    session: Session, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.held()
    there = session.work / "there"
    there.write_text("a")
    asked: list[tuple[str, Any, str]] = []

    def rule(policy: object, tool: str, given: object, cwd: str) -> verdict.Verdict:
        asked.append((tool, given, cwd))
        assert sorted(session.work.iterdir()) == [there]
        return verdict.Verdict(verdict.DENIED, agent="not today")

    monkeypatch.setattr(module, "rule", rule)
    assert await called(session, name) == Answer(["not today"], failed=True)
    assert [(tool, cwd) for tool, _, cwd in asked] == [(name, str(session.work))]
    assert there.read_text() == "a"
    assert sorted(session.work.iterdir()) == [there]


async def test_a_path_is_ruled_on_by_where_it_leads(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.held()
    (session.work / "link").symlink_to("there")
    seen: list[Any] = []

    def rule(policy: object, tool: str, given: object, cwd: str) -> verdict.Verdict:
        seen.append(given)
        return verdict.allowed()

    monkeypatch.setattr(module, "rule", rule)
    await called(session, "write_file", path="link", content="x")
    assert seen == [{"path": "link"}, {"path": f"{session.work}/there"}]
    assert (session.work / "link").is_symlink()
    assert (session.work / "there").read_text() == "x"


async def test_a_fault_of_ours_is_an_answer(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> list[str]:
        raise RuntimeError("with a secret in it")

    monkeypatch.setattr(module, "read_file", broken)
    answer = await called(session, "read_file")
    assert answer.failed
    assert answer.texts == ["the call failed: RuntimeError. That is a fault of Barry: report it"]


@pytest.mark.parametrize(
    ("name", "given", "part"),
    [
        ("shell", {"command": "ls", "timeout": 601}, "timeout"),
        ("shell", {"command": "ls", "timeout": "5"}, "timeout"),
        ("shell", {"command": ["ls"]}, "command must be a text"),
        ("shell", {"command": "a\0b"}, "can't be started"),
        ("read_file", {"path": "there", "start": 0}, "start"),
        ("read_file", {"file": "there"}, "path is missing"),
        ("edit_file", {"path": "there", "old": "", "new": "x"}, "old must not be empty"),
        ("write_file", {"path": "", "content": ""}, "must not be empty"),
        ("fetch", {"url": "http://[::1"}, "can't be read"),
    ],
)
async def test_calls_that_make_no_sense(
    session: Session, name: str, given: dict[str, Any], part: str
) -> None:
    answer = await called(session, name, **given)
    assert answer.failed
    assert part in answer.texts[0]
    assert "Traceback" not in answer.texts[0]
    assert list(session.work.iterdir()) == []


@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file", "shell"])
async def test_a_path_has_one_spelling(session: Session, tool: str) -> None:
    """Half characters are how Python spells bytes: a name that no rule would know."""
    session.bound = {"files": {"deny": ["é*"]}}
    session.work.mkdir()
    (session.work / "é.pem").write_text("KEY")
    (session.work / "ém").mkdir()
    given: dict[str, dict[str, str]] = {
        "read_file": {"path": "\udcc3\udca9.pem"},
        "write_file": {"path": "\udcc3\udca9.pem", "content": "x"},
        "edit_file": {"path": "\udcc3\udca9.pem", "old": "KEY", "new": "x"},
        "shell": {"command": "cat x", "cwd": "\udcc3\udca9m"},
    }
    answer = await called(session, tool, **given[tool])
    assert answer.failed
    assert "KEY" not in str(answer.texts)
    assert (session.work / "é.pem").read_text() == "KEY"


async def test_a_refusal_does_not_repeat_what_is_long(session: Session) -> None:
    given: dict[str, Any]
    for name, given in (
        ("x" * 100_000, {"path": "x"}),
        ("read_file", {"path": "x" * 100_000}),
        ("shell", {"command": "x" * 200_000}),
        ("fetch", {"url": "http://" + "x" * 100_000}),
    ):
        answer = await called(session, name, **given)
        assert answer.failed
        assert len("".join(answer.texts)) < 300


async def test_a_folder_that_is_gone(session: Session) -> None:
    made = calls(session)
    Path(session.work).rmdir()

    async def progress(count: int, text: str) -> None: ...

    for name, given in CALLS.items():
        answer = await made.call(name, given, progress)
        assert answer.failed
        assert answer.texts[0]
    assert not session.work.exists()
