"""What happens in a session that a person drives, put on record while it happens."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from barry_cli.base.problems import BarryError
from barry_cli.capture.marks import documents
from barry_cli.capture.recording import Recording
from barry_cli.capture.transcript import Transcripts
from barry_cli.capture.worker import Worker
from barry_cli.contract.instrument import Notice
from barry_cli.contract.levels import CaptureLevel, stronger
from barry_cli.turns.store.log import SessionLog

if TYPE_CHECKING:
    from barry_cli.base.paths import Folders
    from barry_cli.capture.otlp import Door, Receiver
    from barry_cli.contract.adapter import TranscriptSource
    from barry_cli.contract.events import SessionEvent

INTERVAL = 1.0
"""Seconds between two looks at a transcript; more where a look takes long."""

ENDING = 1.8
"""Seconds that the last look may take."""

_AT_ONCE = 1000  # events of one transaction
_WAITING = 50_000  # notices, records and events that are kept while nothing can be written
_SOON = 0.1  # seconds in which notices come together
_SHARE = 10  # of the time, what looks may take: one part in so many

TelemetryFunction = Callable[[Mapping[str, Any]], "Iterable[SessionEvent]"]


@dataclass(frozen=True, kw_only=True)
class Watched:
    """A session, as far as what it does is captured."""

    session_id: str
    cwd: str
    env: Mapping[str, str | None]
    """The harness's environment: by it the adapter finds where conversations are kept."""
    promised: CaptureLevel
    transcript: TranscriptSource | None
    telemetry: TelemetryFunction | None = None
    conversation: str | None = None
    """The harness's id of the conversation, where that is known before it starts."""


class Capture:
    """One session's record, kept by the loop that the session's desk runs on.

    Nothing that happens here can end the session: what is missing in the record lowers ``level``.
    """

    def __init__(self, folders: Folders, watched: Watched, *, door: Door | None = None) -> None:
        """``door``: where the harness was told to report to."""
        self._folders = folders
        self._watched = watched
        self._door = door
        self._receiver: Receiver | None = None
        self._worker: Worker | None = None
        self._looking: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._notices: list[Notice] = []
        self._records: list[Mapping[str, Any]] = []
        self._ended = False
        # From here on the worker's alone, but for a glance.
        self._log: SessionLog | None = None
        self._backlog: list[dict[str, Any]] = []
        self._lost = 0
        self._failure: str | None = None
        self._took = 0.0
        transcripts = None
        if watched.transcript is not None:
            transcripts = Transcripts(watched.transcript, watched.cwd, watched.env)
        self._transcripts = transcripts
        mapped = None if watched.telemetry is None else _mapped(watched.telemetry)
        self._recording = Recording(transcripts, mapped)

    async def start(self) -> None:
        """Look where the conversation stands, before the harness starts.

        Raises StoreProblem where nothing can be recorded.
        """
        self._worker = Worker("barry-capture")
        try:
            await self._worker.do(self._open)
            if self._door is not None:
                from barry_cli.capture.otlp import Receiver

                self._receiver = Receiver(self._door, self._reported)
                await self._receiver.start()
        except BaseException:
            self._worker.end()
            raise
        self._looking = asyncio.create_task(self._look())

    def notice(self, notice: Notice) -> None:
        """Take in what a hook or a plugin told; it is looked at soon."""
        if len(self._notices) >= _WAITING:
            self._lost += 1
            return
        self._notices.append(notice)
        self._wake.set()

    def conversation(self, harness_session_id: str) -> None:
        """Take in which conversation the harness has, from who found it out."""
        self.notice(Notice(kind="loaded", harness_session_id=harness_session_id))

    @property
    def sources(self) -> tuple[str, ...]:
        """What told anything until now: ``hooks``, ``telemetry``, ``transcript``."""
        return tuple(sorted(self._recording.sources))

    def level(self) -> tuple[CaptureLevel, str | None]:
        """How much of the session is on record, and why that is less than was promised."""
        promised = self._watched.promised
        level, why = self._shown()
        if why is not None and stronger("capture", promised, level):
            return level, why
        return promised, None

    async def stop(self) -> None:
        """The harness has ended: look once more, and let go of everything. Raises nothing."""
        if self._ended or self._worker is None:
            return
        self._ended = True
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        if self._receiver is not None:
            await self._receiver.close()
        try:
            async with asyncio.timeout(ENDING):
                await self._round(final=True)
                await self._worker.do(self._close)
        except TimeoutError:
            self._failure = "the last look at it took too long"
            self._lost += 1
        self._worker.end()

    def _shown(self) -> tuple[CaptureLevel, str | None]:
        recording = self._recording
        if self._lost:
            because = f": {self._failure}" if self._failure else ""
            return "post-hoc", f"a part of what happened could not be recorded{because}"
        if recording.missed or recording.problem is not None:
            why = "the harness's transcript was not there, or did not tell all of it"
            if self._transcripts is None:
                why = "there is no transcript that Barry can read"
            elif recording.problem is not None:
                why = f"the harness's transcript could not be read ({recording.problem})"
            told = " and ".join(each for each in self.sources if each != "transcript")
            rest = f": what is recorded comes from its {told}" if told else ""
            return "post-hoc", f"{why}{rest}"
        if self._ended and not self.sources:
            return "none", "neither hooks nor a transcript told anything of it"
        return self._watched.promised, None

    def _reported(self, records: list[dict[str, Any]], others: int) -> None:
        if records or others:
            self._recording.sources.add("telemetry")
        if self._watched.telemetry is not None and len(self._records) < _WAITING:
            self._records += records
            self._wake.set()

    async def _look(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(INTERVAL, self._took * _SHARE)):
                    await self._wake.wait()
            await asyncio.sleep(max(_SOON, self._took))
            await self._round(final=False)

    async def _round(self, *, final: bool) -> None:
        self._wake.clear()
        notices, self._notices = self._notices, []
        records, self._records = self._records, []
        if self._worker is not None:
            await self._worker.do(self._work, notices, records, final)

    # --- on the worker ---

    def _open(self) -> None:
        self._log = SessionLog(self._folders)
        conversation = self._watched.conversation
        if self._transcripts is not None:
            self._transcripts.begin(conversation)
        if conversation is not None:
            self._recording.switch(conversation)

    def _work(self, notices: list[Notice], records: list[Mapping[str, Any]], final: bool) -> None:
        began = time.monotonic()
        try:
            self._backlog += self._recording.round(notices, records, began, final=final)
            self._write()
        except Exception as error:  # a session goes on, whatever became of its record
            told = str(error) if isinstance(error, BarryError) else f"{type(error).__name__}"
            self._failure = told
            if not isinstance(error, BarryError):
                self._lost += 1
        over = len(self._backlog) - _WAITING
        if final or over > 0:
            gone = len(self._backlog) if final else over
            del self._backlog[:gone]
            self._lost += gone
        self._took = time.monotonic() - began

    def _write(self) -> None:
        while self._backlog and self._log is not None:
            self._log.append(self._watched.session_id, self._backlog[:_AT_ONCE])
            del self._backlog[:_AT_ONCE]

    def _close(self) -> None:
        if self._log is not None:
            self._log.close()


def _mapped(
    telemetry: TelemetryFunction,
) -> Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]]:
    return lambda record: documents(telemetry(record))
