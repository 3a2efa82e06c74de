"""What opencode 1.18.33 is and offers; the plan and the declaration both read it from here."""

from __future__ import annotations

from barry_cli.adapters import CallKind, Guarantees, NativeControl

ID = "opencode"
LABEL = "opencode"
VERSION = "1.18.33"

NATIVE_TOOLS = (
    "bash",
    "read",
    "glob",
    "grep",
    "edit",
    "write",
    "apply_patch",
    "task",
    "webfetch",
    "websearch",
    "todowrite",
    "skill",
    "question",
)

WRITERS = ("edit", "write", "apply_patch")
"""Three tools under one permission: opencode turns them on and off together."""

NATIVE = NativeControl(
    grantable=NATIVE_TOOLS,
    inseparable=(WRITERS,),
    operator_override="a !command typed in opencode is the operator's own and is never held; "
    "neither is a conversation that was given rules of its own over opencode's API",
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
    steer=True,
)

RULED: tuple[CallKind, ...] = ("shell", "write", "read", "fetch", "mcp", "subagent")

# What asks somebody who isn't there.
_NOT_HOSTED = {"question"}

HOSTED_NATIVE = NativeControl(
    grantable=tuple(tool for tool in NATIVE_TOOLS if tool not in _NOT_HOSTED),
    inseparable=(WRITERS,),
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

AGENTS = ("build", "plan", "general", "explore")
"""opencode's own agents that may use tools. The user can define more."""
