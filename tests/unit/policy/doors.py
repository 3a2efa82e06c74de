"""``barry bound check`` asked through its door alone, through the whole command line, and both."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from barry_cli.policy.bundle import bundle, dump
from barry_cli.policy.cache import PROGRAM, _code_name, _own_files
from tests.toy import ROOT, Barry, Done

# Whoever leaves the answer to the whole command line fails here.
DOOR = (
    "import sys; sys.modules['typer'] = None; from barry_cli.__main__ import main; sys.exit(main())"
)
WHOLE = "import sys; from barry_cli.cli.app import run; sys.exit(run(sys.argv[1:]))"
PATH = {"PYTHONPATH": str(ROOT)}
LEFT = 125
"""How the door ends when it leaves the answer to the command line."""


@cache
def code() -> bytes:
    return dump(bundle(PROGRAM))


def spare_bundling(barry: Barry) -> None:
    """Give Barry the bundle of its door, which is the same for all tests."""
    folder = barry.folders.cache / "policies"
    folder.mkdir(mode=0o700, parents=True)
    (folder / _code_name(PROGRAM, _own_files())).write_bytes(code())


def whole(barry: Barry, *words: str, cwd: Path | None = None) -> Done:
    return barry.run("bound", "check", *words, python=("-c", WHOLE), env=PATH, cwd=cwd)


def door(barry: Barry, *words: str, cwd: Path | None = None) -> Done:
    return barry.run("bound", "check", *words, python=("-c", DOOR), env=PATH, cwd=cwd)


def kept(barry: Barry) -> list[Path]:
    return sorted((barry.folders.cache / "policies").glob("check-*"))
