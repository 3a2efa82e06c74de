"""Who is waited for, and until when."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from barry_cli.contract.turns import AutomaticReview, RequiredReview, ReviewPolicySchema

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        ({"mode": "automatic"}, AutomaticReview()),
        ({"mode": "review_required"}, RequiredReview()),
        (
            {"mode": "review_required", "expiresAt": "2026-01-31T12:00:00Z"},
            RequiredReview(expires_at=NOON),
        ),
        (
            {"mode": "review_required", "expiresAt": "2026-01-31T13:00:00.000+01:00"},
            RequiredReview(expires_at=NOON),
        ),
        ({"mode": "review_required", "expiresAt": NOON}, RequiredReview(expires_at=NOON)),
    ],
)
def test_what_a_policy_is(given: Any, policy: Any) -> None:
    assert ReviewPolicySchema.validate_python(given) == policy


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"mode": "sometimes"},
        {"mode": None},
        {"mode": "automatic", "expiresAt": "2026-01-31T12:00:00Z"},
        {"mode": "automatic", "more": 1},
        {"mode": "review_required", "more": 1},
        {"mode": "review_required", "expiresAt": "2026-01-31T12:00:00"},
        {"mode": "review_required", "expiresAt": "2026-01-31"},
        {"mode": "review_required", "expiresAt": "tomorrow"},
        {"mode": "review_required", "expiresAt": ""},
        {"mode": "review_required", "expiresAt": 1700000000},
        {"mode": "review_required", "expiresAt": 1700000000.5},
        {"mode": "review_required", "expiresAt": "1700000000"},
        {"mode": "review_required", "expiresAt": True},
        {"mode": "review_required", "expiresAt": b"1700000000"},
        {"mode": "review_required", "expiresAt": Decimal(1700000000)},
        {"mode": "review_required", "expiresAt": datetime(2026, 1, 31)},  # noqa: DTZ001 - no offset
        "automatic",
        None,
    ],
)
def test_what_is_none(given: Any) -> None:
    with pytest.raises(ValidationError):
        ReviewPolicySchema.validate_python(given)
