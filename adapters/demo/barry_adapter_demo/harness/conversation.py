"""One conversation: its id, what was said, and where it is written down."""

import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from . import VERSION, transcript
from .cancel import Cancel
from .files import ServerSpec
from .hooks import Hooks
from .model import Context
from .options import Options
from .problems import Refused, reason
from .processes import Groups
from .tools import Server, Toolbox
from .transcript import Event, Transcript


class Warn(Protocol):
    def __call__(self, message: str) -> None: ...


@dataclass(slots=True)
class Conversation:
    """State of a conversation while it is open."""

    id: str
    options: Options
    toolbox: Toolbox
    model: str
    history: list[Event]
    hooks: Hooks
    transcript: Transcript | None
    """None: nothing is to be written down."""
    resumed: bool
    copied: tuple[Event, ...] = ()
    """What a copy begins with: the events of the conversation that it was made of."""
    _started: bool = field(default=False)

    @property
    def context(self) -> Context:
        """What the model may know."""
        prompts = tuple(str(each.get("text")) for each in self.history if each["type"] == "user")
        return Context(self.options.system, prompts)

    def record(self, kind: str, **fields: object) -> None:
        """Write an event down, then remember it. Raises Refused when it cannot be written."""
        if not self._started:
            self._append("meta", self._meta())
            for event in self.copied:
                self._write(event)
            self._started = True
        self._append(kind, fields)

    def _append(self, kind: str, fields: Event) -> None:
        self._write({"type": kind, **fields})
        self.history.append({"type": kind, **fields})

    def _write(self, event: Event) -> None:
        if self.transcript:
            self.transcript.append(event)

    def _meta(self) -> Event:
        return {
            "session_id": self.id,
            "cwd": self.toolbox.cwd,
            "version": VERSION,
            "model": self.model,
            "system": self.options.system,
            "resumed": self.resumed,
        }


def choose(options: Options, cwd: str, env: Mapping[str, str]) -> str | None:
    """The id of the conversation to go on with; None for a new one. Raises Refused."""
    if options.resume:
        return options.resume
    if options.last:
        known = transcript.ids(cwd, env)
        if not known:
            raise Refused(f"no conversation in {cwd}")
        return known[0]
    return None


def start(
    options: Options,
    cwd: str,
    env: Mapping[str, str],
    groups: Groups,
    cancel: Cancel,
    warn: Warn,
    *,
    resume: str | None = None,
    servers: tuple[ServerSpec, ...] = (),
) -> Conversation:
    """Open a new conversation, or the one to resume. Raises Refused. Writes nothing yet."""
    session, history = options.session_id or str(uuid.uuid4()), []
    if resume is not None:
        path = transcript.find(resume, cwd, env)
        if path is None:
            raise Refused(f"no conversation with id {resume} in {cwd}")
        session, history = resume, _read(path)
    elif options.session_id and transcript.in_use(session, env):
        raise Refused(f"session id {session} is already in use")
    create = resume is None
    if options.fork:
        session, create = str(uuid.uuid4()), True
    if "wrong-id" in options.bends:
        session, create = str(uuid.uuid4()), True
    path = os.path.join(transcript.project(cwd, env), f"{session}.jsonl")
    deaf = "no-hooks" in options.bends
    written = not options.ephemeral and "no-transcript" not in options.bends
    return Conversation(
        id=session,
        options=options,
        toolbox=Toolbox(
            cwd,
            options.roots,
            options.policy,
            groups,
            _connect((*options.servers, *servers), cwd, groups, cancel, warn),
        ),
        model=options.model,
        hooks=Hooks({} if deaf else options.hooks, cwd, groups, cancel, session, path),
        history=history,
        transcript=Transcript(path, create=create) if written else None,
        resumed=resume is not None,
        copied=tuple(each for each in history if each["type"] != "meta") if options.fork else (),
    )


def _read(path: str) -> list[Event]:
    try:
        return list(transcript.read(path))
    except OSError as error:
        raise Refused(f"cannot read {path}: {reason(error)}") from None


def _connect(
    specs: tuple[ServerSpec, ...], cwd: str, groups: Groups, cancel: Cancel, warn: Warn
) -> dict[str, Server]:
    servers: dict[str, Server] = {}
    if specs:
        from .mcp import McpServer

        for each in specs:
            try:
                servers[each.name] = McpServer(each, cwd, groups, cancel)
            except Refused as problem:
                warn(f"{problem}; its tools are not available")
    return servers
