"""An adapter's plan of a launch: made, and held to what its mode promises."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from barry_cli.base.problems import BarryError, Refused
from barry_cli.base.secrets import redact
from barry_cli.contract.adapter import Adapter, LaunchMode
from barry_cli.contract.draft import made
from barry_cli.contract.guarantees import changed, lowered, raised
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import SessionConfig
from barry_cli.groundwork.asked import unfit
from barry_cli.groundwork.surroundings import as_found

if TYPE_CHECKING:
    from barry_cli.launch.instruments import Instruments


def discard(plan: LaunchPlan) -> None:
    """Remove the folders that a plan made, spawned or not."""
    _remove(plan.tmp_dirs)


def _remove(folders: Iterable[str]) -> None:
    for folder in folders:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


async def make_plan(adapter: Adapter, mode: LaunchMode, config: SessionConfig) -> LaunchPlan:
    """The adapter's plan, held to its mode's promise.

    Raises Refused when the adapter fails or promises more than its mode; then the folders that
    the plan made are gone.
    """
    before = len(made)
    try:
        with as_found():
            plan = await mode.plan(config)
    except BaseException as error:
        _remove(str(folder) for folder in made[before:])
        if isinstance(error, BarryError) or not isinstance(error, Exception | SystemExit):
            raise
        raise Refused(
            f"the adapter {adapter.id} failed while planning: {type(error).__name__}: {error}",
            hint="this is a fault of the adapter; `barry adapter check` on its folder may name it",
            details={"adapterId": adapter.id},
        ) from error
    problem = _plan_problem(mode, plan, config)
    if problem:
        if isinstance(plan, LaunchPlan):
            discard(plan)
        _remove(str(folder) for folder in made[before:])
        raise Refused(
            f"the plan of adapter {adapter.id} is refused: {problem}",
            hint="this is a fault of the adapter; an update may mend it",
            details={"adapterId": adapter.id},
        )
    return plan


def _plan_problem(mode: LaunchMode, plan: object, config: SessionConfig) -> str | None:
    if not isinstance(plan, LaunchPlan):
        return f"it is a {type(plan).__name__}, not a LaunchPlan"
    if more := raised(mode.guarantees, plan.guarantees):
        return f"it promises more than its mode in {', '.join(more)}"
    if silent := [
        name for name in changed(mode.guarantees, plan.guarantees) if name not in plan.lowered
    ]:
        return f"it lowers {', '.join(silent)} without a reason"
    if plan.guarantees.delivery not in ("none", "on-resume") and plan.inbox is None:
        return f"it promises delivery {plan.guarantees.delivery} and has no inbox"
    return _unfit_to_start(plan, config)


def _unfit_to_start(plan: LaunchPlan, config: SessionConfig) -> str | None:
    values = [value for value in plan.env.values() if value is not None]
    key = config.instrument.key if config.instrument is not None else ""
    # What the user gave was looked at before, so this is of the adapter's own making.
    for text in (plan.command, *plan.args, *plan.env, *values):
        if problem := unfit(text, bytes_pass=True):
            return f"an argument or a variable {problem}"
    for kept in (plan.cwd, plan.harness_session_id):  # in the record of the session
        if kept is not None and (problem := unfit(kept)):
            return f"its folder or the conversation's id {problem}"
    if any(not name or "=" in name for name in plan.env):
        return "the name of a variable is empty or holds '='"
    if plan.cwd is not None and not os.path.isdir(plan.cwd):
        return f"it would start in {plan.cwd}, which is no folder"
    typed = set(config.extra_args or ())  # what the user types is the user's to show
    ours = [word for word in plan.args if word not in typed]
    if any(redact(word, (*plan.secrets, key)) != word for word in ours):
        return "an argument holds a secret, which everybody on this machine could read"
    if key and any(key in value for value in values):
        return "a variable holds the session's key, which every command of the agent could read"
    return None


def check_denials(adapter: Adapter, denied: tuple[str, ...], plan: LaunchPlan) -> None:
    """A launch that was asked to deny tools and can't says so in its promise."""
    if denied and adapter.capabilities.tool_denial == "none" and plan.guarantees.gating != "none":
        raise Refused(
            f"the plan of adapter {adapter.id} promises to deny tools that its harness can't deny",
            hint="this is a fault of the adapter; an update may mend it",
        )


def refuse_unruled(adapter: Adapter, mode: LaunchMode, plan: LaunchPlan) -> None:
    """What a bound takes back was decided by what the mode rules on: a plan that can't arrange that
    holds no bound.
    """
    if mode.guarantees.gating == "hooks" and plan.guarantees.gating != "hooks":
        raise Refused(
            f"the bound can't be held: {plan.lowered['gating']}",
            hint="take that away, or see by `--mode guest --dry-run` what else would hold",
            details={"adapterId": adapter.id},
        )


def tried(
    plan: LaunchPlan, adapter: Adapter, instruments: Instruments, cwd: str, *, restricted: bool
) -> LaunchPlan:
    """The plan with no more gating than its hooks were just seen to have.

    Raises Refused where a bound depends on them, or where nothing could rule at all.
    """
    if plan.guarantees.gating != "hooks":
        return plan
    if instruments.installed is None and not plan.reports_loaded:
        raise Refused(
            f"the plan of adapter {adapter.id} promises to rule on calls, and neither a hook nor a "
            "plugin of it does",
            hint="this is a fault of the adapter; an update may mend it",
        )
    because = instruments.unsound(cwd)
    if because is None:
        return plan
    if restricted:
        raise Refused(
            f"the bound can't be held: {because}",
            hint="`barry doctor` looks closer; guest mode switches off what could break the bound",
            details={"adapterId": adapter.id},
        )
    return replace(
        plan,
        guarantees=lowered(plan.guarantees, gating="static"),
        lowered={**plan.lowered, "gating": because},
    )
