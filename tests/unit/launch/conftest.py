"""What several tests of launches need."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.toy import Barry


@pytest.fixture
def small_disk(barry: Barry) -> Iterator[Path]:
    """Where sessions are recorded: a disk of its own with no room, where one may be mounted."""
    place = barry.folders.state
    place.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    yield place
    if mounted.returncode == 0:
        subprocess.run(["umount", "-l", str(place)], check=True)
