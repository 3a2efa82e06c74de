"""Which conversation a launch goes on with, and how its id is learnt."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Awaitable, Callable

from barry_adapter_qwen.declared import LABEL, LaunchRefused
from barry_adapter_qwen.places import Env
from barry_adapter_qwen.transcript import files
from barry_cli.adapters import PlanDraft

Discover = Callable[[], Awaitable[str | None]]

# The operator's own words about the conversation; an id of ours beside them would be refused.
_OWN_FLAGS = {"--continue", "-c", "--resume", "-r", "--session-id"}


def conversation(draft: PlanDraft) -> tuple[str | None, Discover | None]:
    """Add the flags of the conversation asked for: its id where it is known, else what finds it.

    Raises LaunchRefused for an id that is none.
    """
    config = draft.config
    resume = config.resume
    if resume is not None and resume.harness_session_id is not None:
        known = resume.harness_session_id
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", known):
            raise LaunchRefused(
                f"{known!r} is no id of a {LABEL} conversation", hint=f"use one that {LABEL} shows"
            )
        draft.args.append(f"--resume={known}")
        return known, None
    if any(word.split("=")[0] in _OWN_FLAGS for word in config.extra_args or ()):
        return None, _appeared(config.cwd, config.env)
    if resume is not None and resume.picker:
        # With "=" and nothing after it no word that follows is taken for an id.
        draft.args.append("--resume=")
        return None, _appeared(config.cwd, config.env)
    if resume is not None and resume.last:
        last = next(files(config.cwd, config.env), None)
        if last is not None:
            draft.args.append(f"--resume={last.stem}")
            return last.stem, None
        draft.warn(f"{LABEL} has no conversation in this folder yet: it starts a new one")
    reserved = str(uuid.uuid4())
    draft.args.append(f"--session-id={reserved}")
    return reserved, None


def _appeared(cwd: str, env: Env) -> Discover:
    """Finds the one conversation of this folder that was written to since now; two are none."""
    started = time.time_ns()

    async def discover() -> str | None:
        found = []
        for path in files(cwd, env):
            try:
                if path.stat().st_mtime_ns >= started:
                    found.append(path.stem)
            except OSError:
                continue
        return found[0] if len(found) == 1 else None

    return discover
