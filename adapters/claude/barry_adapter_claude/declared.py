"""What Claude Code 2.1.332 is and offers; the plan and the declaration both read it from here."""

from __future__ import annotations

from barry_cli.adapters import CallKind, Guarantees, NativeControl

ID = "claude"
LABEL = "Claude Code"
COMMAND = "claude"
VENDOR = "anthropic"
VERSION = "2.1.332"
PACKAGE = "@anthropic-ai/claude-code"

# Every name that the build takes in a rule. Many of them it offers only where a feature is on,
# a server is connected or another tool is off (Glob and Grep without Bash).
NATIVE_TOOLS = (
    "Agent",
    "Artifact",
    "AskUserQuestion",
    "Bash",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EndConversation",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "LSP",
    "ListAgents",
    "ListMcpResourcesTool",
    "Monitor",
    "NotebookEdit",
    "OfferChromeSetup",
    "PowerShell",
    "Projects",
    "PushNotification",
    "Read",
    "ReadMcpResourceDirTool",
    "ReadMcpResourceTool",
    "ReadNotifications",
    "RemoteTrigger",
    "ReportFindings",
    "ScheduleWakeup",
    "SendFeedback",
    "SendMessage",
    "SendUserFile",
    "SendUserMessage",
    "SetGoal",
    "ShareOnboardingGuide",
    "ShowOnboardingRolePicker",
    "Skill",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "WaitForMcpServers",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
    "propose_skills",
)

PLACEHOLDER = "DeferredToolPlaceholder"
"""Stands in the list of offered tools while some are loaded on demand; it can't be called."""

NATIVE = NativeControl(
    grantable=NATIVE_TOOLS,
    operator_override="a !command that the operator types in Claude Code is the operator's own "
    "and is never held",
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
    operator_override="what the operator types as a !command, or sends to the background or to "
    "another of Claude Code's sessions, is the operator's own and is never held",
)

INSTRUMENTED_GUARANTEES = Guarantees(
    capture="near-total",
    delivery="wake-peer-framed",
    gating="hooks",
    identity="hooks",
    interrupt=False,
    keeps_vendor_ui=True,
    steer=True,
)

RULED: tuple[CallKind, ...] = ("shell", "write", "read", "fetch", "mcp", "subagent")
"""The kinds of call that the hooks were shown to be asked about."""

# What begins something that outlives its turn, or asks somebody who isn't there.
_NOT_HOSTED = {
    "AskUserQuestion",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Monitor",
    "RemoteTrigger",
    "ScheduleWakeup",
    "Workflow",
}

HOSTED_NATIVE = NativeControl(
    grantable=tuple(tool for tool in NATIVE_TOOLS if tool not in _NOT_HOSTED)
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

PERMISSION_MODES = ("acceptEdits", "auto", "bypassPermissions", "dontAsk", "manual", "plan")
EFFORTS = ("low", "medium", "high", "xhigh", "max")

# Option -> the flag that carries it.
OPTION_FLAGS = {
    "agent": "--agent",
    "effort": "--effort",
    "fallbackModel": "--fallback-model",
    "name": "--name",
    "permissionMode": "--permission-mode",
}

_TEXT = {"type": "string", "minLength": 1}

OPTIONS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "agent": {**_TEXT, "description": "The agent that leads the session."},
        "effort": {"enum": list(EFFORTS), "description": "How much thought goes into an answer."},
        "fallbackModel": {**_TEXT, "description": "Models to use while the model is overloaded."},
        "name": {**_TEXT, "description": "The session's name, as Claude Code shows it."},
        "permissionMode": {
            "enum": list(PERMISSION_MODES),
            "description": "When Claude Code asks before it acts; its own default is auto.",
        },
    },
}
