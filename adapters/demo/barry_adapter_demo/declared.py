"""What the demo harness is called, has and promises."""

from __future__ import annotations

from typing import Any

from barry_cli.adapters import Guarantees, NativeControl

ID = "demo"
LABEL = "Demo"
VERSION = "1.0.0"
NATIVE_TOOLS = ("shell", "read", "write", "fetch", "agent")
NATIVE = NativeControl(grantable=NATIVE_TOOLS)

GUARANTEES = Guarantees(
    capture="post-hoc",
    delivery="none",
    gating="static",
    identity="inherent",
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

HOSTED_GUARANTEES = Guarantees(
    capture="total",
    delivery="wake",
    gating="per-call",
    identity="inherent",
    interrupt=True,
    keeps_vendor_ui=False,
    steer=False,
)

OPTIONS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "style": {"enum": ["plain", "pirate"], "description": "How it answers."},
        "banner": {"type": "boolean", "description": "Whether it greets at the start."},
        "messages": {
            "enum": ["pipe", "hooks"],
            "description": "How messages get into its TUI; its hooks have them at a turn's end.",
        },
        "allow": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Tools that it runs without asking.",
        },
    },
}
