"""How a launch of Gemini CLI's TUI is planned with Barry's hooks in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_gemini.conversation import conversation
from barry_adapter_gemini.declared import (
    COMMAND,
    INSTRUMENTED_GUARANTEES,
    LABEL,
    LaunchRefused,
)
from barry_adapter_gemini.hooks import hold, hooks
from barry_adapter_gemini.inbox import inbox
from barry_adapter_gemini.launch import flags, only, servers
from barry_adapter_gemini.routing import route
from barry_adapter_gemini.settings import of_folder
from barry_adapter_gemini.system import carry
from barry_adapter_gemini.trust import trust
from barry_cli.adapters import LaunchPlan, PlanDraft

if TYPE_CHECKING:
    from barry_cli.sessions import SessionConfig

# Both would have it act beside the calls that are ruled on: a model corrects what a file is to
# hold, and what was said is worked through in the background.
_QUIET = {"tools": {"disableLLMCorrection": True}, "experimental": {"autoMemory": False}}


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch. Raises LaunchRefused for what must not go on as asked."""
    with PlanDraft(LABEL, config, INSTRUMENTED_GUARANTEES) as draft:
        instrument = draft.config.instrument
        if instrument is None:
            raise LaunchRefused("an instrumented launch needs Barry's hooks, and none were given")
        flags(draft)
        folder = of_folder(config.cwd, config.env)
        hold(draft, folder)
        trust(draft)
        own = {**route(draft, folder), **servers(draft)}
        if not carry(draft, {**own, **_QUIET, **hooks(instrument)}):
            raise LaunchRefused(
                f"{LABEL} takes hooks only from a file that nobody but root could have written, "
                "in folders of which the same is true, and Barry has no such place here",
                hint="launch in guest mode, or have Barry run by root with BARRY_HOME below "
                "folders of root's",
            )
        only(draft, arranged=True)
        known, discover = conversation(draft)
        return draft.finish(
            COMMAND,
            harness_session_id=known,
            discover=discover,
            inbox=inbox(instrument.inside),
        )
