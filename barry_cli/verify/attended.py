"""An instrumented session of a check: planned and attended as a launch would, without its parent.

The check looks at the harness's terminal itself, so nothing waits for it here.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from barry_cli.base.paths import Folders
from barry_cli.base.processes import identify
from barry_cli.contract.adapter import Adapter, LaunchMode
from barry_cli.contract.data import snapshot
from barry_cli.contract.instrument import Notice
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.proof import NotShown, Ruled
from barry_cli.contract.session import SessionConfig
from barry_cli.inbox.place import Place, claim
from barry_cli.inbox.spool import Spool
from barry_cli.launch.desk import Desk, Kept
from barry_cli.launch.instruments import Instruments, arrange
from barry_cli.launch.planning import discard, make_plan, tried
from barry_cli.policy.bound_file import bound_of
from barry_cli.turns.store.sessions import SessionRow, Sessions, now

if TYPE_CHECKING:
    from barry_cli.bags.manifest import BagManifest

_STATES = {
    "held": 0,
    "writing": 1,
    "written": 2,
    "uncertain": 2,
    "consumed": 3,
    "failed": 3,
}


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A session that is planned and not yet attended."""

    adapter: Adapter
    config: SessionConfig
    plan: LaunchPlan
    instruments: Instruments
    folders: Folders
    restricted: bool

    def discard(self) -> None:
        discard(self.plan)
        self.instruments.discard()


async def planned(
    adapter: Adapter,
    mode: LaunchMode,
    manifest: BagManifest | None,
    folders: Folders,
    bound: Mapping[str, object] | None,
    configured: Callable[[Instruments], SessionConfig],
    *,
    session_id: str,
    cwd: str,
    env: Mapping[str, str],
    program: str | None = None,
) -> Planned:
    """Plan a session whose hooks were tried. Raises what a launch would refuse it for."""
    instruments = arrange(
        session_id,
        adapter=adapter,
        manifest=manifest,
        bound=None if bound is None else bound_of("of the check", dict(bound)),
        cwd=cwd,
        folders=folders,
        env=env,
        program=program,
    )
    try:
        config = configured(instruments)
        plan = await make_plan(adapter, mode, config)
        try:
            plan = tried(plan, adapter, instruments, cwd, restricted=True)
        except BaseException:
            discard(plan)
            raise
    except BaseException:
        instruments.discard()
        raise
    return Planned(
        adapter=adapter,
        config=config,
        plan=plan,
        instruments=instruments,
        folders=folders,
        restricted=bound is not None,
    )


class Attended:
    """A session with its desk. Close it: what the plan made is removed, too."""

    def __init__(self, made: Planned, mode_id: str) -> None:
        self._made = made
        self._sessions = Sessions(made.folders)
        self._pid: int | None = None
        self.notices: list[Notice] = []
        self.id = made.config.session_id
        own = identify(os.getpid())
        self._place: Place = claim(self.id)
        try:
            self._sessions.add(
                SessionRow(
                    id=self.id,
                    adapter=made.adapter.id,
                    mode=mode_id,
                    cwd=made.config.cwd,
                    guarantees=snapshot(made.plan.guarantees),
                    lowered=made.plan.lowered,
                    asked={},
                    state="starting",
                    harness_session_id=made.plan.harness_session_id,
                    supervisor_pid=own.pid if own is not None else None,
                    supervisor_started=own.start_time if own is not None else None,
                    created_at=now(),
                    socket=self._place.path,
                    token_digest=made.instruments.digest,
                    activity="starting",
                )
            )
            self.desk = Desk(
                Kept(
                    session_id=self.id,
                    instruments=made.instruments,
                    plan=made.plan,
                    folders=made.folders,
                    adapter=made.adapter,
                    cwd=made.config.cwd,
                    env={
                        name: value
                        for name, value in {**made.config.env, **made.plan.env}.items()
                        if value is not None
                    },
                    conversation=made.plan.harness_session_id,
                    restricted=made.restricted,
                    end=self._end,
                ),
                self._place,
            )
            self.desk.listeners.append(self.notices.append)
            self.desk.open()
        except BaseException:
            self._place.release()
            raise

    def runs(self, pid: int) -> None:
        """The harness has started."""
        self._pid = pid
        identity = identify(pid)
        self._sessions.change(
            self.id,
            state="running",
            pid=pid,
            pid_started=identity.start_time if identity is not None else None,
        )

    def _end(self) -> None:
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGTERM)

    @property
    def row(self) -> SessionRow:
        """What is recorded of it now."""
        return self._sessions.get(self.id)

    @property
    def rulings(self) -> list[Ruled]:
        """What was ruled on its calls, oldest first."""
        return [
            Ruled(
                tool=notice.tool or "",
                allowed=notice.document.get("outcome") == "allowed",
                reason=str(notice.document.get("agent") or ""),
            )
            for notice in list(self.notices)
            if notice.kind == "ruled"
        ]

    async def send(
        self,
        content: str,
        *,
        name: str | None,
        until: str,
        seconds: float,
        meanwhile: Callable[[], Awaitable[None]],
    ) -> str:
        """Send a message through the session's socket; the state that it came to in time."""
        link = await asyncio.open_unix_connection(self._place.path, limit=1 << 20)
        reader, writer = link
        frame = {"type": "send", "content": content, **({} if name is None else {"from": name})}
        writer.write(json.dumps(frame).encode() + b"\n")
        answer = json.loads(await reader.readline())
        writer.close()
        if answer.get("ok") is not True:
            raise NotShown(f"the message was refused: {answer}")
        give_up = time.monotonic() + seconds
        with Spool(self._made.folders) as spool:
            while True:
                message = spool.get(self.id, answer["messageId"])
                state = message.state if message is not None else "gone"
                if self.desk.refusal is not None:
                    raise NotShown(f"the session was ended: {self.desk.refusal}")
                if _STATES.get(state, 9) >= _STATES[until] or time.monotonic() >= give_up:
                    return state
                await meanwhile()

    def close(self) -> None:
        """The harness has ended: so does the desk."""
        self.desk.close()
        self._sessions.change(
            self.id, state="ended", ended_at=now(), token_digest=None, activity=None
        )
        self._place.release()
        self._made.discard()


def with_variables(plan: LaunchPlan, instruments: Instruments) -> LaunchPlan:
    """The plan with what a child of the session finds it by."""
    return replace(plan, env={**plan.env, **instruments.variables})
