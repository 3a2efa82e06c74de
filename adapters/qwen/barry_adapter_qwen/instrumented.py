"""How a launch of Qwen Code's TUI is planned with Barry's hooks in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from barry_adapter_qwen.conversation import conversation
from barry_adapter_qwen.declared import (
    COMMAND,
    INSTRUMENTED_GUARANTEES,
    LABEL,
    LaunchRefused,
)
from barry_adapter_qwen.hooks import hold, hooks
from barry_adapter_qwen.inbox import Inbox
from barry_adapter_qwen.launch import flags
from barry_adapter_qwen.routing import route
from barry_adapter_qwen.system import arrange, merged
from barry_cli.adapters import LaunchPlan, PlanDraft

if TYPE_CHECKING:
    from barry_cli.sessions import SessionConfig

_INPUT = "--input-file"


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch. Raises LaunchRefused for what must not go on as asked."""
    with PlanDraft(LABEL, config, INSTRUMENTED_GUARANTEES) as draft:
        instrument = draft.config.instrument
        if instrument is None:
            raise LaunchRefused("an instrumented launch needs Barry's hooks, and none were given")
        hold(draft)
        arrange(draft, merged(route(draft), hooks(draft, instrument)))
        flags(draft)
        file = _input(draft)
        known, discover = conversation(draft)
        return draft.finish(
            COMMAND,
            harness_session_id=known,
            discover=discover,
            inbox=Inbox(instrument.inside, file),
        )


def _input(draft: PlanDraft) -> Path | None:
    """The file by which it is woken; None where the user has one of their own."""
    if any(word.split("=")[0] == _INPUT for word in draft.config.extra_args or ()):
        draft.lower(
            f"{_INPUT} is your own, and {LABEL} takes one: nothing wakes it", delivery="turn-end"
        )
        return None
    file = draft.file("input.jsonl", "")
    draft.args.append(f"{_INPUT}={file}")
    return file
