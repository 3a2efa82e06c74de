"""What this machine has shown is remembered for that very code, build and mode."""

from __future__ import annotations

import json

import pytest

from barry_cli.base.paths import folders
from barry_cli.base.problems import StoreProblem
from barry_cli.registry.verified import forget_verified, record_verified, was_verified

AT = "2026-11-30T12:00:00.000Z"


def known(build: str = "1.1", mode: str = "guest", hash: str = "h") -> bool:
    return was_verified(folders(), "toy", mode, build, content_hash=hash)  # type: ignore[arg-type]


def record(build: str = "1.1", mode: str = "guest", hash: str = "h") -> None:
    record_verified(folders(), "toy", mode, build, content_hash=hash, at=AT)  # type: ignore[arg-type]


def test_only_what_was_shown_counts() -> None:
    assert not known()
    record()
    assert known()
    assert not known(build="1.2")
    assert not known(mode="hosted")
    assert not known(hash="other code")


def test_the_newest_showing_takes_the_place_of_the_one_before() -> None:
    record()
    record(mode="hosted")
    record(build="1.2")
    assert not known()
    assert known(build="1.2")
    assert known(mode="hosted")


def test_a_check_that_fails_takes_it_back() -> None:
    record()
    record(mode="hosted")
    forget_verified(folders(), "toy", "guest")
    assert not known()
    assert known(mode="hosted")
    forget_verified(folders(), "toy", "guest")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        "{}",
        '{"schema": 2, "verified": []}',
        '{"schema": 1, "verified": [{}]}',
        "null",
    ],
)
def test_a_record_that_cannot_be_read_shows_nothing_and_stays(text: str) -> None:
    record()
    folders().verified.write_text(text)
    assert not known()
    if text != "null":
        with pytest.raises(StoreProblem, match="record of what was verified"):
            record()
        assert folders().verified.read_text() == text


def test_another_platform_has_to_show_it_again() -> None:
    record()
    path = folders().verified
    document = json.loads(path.read_text())
    document["verified"][0]["platform"] = "elsewhere"
    path.write_text(json.dumps(document))
    assert not known()
