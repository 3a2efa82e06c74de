"""Variables that must reach Claude Code as the plan has them, whatever its settings files say."""

from __future__ import annotations

import json

from barry_cli.adapters import PlanDraft

from barry_adapter_claude.declared import LABEL, LaunchRefused
from barry_adapter_claude.routing import BASE_URL, is_secret
from barry_adapter_claude.settings import of_folder, of_user

_FLAG = "--settings"


def hold(draft: PlanDraft, held: dict[str, str]) -> None:
    """Set the variables, and repeat in inline settings what a settings file could change.

    Raises LaunchRefused when the user's own ``--settings`` would take the place of ours.
    """
    config = draft.config
    for name, value in held.items():
        if value and config.env.get(name) != value:
            draft.env[name] = value
    named = {
        name
        for found in (*of_user(config.env), *of_folder(config.cwd, config.env))
        for name in found.env
    }
    threatened = {name: value for name, value in held.items() if name in named}
    # The address is repeated at all times: a settings file may change while the session runs.
    repeated = {**{BASE_URL: held[BASE_URL]}, **threatened} if BASE_URL in held else threatened
    if any(word.split("=")[0] == _FLAG for word in config.extra_args or ()):
        if threatened:
            raise LaunchRefused(
                f"your own {_FLAG} would take the place of the settings that keep "
                f"{', '.join(sorted(threatened))} as this launch needs",
                hint=f"leave {_FLAG} out, or take these names out of {LABEL}'s settings files",
            )
    elif repeated:
        _repeat(draft, repeated)


def _repeat(draft: PlanDraft, variables: dict[str, str]) -> None:
    text = json.dumps({"env": variables})
    secrets = [value for name, value in variables.items() if is_secret(name, value)]
    if secrets:
        draft.secrets += secrets
        text = str(draft.file("settings.json", text))
    draft.args.append(f"{_FLAG}={text}")
