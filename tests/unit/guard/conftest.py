"""A session with guarded tools, in a folder of a test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.guard.guarded import Session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)
