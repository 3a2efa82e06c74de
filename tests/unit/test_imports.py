"""The import rule holds, and would be broken by each thing that it forbids."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINTER = Path(sys.executable).with_name("lint-imports")
OF_THE_HOUSE = ROOT / "pyproject.toml"
OF_ADAPTERS = ROOT / "imports-of-adapters.toml"

# What `barry --version` may import beside what a bare start of this interpreter has.
DOOR = {"barry_cli", "barry_cli.__main__"}


def lint(config: Path, *path: Path) -> tuple[int, str]:
    """The linter's exit status and words; ``path`` is where it looks for the packages."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "COLUMNS": "200"}
    done = subprocess.run(
        [LINTER, "--no-logo", "--no-cache", config],
        cwd=path[0],
        env=env,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def adapters(root: Path) -> list[Path]:
    return sorted(each.parent for each in root.glob("adapters/*/pyproject.toml"))


def broken(words: str) -> set[str]:
    return {line.split(" BROKEN")[0] for line in words.splitlines() if " BROKEN" in line}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the packages, to do wrong in."""
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "barry_cli", tmp_path / "barry_cli", ignore=leave)
    shutil.copytree(ROOT / "adapters", tmp_path / "adapters", ignore=leave)
    return tmp_path


def test_the_house_keeps_its_rule() -> None:
    status, words = lint(OF_THE_HOUSE, ROOT)
    assert status == 0, words


def test_adapters_keep_their_rule() -> None:
    status, words = lint(OF_ADAPTERS, ROOT, *adapters(ROOT))
    assert status == 0, words


def test_every_adapter_is_under_the_rule() -> None:
    rule = tomllib.loads(OF_ADAPTERS.read_text(encoding="utf-8"))["tool"]["importlinter"]
    packages = [f"barry_adapter_{each.name.replace('-', '_')}" for each in adapters(ROOT)]
    _, apart, unknown = rule["contracts"]
    assert sorted(rule["root_packages"]) == sorted(["barry_cli", *packages])
    assert sorted(apart["modules"]) == sorted(unknown["protected_modules"]) == packages


WRONGS = {
    "base/paths.py": ("import barry_cli.launch", "floors"),
    "registry/__init__.py": ("import barry_cli.cli", "floors"),
    "contract/levels.py": ("import barry_cli.contract.plan", "no circles inside a room"),
    "turns/__init__.py": ("import rich", "only the command line imports typer and rich"),
    "cli/__init__.py": ("import barry_cli.adapters", "faces are for guests: no room imports one"),
    "__init__.py": ("import barry_cli.base", "the front of the house imports nothing of it"),
    "policy/__init__.py": ("import json", "the fast door imports builtins only"),
    "policy/door.py": ("import os", "the fast door imports builtins only"),
    "policy/ruling/shell/words.py": ("import re", "the fast door imports builtins only"),
    "hook/run.py": ("import barry_cli.base.paths", "the fast door imports builtins only"),
    "__main__.py": ("import typing", "the door itself imports nothing heavy"),
}


@pytest.mark.parametrize("where", WRONGS)
def test_the_house_rule_sees(copy: Path, where: str) -> None:
    wrong, rule = WRONGS[where]
    with (copy / "barry_cli" / where).open("a", encoding="utf-8") as module:
        module.write(f"\n{wrong}\n")
    status, words = lint(OF_THE_HOUSE, copy)
    assert status == 1, words
    assert rule in broken(words)


def test_a_room_that_nobody_placed_is_refused(copy: Path) -> None:
    (copy / "barry_cli" / "attic").mkdir()
    (copy / "barry_cli" / "attic" / "__init__.py").touch()
    status, words = lint(OF_THE_HOUSE, copy)
    assert status == 1
    assert "attic" in words


def test_the_adapters_rule_sees(copy: Path) -> None:
    first = adapters(copy)[0]
    package = next(first.glob("barry_adapter_*"))
    (package / "wrong.py").write_text("import barry_cli.base.paths\n", encoding="utf-8")
    (copy / "barry_cli" / "base" / "wrong.py").write_text(
        f"import {package.name}\n", encoding="utf-8"
    )
    status, words = lint(OF_ADAPTERS, copy, *adapters(copy))
    assert status == 1, words
    assert broken(words) >= {"an adapter imports faces only", "Barry knows nothing of its adapters"}


def loaded(*argv: str) -> set[str]:
    """The modules that Python has at the end, as ``-X importtime`` tells them."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *argv],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines} - {"imported package"}


def test_version_imports_nothing() -> None:
    script = "import sys; sys.argv = ['barry', '--version']; import barry_cli.__main__ as door; "
    more = loaded("-c", script + "sys.exit(door.main())") - loaded("-c", "pass")
    assert more == DOOR
