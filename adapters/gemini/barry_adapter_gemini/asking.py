"""Rules of the highest tier by which Gemini CLI asks about every call."""

from __future__ import annotations

import json

_ALL = 'toolName = "*"'
# A rule with a pattern of its own is taken as it is; without one, commands that count as harmless
# are not asked about.
_SHELL = 'toolName = "run_shell_command"\nargsPattern = "command"'


def rules(denied: str) -> str:
    """The rules, after those that deny: of two that weigh the same, the first one counts."""
    asking = (
        f"[[rule]]\n{about}\ndecision = {json.dumps('ask_user')}\npriority = 999\n"
        for about in (_SHELL, _ALL)
    )
    return "\n".join([*([denied] if denied else []), *asking])
