"""What a start promises, what was required of it, and what the user is told of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from barry_cli.base.problems import GuaranteeNotMet, UsageProblem
from barry_cli.base.secrets import looks_secret
from barry_cli.contract.guarantees import Guarantees, satisfies

if TYPE_CHECKING:
    from barry_cli.contract.adapter import Adapter, Mode
    from barry_cli.contract.session import SessionConfig
    from barry_cli.groundwork.request import LaunchRequest


def refuse_less(
    request: LaunchRequest, have: Guarantees, because: Mapping[str, str], unverified: bool
) -> None:
    """Refuse what was required and isn't there; an unverified promise counts as none.

    ``because``: why a guarantee is lower than its mode's. Raises GuaranteeNotMet and UsageProblem.
    """
    if not request.require:
        return
    try:
        missing = satisfies(have, request.require)
    except ValueError as error:
        raise UsageProblem(f"--require: {error}", hint="write --require gating=static") from error
    for name, got in missing.items():
        reason = because.get(name)
        raise GuaranteeNotMet(
            f"this launch has {name} {got}, and {request.require[name]} is required"
            + (f": {reason}" if reason else ""),
            hint="another mode or harness may have it; `barry adapter show` compares them",
            details={"guarantee": name, "required": request.require[name], "has": got},
        )
    if unverified and not request.allow_unverified_build:
        raise GuaranteeNotMet(
            "a guarantee is required, and on this build or platform none was shown to hold",
            hint="install the verified build, or pass --allow-unverified-build to take it as it is",
            details={"required": dict(request.require)},
        )


def lowered_as_text(guarantees: Guarantees, lowered: Mapping[str, str]) -> list[str]:
    """A sentence for each guarantee that is lower here than in its mode."""
    return [
        f"{name} is only {getattr(guarantees, name)} in this launch: {because}"
        for name, because in lowered.items()
    ]


def meant(asked: str, adapter: Adapter) -> str | None:
    """Which adapter the beginning of an id was taken for."""
    if asked in (adapter.id, *adapter.aliases):
        return None
    return f"{asked} was taken for {adapter.id}"


def together(config: SessionConfig, denied: tuple[str, ...], mode: Mode) -> str | None:
    """What goes off beside what was denied, because the harness keeps it in one group with that."""
    grouped = {
        tool for group in (mode.native.inseparable if mode.native else None) or () for tool in group
    }
    off = [tool for tool in config.denied_tools or () if tool in grouped and tool not in denied]
    if not (denied and off):
        return None
    return f"{', '.join(off)} can only be switched off together with what is denied: off, too"


def hidden_values(env: Mapping[str, str], more: Iterable[str] = ()) -> list[str]:
    """The values that no text of ours may show."""
    return [*more, *(value for name, value in env.items() if looks_secret(name))]
