"""Variables that must reach Claude Code as the plan has them, whatever its settings files say."""

from __future__ import annotations

import json
from collections.abc import Mapping

from barry_adapter_claude.declared import LABEL
from barry_adapter_claude.routing import BASE_URL, is_secret, routes
from barry_adapter_claude.settings import SettingsFiles
from barry_cli.adapters import PlanDraft, Refused

_FLAG = "--settings"


def hold(
    draft: PlanDraft,
    files: SettingsFiles,
    held: dict[str, str],
    settings: Mapping[str, object] | None = None,
) -> None:
    """Set the variables, and repeat in inline settings what a settings file could change.

    With ``settings`` of its own a session has inline settings anyway: they then repeat everything.

    Raises Refused when the user's own ``--settings``, of which the last one counts, would
    leave requests to the files.
    """
    for name, value in held.items():
        if value and draft.config.env.get(name) != value:
            draft.env[name] = value
    threatened = files.names() & set(held)
    if any(word.split("=")[0] == _FLAG for word in draft.config.extra_args or ()):
        _give_way(draft, threatened)
        return
    # The address is repeated at all times: a settings file may change while the session runs.
    every = settings is not None
    repeated = {
        name: held[name] for name in held if every or name in threatened or name == BASE_URL
    }
    if repeated or settings:
        _repeat(draft, repeated, settings or {})


def _give_way(draft: PlanDraft, threatened: set[str]) -> None:
    names = ", ".join(sorted(threatened))
    if any(map(routes, threatened)):
        raise Refused(
            f"your own {_FLAG} would take the place of the settings that keep {names} as this "
            "launch needs them",
            hint=f"leave {_FLAG} out, or take these names out of {LABEL}'s settings files",
        )
    if names:
        draft.warn(f"with your own {_FLAG}, {LABEL}'s settings files decide about {names}")


def _repeat(draft: PlanDraft, variables: dict[str, str], settings: Mapping[str, object]) -> None:
    text = json.dumps({"env": variables, **settings})
    secrets = [value for name, value in variables.items() if is_secret(name, value)]
    if secrets:
        draft.secrets += secrets
        text = str(draft.file("settings.json", text))
    draft.args.append(f"{_FLAG}={text}")
