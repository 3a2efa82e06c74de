"""What pi 0.73.1 is and offers; the plan and the declaration both read it from here."""

from __future__ import annotations

from barry_cli.adapters import CallKind, Guarantees, NativeControl

ID = "pi"
LABEL = "pi"
VERSION = "0.73.1"
PACKAGE = "@mariozechner/pi-coding-agent"

NATIVE_TOOLS = ("read", "bash", "edit", "write", "grep", "find", "ls")

NATIVE = NativeControl(
    grantable=NATIVE_TOOLS,
    operator_override="--tools or --extension after --; a !command typed in pi is the operator's "
    "own and is never held",
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

RULED: tuple[CallKind, ...] = ("shell", "write", "read")
"""pi has nothing that fetches, no MCP servers and no agents that an agent starts."""

HOSTED_NATIVE = NativeControl(grantable=NATIVE_TOOLS)

HOSTED_GUARANTEES = Guarantees(
    capture="total",
    delivery="wake",
    gating="per-call",
    identity="inherent",
    interrupt=True,
    keeps_vendor_ui=False,
    steer=True,
)

THINKING = ("off", "minimal", "low", "medium", "high", "xhigh")
