"""How the demo harness is talked to while it runs, without any reading or writing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_demo.events import events, line_of
from barry_cli.agents import LiveStep, read_line, read_string
from barry_cli.sessions import Allowed, Failed, PermissionRequested

if TYPE_CHECKING:
    from barry_cli.agents import AgentInput
    from barry_cli.sessions import Denied

_UNREADABLE = "the demo harness asked for something that Barry could not read"
_UNRULED = "the demo harness ran a call that Barry had not allowed; its turn was ended"


class Dialogue:
    """One process: a prompt, and after its turn the next."""

    def __init__(self, input: AgentInput) -> None:
        self._input = input
        self._asked: set[str] = set()
        self._allowed: set[str] = set()

    def start(self) -> str:
        return self.encode(self._input.text)

    def encode(self, text: str) -> str:
        return line_of(type="message", text=text)

    def read(self, line: str) -> LiveStep | None:
        row = read_line(line)
        kind, call = read_string(row, "type"), read_string(row, "id")
        if row is None:
            return None
        if kind == "init":  # with each message that it takes
            return LiveStep(events=events(line), consumed=1)
        if kind == "ask":
            tool = read_string(row, "name")
            if call is None or tool is None:
                return LiveStep(events=(Failed(error=_UNREADABLE),))
            self._asked.add(call)
            asked = PermissionRequested(id=call, tool=tool, input=row.get("input"))
            return LiveStep(events=(asked,))
        if kind == "tool_result" and row.get("ok") is True and call not in self._allowed:
            return LiveStep(events=(*events(line), Failed(error=_UNRULED)))
        return None

    def answer(self, id: str, decision: Allowed | Denied) -> str:
        if id not in self._asked:
            return ""
        self._asked.discard(id)
        if isinstance(decision, Allowed):
            self._allowed.add(id)
            return line_of(type="answer", id=id, allow=True)
        return line_of(type="answer", id=id, allow=False, reason=decision.reason)

    def interrupt(self) -> str | None:
        """The harness itself gives up what it still asks."""
        self._asked.clear()
        return line_of(type="interrupt")
