"""Which conversation a turn goes on with, and whether it can (seeds 002, 004)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from barry_cli.headless.agent_input import Continuation
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.verdict import lost_conversation

if TYPE_CHECKING:
    from barry_cli.headless.agent_adapter import AgentAdapter
    from barry_cli.headless.driven import Driven
    from barry_cli.headless.session import HarnessSession

log = logging.getLogger(__name__)


def refuse_unresumable(adapter: AgentAdapter, session: HarnessSession) -> None:
    """Raises AgentFault (``session``) for a conversation that this agent can't take up."""
    if session.resume_session_id is None:
        if session.fork:
            raise AgentFault(
                "session", "a fork needs a conversation to copy", hint="name one to resume"
            )
        return
    Continuation(session.resume_session_id)
    if session.fork and adapter.forkable is False:
        raise AgentFault(
            "session", f"{adapter.name} can't copy a conversation", hint="resume it instead"
        )
    if adapter.resumable is False and not session.history:
        raise AgentFault(
            "session",
            f"{adapter.name} can't go on with a conversation, and there is no record of it to tell",
            hint="start a new session",
        )


async def continuation_of(driven: Driven) -> Continuation | None:
    """What the next turn goes on with; None for a new conversation.

    A copy that must be prepared is made here. Raises AgentFault (``session``) for a conversation
    that is known to be gone, before anything else starts.
    """
    session, fork = driven.session, driven.adapter.fork
    if not driven.can_resume:
        return None
    if driven.conversation is not None:
        return Continuation(driven.conversation)
    if session.resume_session_id is None:
        return None
    asked = Continuation(session.resume_session_id, session.fork)
    _look_for(driven, asked)
    if not session.fork or fork is None:
        return asked
    child = Continuation(await fork(asked.id, driven.invoke))
    if child.id == asked.id:
        raise AgentFault(
            "session",
            f"{driven.name} gave the conversation itself instead of a copy",
            hint="resume the conversation, or start a new one",
        )
    return child


def _look_for(driven: Driven, asked: Continuation) -> None:
    storage = driven.adapter.storage
    if storage is None:
        return
    try:
        path = storage.locate(asked.id, driven.place())
    except OSError as error:
        log.warning("a conversation can't be looked for (%s)", type(error).__name__)
        return
    if path is None:
        raise lost_conversation(
            f"{driven.name} has no conversation {asked.id} for {driven.session.config.cwd}"
        )
