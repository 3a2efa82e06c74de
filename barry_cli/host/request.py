"""What a headless turn is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

from barry_cli.contract.data import JsonSchema
from barry_cli.groundwork.request import LaunchRequest


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """One turn as the user wrote it; nothing in it has been checked yet."""

    start: LaunchRequest
    """Harness, folder, model, bounds and the rest, as for a launch."""
    prompt: str = field(repr=False)
    fork: bool = False
    """Go on with a copy of the conversation that ``start.resume`` names."""
    schema: JsonSchema | None = None
    """What the final answer must fit."""
    max_turns: int | None = None
    timeout_seconds: float | None = None
    fallback: tuple[str, ...] = ()
    """Adapters to try in turn when the one before is out of quota or out of order."""
