"""What hooks and plugins inside the harness say at the session's socket, and what they are told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from secrets import compare_digest
from typing import TYPE_CHECKING, Any, Protocol, get_args

from barry_cli.contract.instrument import Notice, NoticeKind
from barry_cli.launch.inside import GIVING_SECONDS, Asking, Within
from barry_cli.policy.ruling.rule import rule
from barry_cli.policy.ruling.told import facts

if TYPE_CHECKING:
    from barry_cli.inbox.line import Line
    from barry_cli.launch.instruments import Instruments
    from barry_cli.policy.ruling.verdict import Verdict

ASKING_SECONDS = 2.0
"""How long a hook is kept waiting for what else is to be said: it has five in all."""

_UNRULED = "Barry could not rule on this call, so it is refused: "
_HIDDEN = ("type", "key", "session")
_KINDS: Mapping[str, NoticeKind] = {
    kind: kind for kind in get_args(NoticeKind) if kind not in ("loaded", "ruled")
}
"""What a hook or a plugin may tell of."""

Frame = Mapping[str, Any]


class Ears(Protocol):
    """Who is told what the frames say."""

    def heard(self, notice: Notice) -> None:
        """Something happened inside the harness."""
        ...

    def loaded(self, fingerprint: str) -> None:
        """A plugin reports by which policy it rules."""
        ...

    def asked(self) -> bool:
        """A hook waits for messages. False: there is nobody to give it any."""
        ...


class Frames:
    """The handlers of one session's frames, in the desk's loop."""

    def __init__(self, instruments: Instruments, within: Within, ears: Ears) -> None:
        self._instruments = instruments
        self._within = within
        self._ears = ears
        self._given: dict[Line, Asking] = {}
        self._kept: set[asyncio.Task[None]] = set()
        self._inputs: dict[tuple[str, str], tuple[str, ...]] = {
            (form.kind, form.event): tuple(form.paths["input"].split("."))
            for form in instruments.formats
            if "input" in form.paths
        }
        self._names: dict[str, dict[str, str]] = {}
        for form in instruments.formats:
            self._names.setdefault(form.kind, {}).update(form.names)
        self._events: dict[str, tuple[str, ...]] = {
            form.kind: tuple(form.paths["event"].split("."))
            for form in instruments.formats
            if "event" in form.paths
        }

    @property
    def handlers(self) -> dict[str, Callable[[Frame, Line], Any]]:
        """By the type of a frame."""
        known = {
            "ruled": self._ruled,
            "notice": self._notice,
            "given": self._was_given,
            "loaded": self._loaded,
            "rule": self._rule,
            "own": self._own,
            "answer": self._answer,
        }
        return {name: self._checked(handler) for name, handler in known.items()}

    def _checked(self, handler: Callable[[Frame, Line], Any]) -> Callable[[Frame, Line], Any]:
        async def checked(frame: Frame, line: Line) -> None:
            key = frame.get("key")
            # Who was given a text on this line has shown the key on it.
            known = frame["type"] == "given" and line in self._given
            if known or (isinstance(key, str) and self._is_key(key)):
                await handler(frame, line)
            else:
                await line.refuse("refused", "the frame doesn't show the session's key")

        return checked

    def _is_key(self, shown: str) -> bool:
        expected = self._instruments.instrument.key
        return compare_digest(shown.encode(errors="replace"), expected.encode())

    # --- hooks ---

    async def _ruled(self, frame: Frame, line: Line) -> None:
        self._ears.heard(
            Notice(
                kind="ruled",
                document=_shown(frame),
                tool=_text(frame, "tool"),
                call=_text(frame, "call"),
            )
        )

    async def _notice(self, frame: Frame, line: Line) -> None:
        kind = _KINDS.get(str(frame.get("kind")))
        if kind is None:
            return
        parts = frame.get("parts")
        parts = parts if isinstance(parts, dict) else {}
        notice = Notice(
            kind=kind,
            document=self._event(kind, frame.get("event")),
            harness_session_id=_text(parts, "session"),
            tool=self._tool(kind, _text(parts, "tool")),
            call=_text(parts, "call"),
            prompt=_text(parts, "prompt"),
            cwd=_text(parts, "cwd"),
            transcript=_text(parts, "transcript"),
        )
        self._ears.heard(notice)
        if frame.get("takes") is True:
            # The line's next frame has to be read meanwhile: it is what is waited for.
            task = asyncio.get_running_loop().create_task(self._say(line, notice))
            self._kept.add(task)
            task.add_done_callback(self._kept.discard)

    def _tool(self, kind: NoticeKind, told: str | None) -> str | None:
        """The tool as its harness names it elsewhere."""
        return None if told is None else self._names.get(kind, {}).get(told, told)

    def _event(self, kind: str, text: object) -> Mapping[str, Any]:
        """What the harness told its hook; its input under ``input``, wherever it has it."""
        try:
            event = json.loads(text) if isinstance(text, str) else {}
        except (ValueError, RecursionError):
            event = {}
        if not isinstance(event, dict):
            return {}
        name = _at(event, self._events.get(kind, ()))
        path = self._inputs.get((kind, name)) if isinstance(name, str) else None
        if path is not None and "input" not in event:
            event["input"] = _at(event, path)
        return event

    async def _say(self, line: Line, notice: Notice) -> None:
        """Keep a hook until it is known what is to be said, say it, and hear whether it was."""
        asking = Asking(notice)
        self._within.begin(asking)
        try:
            if self._ears.asked():
                await _within(ASKING_SECONDS, asking.closed.wait())
            asking.closed.set()
            text = asking.text
            self._given[line] = asking
            if not await line.send({"text": text} if text else {}):
                asking.settle(False)
            elif text:
                await _within(GIVING_SECONDS, line.closed())
        finally:
            asking.closed.set()
            self._given.pop(line, None)
            self._within.end(asking)
            asking.lost()  # what was heard of it before stays

    async def _was_given(self, frame: Frame, line: Line) -> None:
        asking = self._given.get(line)
        if asking is not None:
            asking.settle(True)

    # --- plugins ---

    async def _loaded(self, frame: Frame, line: Line) -> None:
        fingerprint = _text(frame, "fingerprint") or ""
        if fingerprint != self._instruments.instrument.fingerprint:
            self._ears.loaded(fingerprint)
            await line.refuse("refused", "the plugin rules by another policy than this session's")
            return
        line.keep()
        self._within.holds(line)
        task = asyncio.get_running_loop().create_task(self._until_gone(line))
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)
        self._ears.loaded(fingerprint)
        await line.send({"ok": True})
        self._ears.heard(
            Notice(
                kind="loaded",
                document=_shown(frame),
                harness_session_id=_text(frame, "harnessSessionId"),
            )
        )

    async def _until_gone(self, line: Line) -> None:
        await line.closed()
        self._within.drops(line)

    async def _rule(self, frame: Frame, line: Line) -> None:
        tool, call, cwd = (_text(frame, name) for name in ("tool", "call", "cwd"))
        given = frame.get("input")
        verdict: Verdict | None = None
        why = ""
        if not tool:
            why = "the harness didn't say which tool is called"
        elif cwd is None or not cwd.startswith("/"):
            why = "the harness didn't say in which folder the tool is called"
        elif given is None:
            why = f"the harness didn't say what {tool} is called with"
        else:
            try:
                verdict = rule(self._instruments.policy, tool, given, cwd)
            except Exception as error:  # whatever it is, the call must not run
                why = f"its ruling failed ({type(error).__name__}). That is a fault of Barry"
        reason = verdict.agent if verdict is not None else f"{_UNRULED}{why}"
        allowed = verdict is not None and verdict.allowed
        await line.send(
            {"type": "ruling", "id": frame.get("id"), "allowed": allowed, "reason": reason}
        )
        said = (
            {name: json.loads(value) for name, value in facts(verdict)}
            if verdict is not None
            else {"outcome": "undecidable", "agent": reason, "human": reason}
        )
        self._ears.heard(
            Notice(kind="ruled", document={**said, "input": given}, tool=tool, call=call)
        )

    async def _own(self, frame: Frame, line: Line) -> None:
        self._ears.heard(
            Notice(
                kind=_KINDS.get(str(frame.get("kind")), "own"),
                document=_shown(frame),
                harness_session_id=_text(frame, "harnessSessionId"),
                tool=_text(frame, "tool"),
                call=_text(frame, "call"),
                prompt=_text(frame, "prompt"),
                cwd=_text(frame, "cwd"),
                transcript=_text(frame, "transcript"),
            )
        )

    async def _answer(self, frame: Frame, line: Line) -> None:
        answer = {name: value for name, value in _shown(frame).items() if name != "id"}
        self._within.answer(line, frame.get("id"), answer)


async def _within(seconds: float, waiting: Any) -> None:
    try:
        async with asyncio.timeout(seconds):
            await waiting
    except TimeoutError:
        pass


def _text(document: Mapping[str, Any], name: str) -> str | None:
    value = document.get(name)
    if not (isinstance(value, str) and value):
        return None
    return value.encode(errors="replace").decode()  # JSON may hold half a letter


def _shown(frame: Frame) -> dict[str, Any]:
    return {name: value for name, value in frame.items() if name not in _HIDDEN}


def _at(document: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = document
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
