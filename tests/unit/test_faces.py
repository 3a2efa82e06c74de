"""A public face says its names three times: for mypy, for Python, and to the world."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FACES = ["barry_cli.adapters", "barry_cli.agents", "barry_cli.bounds", "barry_cli.sessions"]
EXPECTED = json.loads((ROOT / "tests/data/names.json").read_text(encoding="utf-8"))


def source(face: str) -> ast.Module:
    path = ROOT / (face.replace(".", "/") + ".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def for_mypy(tree: ast.Module) -> dict[str, str]:
    """Name -> module, as the TYPE_CHECKING block imports them."""
    (block,) = (each for each in tree.body if isinstance(each, ast.If))
    found = {}
    for each in block.body:
        assert isinstance(each, ast.ImportFrom)
        for alias in each.names:
            assert alias.asname == alias.name, f"{alias.name} must be re-exported as itself"
            found[alias.name] = each.module or ""
    return found


def for_python(tree: ast.Module) -> dict[str, str]:
    """Name -> module, as the table of the lazy half says."""
    (block,) = (each for each in tree.body if isinstance(each, ast.If))
    (table,) = (
        each for each in ast.walk(ast.Module(block.orelse, [])) if isinstance(each, ast.Dict)
    )
    found: dict[str, str] = ast.literal_eval(table)
    return found


def members(exported: object) -> set[str]:
    """Every name that an instance of it has: fields and attributes alike."""
    assert isinstance(exported, type), exported
    names = set(dir(exported)) | set(getattr(exported, "model_fields", ()))
    for base in exported.__mro__:
        names |= set(vars(base).get("__annotations__", ()))
        if issubclass(base, Exception) and "__init__" in vars(base):
            made = getattr(vars(base)["__init__"], "__code__", None)
            names |= set(made.co_names if made else ())  # what it gives its instance
    return names


@pytest.mark.parametrize("face", FACES)
def test_both_halves_say_the_same(face: str) -> None:
    tree = source(face)
    assert for_mypy(tree) == for_python(tree)


@pytest.mark.parametrize("face", FACES)
def test_every_name_is_there(face: str) -> None:
    module = importlib.import_module(face)
    assert sorted(for_python(source(face))) == module.__all__ == dir(module)
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("face", FACES)
def test_a_face_imports_nothing_until_asked(face: str) -> None:
    code = f"import sys, {face}; print(*sorted(m for m in sys.modules if m.startswith('barry')))"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    ).stdout.split()
    assert said == sorted(["barry_cli", "barry_cli._face", face])


def test_a_wrong_name_is_an_attribute_error() -> None:
    module = importlib.import_module("barry_cli.adapters")
    with pytest.raises(AttributeError, match="has no attribute 'Adaptor'"):
        _ = module.Adaptor


@pytest.mark.parametrize("face", sorted(EXPECTED))
def test_the_face_has_what_it_must(face: str) -> None:
    module: Any = importlib.import_module(face)
    expected = EXPECTED[face]
    assert [name for name in expected["names"] if name not in module.__all__] == []
    missing = [
        f"{owner}.{member}"
        for owner, wanted in expected["members"].items()
        for member in wanted
        if member not in members(getattr(module, owner))
    ]
    assert missing == []
