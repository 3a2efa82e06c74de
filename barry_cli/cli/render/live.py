"""A turn while it goes on: for a person, or as a stream of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from barry_cli.base.problems import BarryError
from barry_cli.cli.render.measures import call, short, time, tokens
from barry_cli.cli.render.output import json_text, write
from barry_cli.cli.render.talk import Talk, one_line, say, style
from barry_cli.contract.data import snapshot

if TYPE_CHECKING:
    from barry_cli.contract.session import Allowed, Denied, PermissionRequest
    from barry_cli.host.prepare import PreparedRun
    from barry_cli.host.run import RunEnd


class TurnFailed(BarryError):
    """A turn that did not come to a good end; ``code`` and exit code are those of its fault."""

    def __init__(self, end: RunEnd) -> None:
        super().__init__(
            end.error or "the turn failed",
            hint=end.hint or _hint(end),
            details={
                "sessionId": end.session_id,
                "turnId": end.turn_id,
                "state": end.state,
                **({"resetAt": end.reset_at} if end.reset_at else {}),
            },
        )
        self.code = end.code or "turn-failed"
        self.exit_code = end.exit_code

    @classmethod
    def codes(cls) -> Mapping[str, int]:
        """Those that are no fault's. One that TERM interrupted exits with 143."""
        return {"turn-failed": 1, "timeout": 124, "interrupted": 130}


def _hint(end: RunEnd) -> str:
    if end.reset_at:
        return f"it can be asked again at {end.reset_at}"
    if end.harness_session_id:
        return f'barry session resume {end.session_id} "..." goes on with it'
    return f"barry session events {end.session_id} shows what happened"


class _Start:
    """What is said on stderr before the harness begins."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    def starting(self, prepared: PreparedRun) -> None:
        adapter = prepared.adapter
        build = f" {prepared.version}" if prepared.version else ""
        gating = prepared.mode.guarantees.gating
        self._talk.note(
            f"{adapter.label}{build}, driven by Barry (gating {gating}): session "
            f"{prepared.session_id}"
        )
        for note in prepared.notes:
            self._talk.note(note)
        for warning in prepared.warnings:
            self._talk.warn(warning)
        if prepared.unverified:
            self._talk.warn("nothing was shown to hold on this build or platform: unverified")

    def warned(self, warnings: Sequence[str]) -> None:
        for warning in warnings:
            self._talk.warn(warning)


class JsonStream(_Start):
    """Each event as a line of JSON on stdout."""

    def event(self, event: Mapping[str, Any]) -> None:
        write(json.dumps(event, ensure_ascii=True) + "\n")

    def ruled(self, call: PermissionRequest, decision: Allowed | Denied, sentence: str) -> None:
        """The stream has the call and its result: of one that was denied, why."""

    def ended(self, end: RunEnd) -> None:
        """The error, if any, goes to stderr as every error does."""


class LiveView(_Start):
    """The answer on stdout; what is done for it, and how it was ruled on, on stderr."""

    def __init__(self, talk: Talk, *, structured: bool) -> None:
        super().__init__(talk)
        self._structured = structured
        self._streams = sys.stdout.isatty() and not structured
        self._partial = ""
        self._at_line_start = True

    def event(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        inner = "  " if event.get("parentToolUseId") else ""
        if kind == "partial" and self._streams and not inner:
            self._partial += str(event["text"])
            self._put(str(event["text"]))
        elif kind == "text" and self._streams and not inner and event.get("role") != "user":
            text = str(event["text"])
            # What was shown in parts is not shown again.
            self._put(text.removeprefix(self._partial) if self._partial else text)
            self._partial = ""
            self._end_line()
        elif kind == "tool_use":
            self._say(f"{inner}{style('>', 'bold', sys.stderr)} {call(event)}")
        elif kind == "tool_result" and event.get("error"):
            self._say(f"{inner}{style('x', 'red', sys.stderr)} {short(event.get('result'))}")

    def ruled(self, call: PermissionRequest, decision: Allowed | Denied, sentence: str) -> None:
        if decision.allow:
            return
        word = style("denied", "red", sys.stderr)
        self._say(f"  {word} {one_line(call.tool)}: {one_line(sentence)}")

    def ended(self, end: RunEnd) -> None:
        self._end_line()
        if end.exit_code == 0:
            if self._structured:
                write(json_text(end.structured, 2) + "\n")
            elif not self._streams and end.text:
                write(end.text if end.text.endswith("\n") else f"{end.text}\n")
        parts = [f"{'done' if end.exit_code == 0 else 'ended'} in {time(end.seconds)}"]
        if end.usage is not None:
            parts += [tokens(snapshot(end.usage))]
        if end.harness_session_id is not None and end.exit_code == 0:
            parts.append(f'barry session resume {end.session_id} "..." goes on')
        say(style(", ".join(each for each in parts if each), "dim", sys.stderr))

    def _put(self, text: str) -> None:
        if text:
            write("".join(each for each in text if each in "\n\t" or not _obeyed(each)))
            self._at_line_start = text.endswith("\n")

    def _end_line(self) -> None:
        if not self._at_line_start:
            write("\n")
            self._at_line_start = True

    def _say(self, text: str) -> None:
        self._end_line()
        say(text)


def _obeyed(letter: str) -> bool:
    """Whether a terminal does something else with it than to show it: acts, or turns text round."""
    control = letter < " " or "\x7f" <= letter <= "\x9f"
    return control or "\u202a" <= letter <= "\u202e" or "\u2066" <= letter <= "\u2069"
