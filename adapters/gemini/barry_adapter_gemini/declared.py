"""What Gemini CLI 0.61.0 is and offers; the plan and the declaration both read it from here."""

from __future__ import annotations

from barry_cli.adapters import BarryError, Guarantees, NativeControl

ID = "gemini"
LABEL = "Gemini CLI"
COMMAND = "gemini"
VENDOR = "google"
VERSION = "0.61.0"
PACKAGE = "@google/gemini-cli"

APIS = (VENDOR, "gemini")
"""What an endpoint may call the one API that this harness speaks."""

# Every name that the build takes in a rule. It offers some of them only with certain models,
# modes or settings.
NATIVE_TOOLS = (
    "activate_skill",
    "ask_user",
    "complete_task",
    "enter_plan_mode",
    "exit_plan_mode",
    "get_internal_docs",
    "glob",
    "google_web_search",
    "grep_search",
    "invoke_agent",
    "list_background_processes",
    "list_directory",
    "list_mcp_resources",
    "read_background_output",
    "read_file",
    "read_many_files",
    "read_mcp_resource",
    "replace",
    "run_shell_command",
    "tracker_add_dependency",
    "tracker_create_task",
    "tracker_get_task",
    "tracker_list_tasks",
    "tracker_update_task",
    "tracker_visualize",
    "update_topic",
    "web_fetch",
    "write_file",
    "write_todos",
)

NATIVE = NativeControl(
    grantable=NATIVE_TOOLS,
    operator_override="a !command that the operator types in Gemini CLI is the operator's own and "
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

INSTRUMENTED_NATIVE = NativeControl(
    grantable=NATIVE_TOOLS,
    operator_override="a !command that the operator types in Gemini CLI is the operator's own and "
    "is never held, and /hooks switches hooks off",
)

INSTRUMENTED_GUARANTEES = Guarantees(
    capture="near-total",
    delivery="turn-end",
    gating="hooks",
    identity="hooks",
    interrupt=False,
    keeps_vendor_ui=True,
    steer=False,
)

# What asks somebody who isn't there, works out of sight, or now and then acts without asking.
_NOT_HOSTED = {
    "activate_skill",
    "ask_user",
    "complete_task",
    "enter_plan_mode",
    "exit_plan_mode",
    "invoke_agent",
    "list_mcp_resources",
    "read_many_files",
    "read_mcp_resource",
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

OPTIONS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "approvalMode": {
            "enum": ["default", "auto_edit", "yolo", "plan"],
            "description": "What Gemini CLI does without asking.",
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
