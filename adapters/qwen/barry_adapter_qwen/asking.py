"""System settings by which Qwen Code asks about every call, and nothing acts beside it."""

from __future__ import annotations

from typing import Any

from barry_adapter_qwen.declared import HOSTED_NATIVE
from barry_adapter_qwen.routing import KEY

HELD: dict[str, Any] = {
    # A hook can allow a call by itself.
    "disableAllHooks": True,
    "memory": {"enableManagedAutoMemory": False},
    "tools": {"discoveryCommand": "", "callCommand": ""},
    "mcp": {"serverCommand": ""},
    # Else it waits a minute and more, ten times, before it says that a limit is reached.
    "model": {"generationConfig": {"maxRetries": 0}},
}

RESTRICTED: dict[str, Any] = {"security": {"folderTrust": {"enabled": True}}}
"""With a file that says so, the folder counts as one from somebody else."""


def soon(own: dict[str, Any]) -> dict[str, Any]:
    """The same for the models of an endpoint, which have settings of their own."""
    own = dict(own)
    for login, served in own.get("modelProviders", {}).items():
        settings = HELD["model"]
        models = [{**each, **settings} if each.get("envKey") == KEY else each for each in served]
        own["modelProviders"] = {**own["modelProviders"], login: models}
    return own


def asked(others: object) -> dict[str, Any]:
    """What is asked about: every tool that is left, and what an administrator has asked about.

    Of two rules about a call, one that asks outranks one that allows.
    """
    more = [each for each in others if isinstance(each, str)] if isinstance(others, list) else []
    return {"permissions": {"ask": [*HOSTED_NATIVE.grantable, *more]}}
