"""What every store of turns has to keep to, as checks over nothing but its public methods.

A store's test, whole::

    from barry_cli.testing import TurnStoreKit, check_turn_store

    async def test_my_store() -> None:
        await check_turn_store(TurnStoreKit(open=..., new_session=..., ...))
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from barry_cli.testing import turn_store_approvals as approvals
from barry_cli.testing import turn_store_checks as checks
from barry_cli.testing.subject import NotConforming
from barry_cli.testing.turn_store_kit import Case, TurnStoreKit

Check = Callable[[Case], Awaitable[None]]

_CHECKS: tuple[Check, ...] = (
    checks.a_request_is_admitted_once,
    checks.turns_come_one_at_a_time,
    checks.what_is_unknown_is_refused,
    checks.a_turn_is_claimed_once,
    checks.a_turn_at_rest_is_taken_up,
    checks.a_gone_owners_turn_is_not_stolen,
    checks.writes_are_fenced,
    checks.revisions_grow,
    checks.events_are_numbered,
    checks.nothing_follows_the_end,
    checks.a_cancelled_turn_stays_cancelled,
    checks.only_a_gone_owner_is_lost,
    checks.values_come_back_as_they_were,
    checks.what_is_private_is_kept_apart,
    checks.the_record_outlives_its_objects,
    approvals.a_paused_turn_waits,
    approvals.a_turn_goes_on_when_all_is_decided,
    approvals.a_decision_is_made_once,
    approvals.of_two_decisions_one_holds,
    approvals.an_expired_call_is_denied,
    approvals.a_cancelled_turn_asks_no_more,
    approvals.a_kept_answer_decides,
    approvals.an_effect_happens_once,
    approvals.an_effect_is_not_begun_twice,
    approvals.an_effect_that_fails_has_failed,
    approvals.an_interrupted_effect_is_uncertain,
    approvals.a_denied_call_does_not_run,
)


def turn_store_checks(kit: TurnStoreKit) -> dict[str, Callable[[], Awaitable[None]]]:
    """Name -> what raises NotConforming. Each check has a session of its own."""
    return {check.__name__: _bound(check, kit) for check in _CHECKS}


async def check_turn_store(kit: TurnStoreKit) -> None:
    """Run every check. Raises NotConforming with all that failed, one a line."""
    failed = []
    for name, check in turn_store_checks(kit).items():
        try:
            await check()
        except NotConforming as problem:
            failed.append(f"{name}: {problem}")
    if failed:
        raise NotConforming("\n".join([f"{len(failed)} of {len(_CHECKS)} checks fail:", *failed]))


def _bound(check: Check, kit: TurnStoreKit) -> Callable[[], Awaitable[None]]:
    async def run() -> None:
        case = Case(kit, await kit.new_session(), await kit.open())
        case.opened.append(case.store)
        try:
            await check(case)
        except NotConforming:
            raise
        except Exception as error:
            raise NotConforming(f"it raises {type(error).__name__}: {error}") from error
        finally:
            for store in case.opened:
                await kit.close(store)

    return run
