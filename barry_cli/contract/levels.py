"""The words of a guarantee and their order, weak to strong (seed 000)."""

from __future__ import annotations

from typing import Literal, get_args

ModeId = Literal["guest", "instrumented", "hosted"]
"""Who drives: a person (guest, instrumented) or Barry (hosted)."""

Platform = Literal["linux", "darwin", "win32"]

CaptureLevel = Literal["none", "post-hoc", "near-total", "total"]
"""How much of what happened Barry gets to see."""

DeliveryLevel = Literal["none", "on-resume", "turn-end", "tool-call", "wake-peer-framed", "wake"]
"""What a sender can be promised of a message."""

GatingLevel = Literal["none", "static", "hooks", "per-call"]
"""``per-call``: the harness asks and Barry answers; ``static``: a denylist fixed at launch;
``hooks``: a vendor hook that can veto; ``none``: a native call can't be stopped once started."""

IdentityLevel = Literal["none", "hooks", "mcp-url", "inherent"]
"""How a call is known to belong to this session."""

ApprovalContinuation = Literal["durable", "live", "unsupported"]

MODE_IDS: tuple[ModeId, ...] = get_args(ModeId)
PLATFORMS: tuple[Platform, ...] = get_args(Platform)

# The Literals above are written weak to strong: their order is the order of strength.
ORDER: dict[str, tuple[str, ...]] = {
    "capture": get_args(CaptureLevel),
    "delivery": get_args(DeliveryLevel),
    "gating": get_args(GatingLevel),
    "identity": get_args(IdentityLevel),
}


def stronger(kind: str, left: str, right: str) -> bool:
    """Whether ``left`` promises more than ``right``; kind is a key of ORDER."""
    order = ORDER[kind]
    return order.index(left) > order.index(right)
