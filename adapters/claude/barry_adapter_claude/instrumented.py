"""How a launch of Claude Code's own TUI is planned in which every call is ruled on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_claude import arguments
from barry_adapter_claude.conversation import conversation
from barry_adapter_claude.declared import (
    COMMAND,
    INSTRUMENTED_GUARANTEES,
    INSTRUMENTED_NATIVE,
    LABEL,
    NATIVE_TOOLS,
)
from barry_adapter_claude.held import hold
from barry_adapter_claude.hooks import settings
from barry_adapter_claude.inbox import ClaudeInbox
from barry_adapter_claude.launch import own_words
from barry_adapter_claude.routing import route
from barry_adapter_claude.settings import (
    SettingsFiles,
    left_unread,
    managed_settings,
    read_settings,
    user_settings,
)
from barry_cli.adapters import LaunchPlan, PlanDraft, Refused

if TYPE_CHECKING:
    from barry_cli.sessions import SessionConfig

_HELD = {
    "DISABLE_AUTOUPDATER": "1",
    # These modes leave the hooks out.
    "CLAUDE_CODE_SIMPLE": "0",
    "CLAUDE_CODE_SAFE_MODE": "0",
    # With the folder's settings its CLAUDE.md would be left out too; see ``--add-dir``.
    "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1",
}

# What would get into the programs that a hook is made of.
_KEPT_OUT = ("BASHOPTS", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_PRELOAD", "SHELLOPTS")

# The user's own words that would leave the hooks out of the session, and how.
_UNGUARDED = {
    "--settings": "takes the place of the settings that hold Barry's hooks",
    "--setting-sources": "lets the folder's settings switch Barry's hooks off",
    "--bare": "leaves Barry's hooks out",
    "--safe-mode": "leaves Barry's hooks out",
    "--bg": "starts a session elsewhere, without Barry's hooks",
    "--background": "starts a session elsewhere, without Barry's hooks",
    "--cloud": "starts a session elsewhere, without Barry's hooks",
    "--remote": "starts a session elsewhere, without Barry's hooks",
    "--desktop": "starts a session elsewhere, without Barry's hooks",
    "--teleport": "starts a session elsewhere, without Barry's hooks",
    "--environment": "starts a session elsewhere, without Barry's hooks",
}
# Claude Code's own verbs that show or start other sessions.
_OTHER_SESSIONS = ("agents", "attach", "remote-control", "respawn")

_BYPASS = "bypassPermissions"
_BYPASSING = ("--dangerously-skip-permissions", "--allow-dangerously-skip-permissions")


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch. Raises Refused for what must not go on as asked."""
    with PlanDraft(LABEL, config, INSTRUMENTED_GUARANTEES) as draft:
        instrument = draft.config.instrument
        if instrument is None:
            raise Refused(f"{LABEL} can't be launched in this mode without Barry's hooks")
        _refuse_unguarded(draft)
        _heed_managers(draft)
        if user_settings(config.env).get("disableAllHooks") is True:
            draft.warn("your settings switch hooks off; in this launch they are on, your own too")
        held = dict(_HELD)
        # The folder's own settings are not read at all.
        files = SettingsFiles(read_settings(config.cwd, config.env).user, [])
        left_unread(draft)
        known, discover = conversation(draft)
        keeps_back = _keeps_back(draft)
        if keeps_back:
            draft.lower(keeps_back, delivery="tool-call")
        inbox = ClaudeInbox(
            instrument.inside,
            env=config.env,
            conversation=known,
            socket=not keeps_back,
            otherwise="tool-call" if keeps_back else "turn-end",
        )
        arguments.model(draft, held)
        denied = draft.denied(NATIVE_TOOLS, INSTRUMENTED_NATIVE)
        if denied:
            draft.args.append(f"--disallowedTools={','.join(denied)}")
        arguments.prompt(draft)
        arguments.servers(draft)
        draft.args += ["--setting-sources=user", f"--add-dir={config.cwd}"]
        arguments.reach(draft)
        arguments.telemetry(draft, held)
        route(draft, files, held)
        _keep_out(draft, files, held)
        hold(draft, files, held, settings(instrument, carrying=bool(keeps_back)))
        own_words(draft)
        return draft.finish(COMMAND, harness_session_id=known, discover=discover, inbox=inbox)


def _refuse_unguarded(draft: PlanDraft) -> None:
    words = list(draft.config.extra_args or ())
    for word in words:
        flag = word.split("=")[0]
        if flag in _UNGUARDED:
            raise Refused(
                f"your own {flag} {_UNGUARDED[flag]}",
                hint="leave it out, or launch in guest mode",
            )
    if words and words[0] in _OTHER_SESSIONS:
        raise Refused(
            f"`claude {words[0]}` leads to sessions that Barry's hooks are not in",
            hint="call it without Barry",
        )


def _keep_out(draft: PlanDraft, files: SettingsFiles, held: dict[str, str]) -> None:
    given = {**draft.config.env, **files.user_values()}
    names = [name for name in _KEPT_OUT if given.get(name)]
    if names:
        draft.warn(f"{', '.join(names)} would get into Barry's hooks, and is left out")
    held |= dict.fromkeys(_KEPT_OUT, "")


def _heed_managers(draft: PlanDraft) -> None:
    """An organisation's settings outrank every flag."""
    managed = managed_settings()
    for name in ("disableAllHooks", "allowManagedHooksOnly"):
        if managed.get(name) is True:
            draft.lower(
                f"your organization's settings for {LABEL} ({name}) leave Barry's hooks out",
                gating="static",
                delivery="none",
                identity="none",
                steer=False,
            )
            return


def _keeps_back(draft: PlanDraft) -> str | None:
    """Why Claude Code would keep other sessions' messages back from its agent, if it would."""
    users = user_settings(draft.config.env)
    for found, whose in ((managed_settings(), "your organization's"), (users, "your own")):
        inbound = found.get("crossSessionInbound")
        if inbound is not None and inbound != "accept":
            return (
                f"{whose} settings for {LABEL} (crossSessionInbound) keep other sessions' "
                "messages back"
            )
        if inbound == "accept":
            return None
    words = list(draft.config.extra_args or ())
    permissions = users.get("permissions")
    mode = (draft.config.options or {}).get("permissionMode") or (
        permissions.get("defaultMode") if isinstance(permissions, dict) else None
    )
    asked = [word.split("=")[0] for word in words]
    if mode == _BYPASS or any(word.endswith(_BYPASS) for word in words) or {*asked} & {*_BYPASSING}:
        return f"where it asks about nothing, {LABEL} keeps other sessions' messages back"
    return None
