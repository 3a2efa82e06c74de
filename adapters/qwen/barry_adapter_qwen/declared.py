"""What Qwen Code 0.15.10 is and offers; the plan and the declaration both read it from here."""

from __future__ import annotations

from barry_cli.adapters import BarryError, Guarantees, NativeControl

ID = "qwen"
LABEL = "Qwen Code"
COMMAND = "qwen"
VERSION = "0.15.10"
PACKAGE = "@qwen-code/qwen-code"

# Every name that the build takes in a rule. It offers some of them only in certain modes, or
# where a setting turns them on.
NATIVE_TOOLS = (
    "agent",
    "ask_user_question",
    "cron_create",
    "cron_delete",
    "cron_list",
    "edit",
    "exit_plan_mode",
    "glob",
    "grep_search",
    "list_directory",
    "lsp",
    "monitor",
    "read_file",
    "run_shell_command",
    "save_memory",
    "send_message",
    "skill",
    "structured_output",
    "task_stop",
    "todo_write",
    "tool_search",
    "web_fetch",
    "write_file",
)

NATIVE = NativeControl(
    grantable=NATIVE_TOOLS,
    operator_override="a !command that the operator types in Qwen Code is the operator's own and "
    "is never held",
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

INSTRUMENTED_GUARANTEES = Guarantees(
    capture="near-total",
    delivery="wake",
    gating="hooks",
    identity="hooks",
    interrupt=False,
    keeps_vendor_ui=True,
    steer=False,
)

# What asks somebody who isn't there, works out of sight or after its turn, or what can't be told
# from another tool by how Qwen Code asks about it.
_NOT_HOSTED = {
    "agent",
    "ask_user_question",
    "cron_create",
    "cron_delete",
    "cron_list",
    "exit_plan_mode",
    "glob",
    "lsp",
    "monitor",
    "save_memory",
    "send_message",
    "skill",
    "structured_output",
    "task_stop",
    "tool_search",
}

HOSTED_NATIVE = NativeControl(
    grantable=tuple(tool for tool in NATIVE_TOOLS if tool not in _NOT_HOSTED)
)

HOSTED_GUARANTEES = Guarantees(
    capture="near-total",
    delivery="turn-end",
    gating="per-call",
    identity="inherent",
    interrupt=True,
    keeps_vendor_ui=False,
    steer=False,
)

LOGINS = ("openai", "anthropic", "gemini", "vertex-ai", "qwen-oauth")
"""The kinds of login, each of which speaks an API of its own."""

APIS = {
    "openai": "openai",
    "openai-chat": "openai",
    "anthropic": "anthropic",
    "google": "gemini",
    "gemini": "gemini",
}
"""What an endpoint may call its API -> the login that speaks it."""

VENDORS = {"openai": "openai", "anthropic": "anthropic", "google": "gemini"}
"""Vendor of a model -> its login. For any other vendor the user's own settings decide."""

OPTIONS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "approvalMode": {
            "enum": ["default", "auto-edit", "yolo", "plan"],
            "description": "What Qwen Code does without asking.",
        },
        "extensions": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[^,]+$"},
            "description": "The installed extensions to load; an empty list loads none.",
        },
    },
}


class LaunchRefused(BarryError):
    """A launch that must not go on as asked."""

    code = "refused"
    exit_code = 2
