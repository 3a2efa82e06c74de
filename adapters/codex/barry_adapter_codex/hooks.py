"""Barry's hooks as Codex takes them: by arguments, and trusted by their hashes alone.

Codex skips a hook that nobody trusts, silently. Hashes are told by its app server, which is asked
with the same arguments that the TUI starts with, and then once more whether it trusts them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from barry_adapter_codex.server import app_server
from barry_adapter_codex.toml import Value, toml

if TYPE_CHECKING:
    from barry_cli.adapters import Instrument

Row = dict[str, Any]

RULING = "PreToolUse"
RULING_SECONDS = 120
"""How long Codex waits for a ruling before it lets the call run: far above Barry's own deadline."""

_NOTICES: Mapping[str, int] = {
    "SessionStart": 15,
    "UserPromptSubmit": 15,
    "PostToolUse": 15,
    "PermissionRequest": 15,
    "Stop": 15,
    "Interrupt": 5,
    "SessionEnd": 5,
}
"""In seconds; a notice ends by itself after five."""

_TAKE_TEXT = ("PostToolUse", "UserPromptSubmit")

_OWN_SOURCE = "sessionFlags"


@dataclass(frozen=True, slots=True)
class Trusted:
    """What came of asking Codex about its hooks."""

    state: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    """For ``hooks.state``: ours with their hashes, those of others that must not run."""
    silenced: tuple[str, ...] = ()
    """Where hooks of others come from that could change a call after it was ruled on."""
    problem: str | None = None
    """Why Barry's are not to be relied on."""


def settings(instrument: Instrument) -> dict[str, Value]:
    """The settings that name our hooks: key -> value."""
    commands = {RULING: instrument.ruling.command}
    commands |= dict.fromkeys(_NOTICES, instrument.notice.command)
    return {
        f"hooks.{event}": [{"hooks": [_handler(event, command)]}]
        for event, command in commands.items()
    }


def _handler(event: str, command: str) -> dict[str, Value]:
    row: dict[str, Value] = {
        "type": "command",
        "command": command,
        "timeout": _NOTICES.get(event, RULING_SECONDS),
    }
    # Else a longer text is put into a file, and the agent told where it is.
    return {**row, "additionalContextLimit": 0} if event in _TAKE_TEXT else row


async def trust(
    program: str,
    arguments: Sequence[str],
    instrument: Instrument,
    *,
    env: Mapping[str, str | None],
    cwd: str,
) -> Trusted:
    """Trust our hooks, and see that Codex does. ``arguments``: those of the TUI that are settings.

    Raises nothing: what can't be found out is a problem.
    """
    try:
        listed = await _listed(program, arguments, env=env, cwd=cwd)
        state, silenced = _state(listed, instrument)
        args = [*arguments, "-c", f"hooks.state={toml(state)}"]
        seen = await _listed(program, args, env=env, cwd=cwd)
    except (OSError, ValueError) as error:
        return Trusted(problem=f"Codex could not be asked about its hooks: {error}")
    return Trusted(state, silenced, _problem(seen, instrument))


async def _listed(
    program: str, arguments: Sequence[str], *, env: Mapping[str, str | None], cwd: str
) -> list[Row]:
    """Every hook that Codex knows in this folder. Raises OSError and ValueError."""
    async with app_server(program, arguments, env=env, cwd=cwd) as ask:
        answer = await ask("hooks/list", {"cwds": [cwd]})
    try:
        (entry,) = answer["result"]["data"]
        hooks = entry["hooks"]
        if not all(isinstance(hook["key"], str) and isinstance(hook, dict) for hook in hooks):
            raise TypeError
    except (KeyError, TypeError, ValueError):
        raise ValueError("it gave no list of them") from None
    return list(hooks)


def _state(
    listed: Sequence[Row], instrument: Instrument
) -> tuple[dict[str, dict[str, Value]], tuple[str, ...]]:
    """Ours on, by hash; off whatever else may rewrite a call: Codex runs what it is given last."""
    state: dict[str, dict[str, Value]] = {}
    silenced: dict[str, None] = {}
    for hook in listed:
        if _is_ours(hook, instrument):
            state[hook["key"]] = {"trusted_hash": str(hook.get("currentHash")), "enabled": True}
        elif hook.get("eventName") == _told_as(RULING):
            state[hook["key"]] = {"enabled": False}
            silenced[str(hook.get("sourcePath") or hook.get("source"))] = None
    return state, tuple(silenced)


def _problem(seen: Sequence[Row], instrument: Instrument) -> str | None:
    ours = [hook for hook in seen if _is_ours(hook, instrument)]
    for event in (RULING, *_NOTICES):
        found = [hook for hook in ours if hook.get("eventName") == _told_as(event)]
        if not any(_runs(hook) for hook in found):
            return f"Codex does not run Barry's hook for {event} here"
    for hook in seen:
        ruling = hook.get("eventName") == _told_as(RULING)
        if ruling and not _is_ours(hook, instrument) and hook.get("enabled") is not False:
            return (
                f"a hook of {hook.get('sourcePath') or hook.get('source')} stays, and could change "
                "a call after Barry has ruled on it"
            )
    return None


def _runs(hook: Row) -> bool:
    return hook.get("enabled") is True and hook.get("trustStatus") == "trusted"


def _is_ours(hook: Row, instrument: Instrument) -> bool:
    commands = (instrument.ruling.command, instrument.notice.command)
    return hook.get("source") == _OWN_SOURCE and hook.get("command") in commands


def _told_as(event: str) -> str:
    """An event's name as the app server writes it."""
    return re.sub(r"^.", lambda first: first[0].lower(), event)
