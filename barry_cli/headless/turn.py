"""One turn: its processes, what they say, and what it came to in the end."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from barry_cli.base.secrets import redact
from barry_cli.contract.events import Done, Failed, Result, SessionEvent, Text
from barry_cli.contract.session import Denied
from barry_cli.headless.accounts import Accounts
from barry_cli.headless.agent_input import Continuation
from barry_cli.headless.agent_process import AgentProcess
from barry_cli.headless.driven import Driven, KeptProcess
from barry_cli.headless.faults import AgentFault, as_fault
from barry_cli.headless.heard import Heard
from barry_cli.headless.replay import replayed
from barry_cli.headless.resuming import continuation_of
from barry_cli.headless.segment import Limits, Segment
from barry_cli.headless.session import TurnOutcome
from barry_cli.headless.verdict import Ended, fault_of
from barry_cli.turns.one_done import INTERRUPTED

if TYPE_CHECKING:
    from barry_cli.contract.data import JsonSchema
    from barry_cli.contract.models import TokenUsage
    from barry_cli.contract.session import Allowed
    from barry_cli.headless.agent_events import StopReason


class Turn:
    """Read ``run`` to its end, then ``end`` it on every way out."""

    def __init__(self, driven: Driven, text: str, schema: JsonSchema | None) -> None:
        self.outcome = TurnOutcome()
        self._driven = driven
        self._text = text
        self._schema = schema
        self._accounts = Accounts(driven)
        self._process: AgentProcess | None = None
        self._segment: Segment | None = None
        self._cut = False
        self._steered: list[str] = []
        self._heard = Heard(driven, self._accounts)

    # --- from beside ---

    def steer(self, text: str) -> bool:
        """Give it one more message; False when it can't take one."""
        segment, live = self._segment, self._driven.adapter.live_input
        if segment is None or segment.final or segment.stopped is not None or self._cut:
            return False
        if live is not None and live.steers and segment.dialogue is not None:
            return segment.say_more(text)
        if not self._driven.can_resume:
            return False
        self._steered.append(text)
        if self._conversation() is not None:
            segment.cut(steered=True)
        return True

    def interrupt(self) -> None:
        """Cut it short."""
        self._cut = True
        if self._segment is not None:
            self._segment.cut()

    def respond(self, id: str, decision: Allowed | Denied, note: str | None) -> bool:
        """A person's ruling on a call."""
        if isinstance(decision, Denied) and not decision.reason:
            decision = Denied(reason=note)
        return self._segment is not None and self._segment.respond(id, decision)

    async def end(self) -> None:
        """End what still runs of it. Idempotent."""
        if self._process is not None:
            process, self._process = self._process, None
            await process.end()

    # --- the turn ---

    async def run(self) -> AsyncGenerator[SessionEvent]:
        """Its events; the last ones are an ``error``, if it failed or was cut, and its ``done``."""
        fault: AgentFault | None = None
        usage: TokenUsage | None = None
        try:
            async with aclosing(self._run()) as events:
                async for event in events:
                    yield event
            fault = self._fault()
            if fault is None:
                self._capture()
        except Exception as error:
            fault = as_fault(error, driven=self._driven.name)
        await self.end()
        if self._segment is not None:  # else nothing ran, and nothing was spent
            usage = await self._accounts.settle(self._heard.named)
        text, heard = self._heard.answer, self._heard
        for last in self._last_events(fault, text):
            yield last
        self.outcome = TurnOutcome(
            text=text,
            structured=heard.result.structured if heard.result is not None else None,
            usage=usage,
            fault=fault,
            stopped=self._stopped,
            exit_code=self._segment.exit_code if self._segment is not None else None,
            raw=heard.raw,
        )
        yield Done(usage=usage, turns=heard.turns, duration_ms=heard.duration_ms)

    def _last_events(self, fault: AgentFault | None, text: str | None) -> list[SessionEvent]:
        if not self._driven.can_resume:
            self._driven.history += [Text(role="user", text=self._text), *self._heard.said]
        if fault is not None:
            return [Failed(error=redact(str(fault), self._driven.secrets))]
        if self._stopped is not None:
            return [Failed(error=INTERRUPTED)]
        if self._heard.result is None and text:
            return [Result(result=text)]
        return []

    async def _run(self) -> AsyncGenerator[SessionEvent]:
        driven = self._driven
        prompt = self._text
        deadline = driven.session.deadline_seconds
        until = None if deadline is None else time.monotonic() + deadline
        self._heard.asked = await continuation_of(driven)
        await self._accounts.open(self._heard.asked)
        while self._stopped != "aborted":
            for event in await self._begin(prompt, until):
                yield event
            assert self._segment is not None
            async with aclosing(self._segment.run()) as lines:
                async for said in lines:
                    for event in self._heard.take(said):
                        yield event
                    if self._steered and self._heard.named is not None:
                        self._segment.cut(steered=True)
            until = self._segment.deadline
            await self._let_go()
            if not self._steered or self._cut or self._fault() is not None:
                return
            named = self._conversation()
            if named is None:
                raise AgentFault(
                    "session",
                    f"{driven.name} named no conversation: the message sent during its turn "
                    "could not be given to it",
                    hint="send it again",
                )
            prompt, self._heard.asked = "\n\n".join(self._steered), Continuation(named)
            self._steered.clear()

    def _conversation(self) -> str | None:
        """Its id, where this turn can be gone on with."""
        return self._heard.named or (self._driven.conversation if self._driven.can_resume else None)

    # --- its processes ---

    async def _begin(self, prompt: str, until: float | None) -> list[SessionEvent]:
        """Give the prompt to a process, kept or new. Returns what a kept one said meanwhile."""
        driven = self._driven
        kept, driven.kept = driven.kept, None
        if kept is not None:
            # What was begun for one shape of answer, or another guidance, is of no use here.
            usable = self._schema is None and kept.system_prompt == driven.system_prompt
            self._process = kept.process
            if usable and not kept.process.over and not kept.process.input_closed:
                segment = self._segment = self._made(kept.process, kept.dialogue, until)
                events = [out for said in segment.stale() for out in self._heard.take(said)]
                segment.say(kept.dialogue.encode(prompt))
                self._after_begin()
                return events
            await self.end()
        if self._heard.asked is None and not driven.can_resume:
            # A kept process remembers; this one knows nothing of what was before.
            prompt = replayed([*driven.session.history, *driven.history], prompt)
        asked = driven.input_for(prompt, self._heard.asked, self._schema)
        command = driven.command(asked)
        live = driven.adapter.live_input
        dialogue = live.open(asked) if live is not None else None
        try:
            running = await driven.hooks.start(command)
        except OSError as error:
            raise AgentFault(
                "process",
                f"{driven.name} can't be started: "
                f"{error.filename or command.command}: {error.strerror or error}",
                hint="check that the program is installed and the folder is there",
            ) from None
        self._process = process = AgentProcess(running, line_limit=driven.line_limit)
        self._segment = self._made(process, dialogue, until)
        if dialogue is not None:
            self._segment.say(dialogue.start())
        else:
            process.send(command.stdin or "")
            process.close_input()
        self._after_begin()
        return []

    def _made(self, process: AgentProcess, dialogue: Any, until: float | None) -> Segment:
        session, live = self._driven.session, self._driven.adapter.live_input
        return Segment(
            process,
            dialogue,
            self._driven.hooks.map_line,
            decide=session.config.decide,
            review=session.review,
            keep=session.keep_process and live is not None and live.persistent,
            limits=Limits(
                idle=session.idle_seconds,
                retry=session.retry_seconds,
                deadline=until,
                grace=session.grace_seconds,
            ),
        )

    def _after_begin(self) -> None:
        if self._cut and self._segment is not None:
            self._segment.cut()  # it was asked for before there was anything to cut

    async def _let_go(self) -> None:
        """The segment is over: keep its process for the next turn, or end it."""
        segment, live = self._segment, self._driven.adapter.live_input
        if segment is None or self._process is None:
            return
        if (
            self._driven.session.keep_process
            and live is not None
            and live.persistent
            and segment.dialogue is not None
            and segment.final
            and not segment.failures
            and not segment.process.over
            and not segment.process.input_closed
            and self._schema is None
        ):
            prompt = self._driven.system_prompt
            self._driven.kept = KeptProcess(self._process, segment.dialogue, prompt)
            self._process = None
        else:
            await self.end()

    # --- its end ---

    @property
    def _stopped(self) -> StopReason | None:
        if self._segment is not None:
            return self._segment.stopped
        return "aborted" if self._cut else None

    def _fault(self) -> AgentFault | None:
        segment = self._segment
        if segment is None:  # it was cut before anything ran
            return None
        return fault_of(
            self._driven.adapter,
            Ended(
                live=segment.dialogue is not None,
                final=segment.final,
                stopped=segment.stopped,
                exited=segment.exited,
                exit_code=segment.exit_code,
                failures=tuple(segment.failures),
                stderr=segment.process.stderr,
                quota=self._heard.quota,
                retrying=self._heard.retrying,
                resuming=self._heard.asked is not None,
                untaken=segment.untaken,
                line_limit=self._driven.line_limit,
            ),
            self._driven.secrets,
        )

    def _capture(self) -> None:
        """Copy the conversation as it is now. Raises AgentFault (``session``)."""
        driven, known = self._driven, self._heard.named or self._driven.conversation
        folder, storage = driven.session.captures, driven.adapter.storage
        if folder is None or storage is None or driven.adapter.capture is False or known is None:
            return
        try:
            storage.capture(known, driven.place(), folder)
        except OSError as error:
            raise AgentFault(
                "session",
                f"the conversation {known} could not be captured: {error.strerror or error}",
                hint=f"check the folder {folder}",
            ) from None
