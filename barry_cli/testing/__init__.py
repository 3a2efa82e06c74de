"""Suites that others run over what they wrote for Barry.

An adapter's test file, whole::

    from barry_cli.testing import AdapterSuite

    class TestMyAdapter(AdapterSuite):
        package = ".."  # the folder of the package's pyproject.toml, seen from this file

A store of turns::

    async def test_my_store() -> None:
        await check_turn_store(TurnStoreKit(open=..., new_session=..., ...))

No harness has to be installed for them, nothing is recorded, and no file of the user's is touched.
"""

from barry_cli.testing.adapter_suite import AdapterSuite, conformance_checks
from barry_cli.testing.subject import NotConforming
from barry_cli.testing.turn_store_kit import TurnStoreKit
from barry_cli.testing.turn_store_suite import check_turn_store, turn_store_checks

__all__ = [
    "AdapterSuite",
    "NotConforming",
    "TurnStoreKit",
    "check_turn_store",
    "conformance_checks",
    "turn_store_checks",
]
