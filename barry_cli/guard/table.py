"""Barry's guarded tools by name: how the one ruling reads a call of each, and where one comes in.

They take the place of native tools that a launch takes back, because nobody rules on their calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from barry_cli.policy.ruling.actions import expand_actions
from barry_cli.policy.ruling.tool_names import files_rule
from barry_cli.policy.schema import AgentTrait, Bound, NativeCategory
from barry_cli.policy.tools import ToolMeta, denied_tool
from barry_cli.policy.traits import resolve_traits, tool_grant

NAMESPACE = "barry"
"""Whose tools they are in a rule and in a trait, and what their server is called."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """One tool. ``kind`` and ``field`` are its row in the policy's tool table."""

    name: str
    kind: Literal["shell", "read", "write", "url"]
    field: str
    category: NativeCategory
    """The native tools that it stands in for."""

    @property
    def meta(self) -> ToolMeta:
        """What a trait grants it as."""
        reads = self.kind in ("read", "url")
        access: Literal["read", "write"] = "read" if reads else "write"
        return ToolMeta(namespace=NAMESPACE, tool_name=self.name, access=access)


TOOLS: dict[str, Guarded] = {
    tool.name: tool
    for tool in (
        Guarded("shell", "shell", "command", "shell"),
        Guarded("read_file", "read", "path", "file-reads"),
        Guarded("write_file", "write", "path", "file-writes"),
        Guarded("edit_file", "write", "path", "file-writes"),
        Guarded("fetch", "url", "url", "network"),
    )
}


RULES = (NAMESPACE, *(f"{NAMESPACE}:{name}" for name in TOOLS))
"""By these a rule names guarded tools, and no other tool."""


def offered(
    bound: Bound | None, categories: Iterable[NativeCategory], traits: Sequence[AgentTrait] = ()
) -> tuple[str, ...]:
    """The tools of a session: those that stand in for these categories, or, where traits say what
    alone is granted, those that they grant. Not one of which the bound denies every call.
    """
    wanted = set(categories)
    found = []
    for tool in TOOLS.values():
        comes_in = _granted(tool, traits) if traits else tool.category in wanted
        if comes_in and not _always_denied(tool, bound):
            found.append(tool.name)
    return tuple(found)


def _granted(tool: Guarded, traits: Sequence[AgentTrait]) -> bool:
    # They are all that was included, too; two bags may give theirs the same name.
    numbered = {
        str(number): trait.model_copy(update={"includes": None, "harness_traits": None})
        for number, trait in enumerate(traits)
    }
    access = tool_grant(resolve_traits(list(numbered), numbered), NAMESPACE, tool.name)
    return access == "readwrite" or (access == "read" and tool.meta.access == "read")


def _always_denied(tool: Guarded, bound: Bound | None) -> bool:
    if bound is None:
        return False
    if tool.kind == "write" and files_rule(bound.denied_access or ()):
        return True
    actions = bound.network.actions if bound.network else None
    if tool.kind == "url" and actions and "http:read" in expand_actions(list(actions)):
        return True
    # "fetch" is also the name of a tool of git's: of ours only its own actions count.
    by_name = bound.model_copy(update={"network": None})
    return denied_tool(by_name, NAMESPACE, tool.name, tool.meta.access) is not None
