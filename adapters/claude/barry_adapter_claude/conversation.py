"""Which conversation a launch goes on with, and how its id is learnt."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Awaitable, Callable

from barry_adapter_claude.declared import LABEL
from barry_adapter_claude.live import running
from barry_adapter_claude.places import Env, conversation_files
from barry_cli.adapters import PlanDraft, Refused

Discover = Callable[[], Awaitable[str | None]]

# The operator's own words about the conversation; an id of ours beside them would be refused.
_OWN_FLAGS = {
    "--continue",
    "-c",
    "--resume",
    "-r",
    "--session-id",
    "--fork-session",
    "--from-pr",
    "--teleport",
}


def conversation(draft: PlanDraft) -> tuple[str | None, Discover | None]:
    """Add the flags of the conversation asked for: its id where it is known, else what finds it.

    Raises Refused for an id that is none.
    """
    config = draft.config
    resume = config.resume
    if resume is not None and resume.harness_session_id is not None:
        known = resume.harness_session_id
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", known):
            raise Refused(
                f"{known!r} is no id of a {LABEL} conversation", hint=f"use one that {LABEL} shows"
            )
        draft.args.append(f"--resume={known}")
        return known, None
    if resume is not None and (resume.picker or resume.last):
        # With "=" and nothing after it the picker takes no word that follows for a name.
        draft.args.append("--resume=" if resume.picker else "--continue")
        return None, _appeared(config.cwd, config.env)
    if any(word.split("=")[0] in _OWN_FLAGS for word in config.extra_args or ()):
        return None, _appeared(config.cwd, config.env)
    reserved = str(uuid.uuid4())
    draft.args.append(f"--session-id={reserved}")
    return reserved, None


def _appeared(cwd: str, env: Env) -> Discover:
    """Finds the one conversation of this folder that was written to since now, other running
    sessions' aside; two candidates are none.
    """
    started = time.time_ns()
    others = {session.conversation for session in running(env)}

    async def discover() -> str | None:
        found = []
        for path in conversation_files(cwd, env):
            try:
                written = path.stat().st_mtime_ns
            except OSError:
                continue
            if written >= started and path.stem not in others:
                found.append(path.stem)
        return found[0] if len(found) == 1 else None

    return discover
