"""What a mode, a launch or a session promises (seed 000)."""

from __future__ import annotations

from collections.abc import Mapping

from barry_cli.contract.data import Data
from barry_cli.contract.levels import (
    ORDER,
    CaptureLevel,
    DeliveryLevel,
    GatingLevel,
    IdentityLevel,
    stronger,
)


class Guarantees(Data):
    """What was shown to hold; never what a vendor advertises."""

    capture: CaptureLevel
    delivery: DeliveryLevel
    gating: GatingLevel
    identity: IdentityLevel
    interrupt: bool
    keeps_vendor_ui: bool
    """Whether the human keeps the harness's own TUI."""
    steer: bool
    """A message folded into the running turn, not queued behind it."""


def raised(over: Guarantees, by: Guarantees) -> list[str]:
    """The fields in which ``by`` promises more than ``over``."""
    found = [kind for kind in ORDER if stronger(kind, getattr(by, kind), getattr(over, kind))]
    found += [flag for flag in ("interrupt", "steer") if getattr(by, flag) > getattr(over, flag)]
    return found


def changed(before: Guarantees, after: Guarantees) -> list[str]:
    """The fields in which two promises differ."""
    return [
        name for name in type(before).model_fields if getattr(before, name) != getattr(after, name)
    ]


def lowered(guarantees: Guarantees, **levels: object) -> Guarantees:
    """The same promise with some of it taken back. Raises ValueError when that would raise one."""
    after = Guarantees.model_validate({**guarantees.model_dump(), **levels})
    if more := raised(guarantees, after):
        raise ValueError(f"a plan may only lower a guarantee, and this raises {', '.join(more)}")
    return after


def satisfies(guarantees: Guarantees, required: Mapping[str, str]) -> dict[str, str]:
    """The requirements that a promise does not meet: name -> what it has instead.

    ``required`` maps a field (camelCase or snake_case) to the least level, or to true/false.
    Raises ValueError for a field or level that doesn't exist.
    """
    missing: dict[str, str] = {}
    for name, least in required.items():
        field = name.replace("keepsVendorUi", "keeps_vendor_ui")
        if field in ORDER:
            if least not in ORDER[field]:
                raise ValueError(
                    f"{name} has no level {least}; its levels: {', '.join(ORDER[field])}"
                )
            if stronger(field, least, getattr(guarantees, field)):
                missing[name] = getattr(guarantees, field)
        elif field in ("interrupt", "steer", "keeps_vendor_ui"):
            if least not in ("true", "false"):
                raise ValueError(f"{name} is true or false, not {least}")
            if least == "true" and not getattr(guarantees, field):
                missing[name] = "false"
        else:
            names = [*ORDER, "interrupt", "steer", "keepsVendorUi"]
            raise ValueError(f"there is no guarantee {name}; the guarantees: {', '.join(names)}")
    return missing
