"""What a ruling costs: in a harness's hook, and typed by hand."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bench.measure import ROUNDS, command, race, show
from tests.bench.place import Place, install, run

pytestmark = pytest.mark.timeout(900)

BASE = "python -c pass"

MOST = {"hook || exit 2": 1.0, "hook || exit 2, a file": 1.0, "bound check": 1.3}

BOUND = """
[bash]
denyPrograms = ["git:push", "gh:pr:merge", "docker", "sudo"]
[files]
deny = [".env", "secrets/**", "~/.ssh/**", "*.pem"]
[network]
actions = ["ssh:write"]
domains = ["*.internal.example"]
"""

LINE = "cd src && git status --short | head -n 20 && python -m pytest -q tests 2>&1 | tail -n 5"

# Run by the installed Barry: what a launch would do.
INSTALL = """
import sys
from pathlib import Path
from barry_cli.bags.manifest import read_bag
from barry_cli.hook.install import install
from tests_door import policy
bag = read_bag(sys.argv[1])
print(install(Path(sys.argv[2]), policy(sys.argv[3], bag), bag.formats.values()).command)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return install(tmp_path_factory.mktemp("door"))
