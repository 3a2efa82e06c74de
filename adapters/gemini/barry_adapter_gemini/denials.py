"""Denied tools: rules of the highest tier, which nothing in the user's or the folder's files, and
no flag, outranks. A denied tool is not even offered to the model.
"""

from __future__ import annotations

import json
import re

from barry_adapter_gemini.declared import LABEL, NATIVE, NATIVE_TOOLS, LaunchRefused
from barry_adapter_gemini.places import machine_folder
from barry_adapter_gemini.settings import Settings, of_folder, of_machine, of_user
from barry_cli.adapters import PlanDraft

FLAG = "--admin-policy"
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]+")


def deny(draft: PlanDraft) -> None:
    """Switch the denied tools off. Raises LaunchRefused for what no rule can name."""
    denied = draft.denied(NATIVE_TOOLS, NATIVE)
    if not denied:
        return
    config = draft.config
    folder = of_folder(config.cwd, config.env)
    rule(draft, "denied.toml", rules(denied), folder)
    if reason := undone(draft, folder):
        draft.warn(f"the denied tools are not held: {reason}")
        draft.lower(reason, gating="none")


def rule(draft: PlanDraft, name: str, text: str, folder: Settings) -> None:
    """Have rules taken before all others. ``folder``: the settings of the folder that count."""
    path = str(draft.file(name, text))
    if "," in path:
        raise LaunchRefused(
            f"{LABEL} splits paths at a comma, and {path} has one",
            hint="set BARRY_HOME to a folder without a comma in its name",
        )
    # Ours stands first: of two rules that weigh the same, the first one counts.
    draft.args.append(f"{FLAG}={path}")
    _repeat(draft, folder)


def rules(denied: list[str]) -> str:
    """What denies these tools. Raises LaunchRefused for what no rule can name."""
    native = [tool for tool in denied if not tool.startswith("mcp__")]
    rules = [f"[[rule]]\ntoolName = {json.dumps(native)}"] if native else []
    for tool in denied:
        if tool in native:
            continue
        server, _, name = tool.removeprefix("mcp__").partition("__")
        if not _PLAIN.fullmatch(server) or (name and not _PLAIN.fullmatch(name)):
            raise LaunchRefused(
                f"{LABEL} can't deny {tool!r}: its rules know no such name",
                hint="write it as mcp__SERVER__TOOL, or as mcp__SERVER for all of a server's",
            )
        rules.append(f"[[rule]]\nmcpName = {json.dumps(server)}\ntoolName = {_named(name)}")
    return "\n".join(f'{rule}\ndecision = "deny"\npriority = 999\n' for rule in rules)


def _named(tool: str) -> str:
    return json.dumps(tool or "*")


def _repeat(draft: PlanDraft, folder: Settings) -> None:
    """The flag takes the place of the same setting: name those files too."""
    config = draft.config
    for settings in (of_machine(config.env), of_user(config.env), folder):
        paths = settings.at("adminPolicyPaths") if settings is not None else None
        for path in paths if isinstance(paths, list) else ():
            draft.args.append(f"{FLAG}={path}")


def undone(draft: PlanDraft, folder: Settings) -> str | None:
    """Why the rules would not be held, or None."""
    config = draft.config
    policies = machine_folder() / "policies"
    if any(policies.glob("*.toml")):
        return f"{LABEL} takes no rules beside those that are in {policies}"
    words = {word.split("=")[0] for word in config.extra_args or ()}
    contained = (
        {"-s", "--sandbox"} & words
        or draft.inherited("GEMINI_SANDBOX") not in (None, "false", "0")
        or any(
            settings.at("tools", "sandbox")
            for settings in (folder, of_user(config.env), of_machine(config.env))
            if settings is not None
        )
    )
    if contained:
        return f"in its sandbox {LABEL} may not reach the file that denies them"
    return None
