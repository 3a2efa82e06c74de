from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.base.secrets import MASK, looks_secret, redact


@pytest.mark.parametrize(
    ("name", "secret"),
    [("TOY_API_KEY", True), ("gh_token", True), ("DB_PASSWORD", True), ("PATH", False),
     ("HOME", False), ("AWS_SECRET_ACCESS_KEY", True), ("LANG", False)],
)  # fmt: skip
def test_names(name: str, secret: bool) -> None:
    assert looks_secret(name) is secret


SECRETS = st.lists(st.text("abc-", max_size=8), max_size=4)


@given(before=st.text("abc- ", max_size=6), secrets=SECRETS, after=st.text("abc- ", max_size=6))
def test_no_secret_is_left(before: str, secrets: list[str], after: str) -> None:
    text = f"{before}{' '.join(secrets)}{after}"
    masked = redact(text, secrets)
    for secret in secrets:
        if len(secret) >= 4:
            assert secret not in masked.replace(MASK, "\0")
    if not any(len(secret) >= 4 and secret in text for secret in secrets):
        assert masked == text


def test_one_inside_another() -> None:
    assert redact("abcdefgh abcd", ["abcd", "abcdefgh"]) == f"{MASK} {MASK}"
    assert redact("abc", ["abc", ""]) == "abc"  # too short to tell from ordinary words
