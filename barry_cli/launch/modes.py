"""Which mode a launch runs in, and why."""

from __future__ import annotations

from dataclasses import dataclass

from barry_cli.base.problems import ModeNotOffered, UsageProblem
from barry_cli.contract.adapter import Adapter, LaunchMode
from barry_cli.contract.levels import ModeId

_LAUNCHED: tuple[ModeId, ...] = ("instrumented", "guest")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A launch mode, and the reason when nobody asked for it by name."""

    id: ModeId
    mode: LaunchMode
    why: str | None = None


def choose_mode(adapter: Adapter, asked: ModeId | None, *, restricted: bool) -> Chosen:
    """The mode asked for; else, under a restriction, the first that can hold it; else the default.

    Raises ModeNotOffered when the adapter has no such mode today.
    """
    if asked == "hosted":
        raise UsageProblem(
            "hosted mode has no terminal UI of its own to launch",
            hint="launch in guest or instrumented mode",
        )
    offered = [mode for mode in _LAUNCHED if adapter.modes[mode] is not None]
    if asked is not None:
        mode = _launch_mode(adapter, asked)
        if mode is None:
            raise ModeNotOffered(
                f"{adapter.label} offers no {asked} mode today",
                hint=f"it offers: {', '.join(offered) or 'no mode with a terminal UI'}",
                details={"adapterId": adapter.id, "mode": asked, "offered": offered},
            )
        return Chosen(asked, mode)
    if restricted:
        for candidate in _LAUNCHED:
            mode = _launch_mode(adapter, candidate)
            if mode is not None and mode.guarantees.gating != "none":
                return Chosen(
                    candidate, mode, f"{candidate} mode, the first that can hold a restriction"
                )
    mode = _launch_mode(adapter, adapter.default_mode)
    if mode is not None:
        return Chosen(adapter.default_mode, mode)
    for candidate in reversed(_LAUNCHED):
        mode = _launch_mode(adapter, candidate)
        if mode is not None:
            return Chosen(
                candidate, mode, f"{candidate} mode, since the default has no terminal UI"
            )
    raise ModeNotOffered(
        f"{adapter.label} offers no mode with a terminal UI today",
        hint=f"`barry adapter show {adapter.id}` shows what it offers",
        details={"adapterId": adapter.id},
    )


def _launch_mode(adapter: Adapter, mode_id: ModeId) -> LaunchMode | None:
    mode = adapter.modes[mode_id]
    return mode if isinstance(mode, LaunchMode) else None
