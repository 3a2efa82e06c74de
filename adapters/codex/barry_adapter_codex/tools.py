"""Codex's own tools, the switch that takes each away, and what has no switch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from barry_cli.adapters import Guarantees, NativeControl

TUI_SERVER = "codex_tui"
"""The MCP server that the TUI itself brings: its tools start and read other conversations."""


@dataclass(frozen=True, slots=True)
class Switch:
    """Tools that go together, and the arguments after which Codex no longer offers them."""

    tools: tuple[str, ...]
    args: tuple[str, ...] = ()
    server: str | None = None
    """The MCP server whose end it is, where no argument of its own is needed."""


SWITCHES = (
    Switch(("exec_command", "write_stdin"), ("--disable", "shell_tool")),
    Switch(("view_image",), ("--disable", "view_image")),
    Switch(("web_search",), ("-c", 'web_search="disabled"')),
    Switch(("get_goal", "create_goal", "update_goal"), ("--disable", "goals")),
    Switch(
        ("request_user_input", "request_user_input_async"),
        ("-c", "tools.experimental_request_user_input.enabled=false"),
    ),
    Switch(("sleep",), ("--disable", "sleep_tool")),
    # `--disable multi_agent` is not enough: models of the gpt-6 line keep their agents.
    Switch(
        (
            "spawn_agent",
            "wait_agent",
            "send_input",
            "resume_agent",
            "close_agent",
            "send_message",
            "followup_task",
            "list_agents",
            "interrupt_agent",
        ),
        ("-c", "agents.enabled=false"),
    ),
    Switch(
        tuple(
            f"mcp__{TUI_SERVER}__{name}"
            for name in (
                "create_thread",
                "create_worktree",
                "fork_thread",
                "get_worktree_creation_status",
                "list_archived_threads",
                "list_threads",
                "list_worktrees",
                "read_thread",
                "send_message_to_thread",
                "set_thread_archived",
                "set_thread_title",
                "wait_threads",
            )
        ),
        server=TUI_SERVER,
    ),
)

_SCRIPT = "it only runs scripts that call the other tools, and goes without what they lose"
_RESOURCES = "it comes with any MCP server and goes when none is left"

UNCONTROLLED = {
    "apply_patch": "its model brings it along and no setting takes it away; the options "
    "sandbox=read-only and approvalPolicy=never make every patch fail",
    "exec": _SCRIPT,
    "wait": _SCRIPT,
    "curr_time": "it only tells the time",
    "tool_search": "it only finds the other tools",
    "send_message_to_user_async": "it only shows text to the user",
    "list_mcp_resources": _RESOURCES,
    "list_mcp_resource_templates": _RESOURCES,
    "read_mcp_resource": _RESOURCES,
}
"""Tools that no setting takes away, and why. What was tried is in the README."""

NATIVE_TOOLS = (*(tool for switch in SWITCHES for tool in switch.tools), *UNCONTROLLED)

NATIVE = NativeControl(
    grantable=NATIVE_TOOLS,
    inseparable=tuple(switch.tools for switch in SWITCHES if len(switch.tools) > 1),
    uncontrolled=UNCONTROLLED,
    operator_override="arguments after -- come last, so --search or another -c there wins over a "
    "denial",
)

GUARANTEES = Guarantees(
    capture="post-hoc",
    delivery="none",
    gating="static",
    identity="none",
    interrupt=False,
    keeps_vendor_ui=True,
    steer=False,
)
"""Identity is none although commands see CODEX_THREAD_ID: other tools' calls carry nothing."""


RESOURCES = frozenset({"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"})
"""They read what an MCP server of the session offers, and nobody is asked about that."""

# Nobody is asked about what these do, so they are taken back where Barry rules on every call.
_UNASKED = frozenset(
    tool for switch in SWITCHES if "exec_command" not in switch.tools for tool in switch.tools
)

HOSTED_NATIVE = NativeControl(
    grantable=tuple(tool for tool in NATIVE_TOOLS if tool not in _UNASKED),
    inseparable=(("exec_command", "write_stdin"),),
    uncontrolled={tool: why for tool, why in UNCONTROLLED.items() if tool != "apply_patch"},
)

HOSTED_GUARANTEES = Guarantees(
    capture="total",
    delivery="wake",
    gating="per-call",
    identity="inherent",
    interrupt=True,
    keeps_vendor_ui=False,
    steer=True,
)

HOSTED_OFF = (
    # A hook can answer in Barry's place.
    "hooks",
    # A terminal takes keys, and nobody is asked about those.
    "unified_exec_tty",
    # What is asked about is a patch as a whole, not its beginning.
    "apply_patch_streaming_events",
    # Tools that a login, a plugin, a skill or the user's own settings would bring along.
    "agent_message_board",
    "apps",
    "artifact",
    "browser_use",
    "computer_use",
    "image_generation",
    "memories",
    "multi_agent",
    "plugins",
    "request_permissions_tool",
    "skill_mcp_dependency_install",
    "standalone_web_search",
    "tool_suggest",
    # A refused connection would be tried again for ever.
    "unbounded_connection_retries",
)
"""Features that are off wherever Barry rules on every call."""


INSTRUMENTED_NATIVE = NativeControl(
    # In conversations that these begin nobody was shown to rule.
    grantable=tuple(tool for tool in NATIVE_TOOLS if not tool.startswith(f"mcp__{TUI_SERVER}__")),
    inseparable=NATIVE.inseparable,
    # Every other call is refused by its name where it is denied.
    uncontrolled={tool: UNCONTROLLED[tool] for tool in ("exec", "wait")},
    operator_override=NATIVE.operator_override,
)

INSTRUMENTED_GUARANTEES = Guarantees(
    capture="near-total",
    delivery="wake",
    gating="hooks",
    identity="hooks",
    interrupt=False,
    keeps_vendor_ui=True,
    steer=False,
)
"""Near-total: what Codex asks a model for beside the conversation, a title, is in no record."""

INSTRUMENTED_OFF = tuple(
    feature
    for feature in HOSTED_OFF
    # Of agents that an agent starts, too, each call is ruled on.
    if feature not in ("hooks", "multi_agent", "unbounded_connection_retries")
)
"""Features that are off wherever a hook rules: what they bring was not shown to be ruled on."""


def switches(denied: Iterable[str]) -> tuple[Switch, ...]:
    """The switches that take these tools away, each once."""
    names = {tool.casefold() for tool in denied}
    return tuple(
        switch for switch in SWITCHES if any(tool.casefold() in names for tool in switch.tools)
    )
