"""Plans an instrumented launch: the guest's, with Barry's hooks and a way in for messages."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from barry_adapter_demo import launch
from barry_adapter_demo.declared import INSTRUMENTED_GUARANTEES, LABEL
from barry_adapter_demo.inbox import HookInbox, PipeInbox
from barry_cli.adapters import LaunchPlan, PlanDraft, Refused

if TYPE_CHECKING:
    from barry_cli.adapters import Instrument
    from barry_cli.sessions import SessionConfig

_TOLD = ("Start", "Prompt", "AfterTool", "Ask", "Stop", "End")
_OURS = ("--hooks", "--inbox")


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch. Raises Refused for what would take Barry's hooks away."""
    with PlanDraft(LABEL, config, INSTRUMENTED_GUARANTEES) as draft:
        instrument = draft.config.instrument
        if instrument is None:
            raise Refused(f"{LABEL} has no hooks to call in this launch")
        _refuse_arguments(draft)
        conversation = launch.terminal_arguments(draft)
        draft.args += ["--hooks", str(draft.file("hooks.json", _hooks(instrument)))]
        inbox: HookInbox | PipeInbox
        if (draft.config.options or {}).get("messages") == "hooks":
            draft.lower("its hooks have messages at a turn's end", delivery="turn-end")
            inbox = HookInbox(instrument.inside)
        else:
            pipe = draft.folder() / "inbox"
            os.mkfifo(pipe, 0o600)
            draft.args += ["--inbox", str(pipe)]
            inbox = PipeInbox(instrument.inside, pipe)
        return draft.finish(sys.executable, harness_session_id=conversation, inbox=inbox)


def _hooks(instrument: Instrument) -> str:
    """What the harness calls: one command before a call, the other for all else."""
    commands = dict.fromkeys(_TOLD, instrument.notice.command)
    return json.dumps({"BeforeTool": instrument.ruling.command, **commands})


def _refuse_arguments(draft: PlanDraft) -> None:
    """What the user types comes last, and the last flag of a kind counts."""
    words = draft.config.extra_args or ()
    bends = ",".join((*words, draft.inherited("BARRY_DEMO_BEND") or ""))
    for word in (*words, *(["no-hooks"] if "no-hooks" in bends else [])):
        if word.partition("=")[0] in (*_OURS, "no-hooks"):
            raise Refused(
                f"{word} would take Barry's hooks out of {LABEL}",
                hint="leave it out, or launch in guest mode",
            )
