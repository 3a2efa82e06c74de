"""What the tests of driven sessions share."""

from __future__ import annotations

import pytest

from tests.toy import Barry


@pytest.fixture
def demo(barry: Barry) -> Barry:
    """Barry with the harness that travels with it, beside the toy that can be driven, too."""
    barry.install(modes=("guest", "hosted"))
    barry.install_shipped("demo")
    return barry
