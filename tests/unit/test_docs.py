"""What the documents say is so."""

from __future__ import annotations

import dataclasses
import json
import os
import pwd
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from barry_cli.base import settings
from barry_cli.base.paths import Folders
from barry_cli.cli.app import whole
from barry_cli.cli.pages.tree import Verb, tree
from barry_cli.groundwork import environment
from tests.unit.documents import (
    ADAPTERS,
    AGENTS,
    BOUNDS,
    BOUNDS_LIMITS,
    CHANGELOG,
    CONTRIBUTING,
    FILES,
    GUARDED_TOOLS,
    GUEST_MODE,
    HOSTED_MODE,
    INSTRUMENTED_MODE,
    JSON,
    MESSAGES,
    README,
    ROOT,
    SCRIPTING,
    SESSIONS,
    Bash,
    Document,
    Row,
    plain,
    write_block,
    write_recipe,
)

DOCUMENTS = [
    README,
    CONTRIBUTING,
    CHANGELOG,
    JSON,
    ADAPTERS,
    AGENTS,
    FILES,
    GUARDED_TOOLS,
    GUEST_MODE,
    HOSTED_MODE,
    INSTRUMENTED_MODE,
    BOUNDS,
    BOUNDS_LIMITS,
    SCRIPTING,
    SESSIONS,
    MESSAGES,
]

by_name = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda each: each.path.name)


# --- the recipe ---


def test_the_recipe_makes_an_adapter(tmp_path: Path) -> None:
    shell = Bash(tmp_path)
    try:
        for block in CONTRIBUTING.blocks(below="Add a harness"):
            if block.file is not None:
                write_block(tmp_path, block)
            elif block.language == "console":
                shell.follow(block.text)
    finally:
        shell.close()


def test_scripts_run_as_written(tmp_path: Path) -> None:
    shell = Bash(tmp_path)
    try:
        for block in SCRIPTING.blocks():
            if block.file is not None:
                write_block(tmp_path, block)
            elif block.language == "console":
                shell.follow(block.text)
    finally:
        shell.close()


def test_the_recipe_notices_what_is_not_so(tmp_path: Path) -> None:
    shell = Bash(tmp_path)
    try:
        shell.follow("$ echo one; echo two\n...\ntwo\n")
        with pytest.raises(AssertionError):
            shell.follow("$ echo one\ntwo\n")
        with pytest.raises(AssertionError):
            shell.follow("$ false\n")
    finally:
        shell.close()


def test_the_recipe_lists_its_files() -> None:
    (listed,) = (
        block
        for block in CONTRIBUTING.blocks()
        if block.language == "text" and "bin/" in block.text
    )
    named = {line.split()[0] for line in listed.text.splitlines()}
    assert named == {block.file for block in CONTRIBUTING.blocks() if block.file}


def test_the_recipe_keeps_the_house_rules(tmp_path: Path) -> None:
    write_recipe(tmp_path)
    ruff = [str(Path(sys.executable).with_name("ruff")), "--config", str(ROOT / "pyproject.toml")]
    package = str(tmp_path / "adapter" / "barry_adapter_parrot")
    for words in (["check", "--ignore", "INP001"], ["format", "--check"]):
        done = subprocess.run(
            [ruff[0], words[0], *ruff[1:], *words[1:], package],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_the_recipe_is_typed(tmp_path: Path) -> None:
    write_recipe(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "barry_adapter_parrot"],
        cwd=tmp_path / "adapter",
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# --- commands, links, size ---


def commands(document: Document) -> Iterator[str]:
    """Every command line of Barry's that a document shows."""
    for block in document.blocks():
        if block.language in ("console", "sh"):
            for line in block.text.splitlines():
                if found := re.match(r"(?:\$ )?(barry .*)", line):
                    yield re.split(r" \|\|? ", found[1])[0]
    for code in re.findall(r"`([^`]+)`", document.prose()):
        if code.startswith("barry "):
            yield code.split(" | ")[0]


def wrong_with(command: str, top: Verb) -> str | None:
    """What of a command line there is not."""
    words = shlex.split(command.partition(" -- ")[0])[1:]
    verb = top
    while words and (below := next((v for v in verb.verbs if v.words[-1] == words[0]), None)):
        verb, words = below, words[1:]
    if verb.verbs and any(not word.startswith("-") for word in words):
        return f"{command}: no verb {words[0]}"
    flags = {name: flag for flag in verb.flags for name in flag.names}
    given = [word.partition("=")[0] for word in words if word.startswith("--")]
    unknown = [name for name in given if name not in flags]
    return f"{command}: no flag {unknown[0]}" if unknown else None


@by_name
def test_every_command_is_there(document: Document) -> None:
    top = tree(typer.main.get_command(whole()))
    assert [wrong for line in commands(document) if (wrong := wrong_with(line, top))] == []


def test_commands_that_are_not_there_are_noticed() -> None:
    top = tree(typer.main.get_command(whole()))
    assert wrong_with("barry session launch ID --dry-run -- --whatever", top) is None
    assert wrong_with("barry session lunch ID", top)
    assert wrong_with("barry session launch ID --wet-run", top)
    assert len(list(commands(README))) > 10


def test_every_verb_is_in_the_changelog() -> None:
    named = {word for code in re.findall(r"`([^`]+)`", CHANGELOG.text) for word in code.split()}
    top = tree(typer.main.get_command(whole()))
    assert {verb.words[-1] for verb in top.walk() if not verb.verbs} <= named


@by_name
def test_every_link_leads_somewhere(document: Document) -> None:
    for link in document.links():
        file, _, anchor = link.partition("#")
        target = (document.path.parent / file).resolve() if file else document.path
        assert target.exists(), link
        if anchor:
            assert anchor in Document(target).anchors(), link


@by_name
def test_plain_words(document: Document) -> None:
    """Of this project alone, in lines that can be read."""
    text = document.text.replace("/tmp/barry-UID", "")
    places = {ROOT, ROOT.parent, Path(pwd.getpwuid(os.getuid()).pw_dir)} - {Path("/")}
    here = [f"{place}/" for place in places]
    for foreign in (*here, "/tmp/", "http://", "https://", "shared/"):
        assert foreign not in text
    long = [
        line
        for line in document.prose().splitlines()
        if len(line) > 104 and not line.startswith("|")
    ]
    assert long == []


def test_readme_is_short() -> None:
    assert len(README.text.splitlines()) <= 175


# --- files ---


def test_folders_and_files_are_documented() -> None:
    places = Folders(*(Path(name) for name in ("config", "data", "state", "cache", "run")))
    tables = FILES.tables()
    fields = {each.name for each in dataclasses.fields(Folders)}
    assert {row["folder"] for row in tables["Files"]} == fields
    named = {plain(row["file"]).rstrip("/") for row in tables["What is in them"]}
    made = {name for name, value in vars(Folders).items() if isinstance(value, property)}
    assert named == {str(getattr(places, name)) for name in made} | {"run"}


def test_settings_are_documented() -> None:
    rows = FILES.tables()["config.toml"]
    said = {(plain(row["table"]), plain(row["key"])) for row in rows}
    assert said == {(table, key) for table, keys in settings.KNOWN.items() for key in keys}
    (listed,) = (block for block in FILES.blocks() if block.language == "text")
    assert listed.text.split() == environment.ALWAYS


# --- the harnesses ---


@pytest.fixture(scope="module")
def declared() -> dict[str, Any]:
    """What each shipped adapter declares of its modes, read in a process of its own."""
    code = """
import importlib, json, sys, tomllib
from pathlib import Path
from barry_cli.contract.data import snapshot
found = {}
for file in sorted(Path("adapters").glob("*/pyproject.toml")):
    sys.path.insert(0, str(file.parent))
    project = tomllib.loads(file.read_text())["project"]
    ((_, entry),) = project["entry-points"]["barry.adapters"].items()
    adapter = importlib.import_module(entry.partition(":")[0]).adapter
    found[adapter.id] = {
        "mode": snapshot(adapter.modes["guest"]),
        "hosted": snapshot(adapter.modes["hosted"]) if adapter.modes["hosted"] else None,
        "instrumented": (
            snapshot(adapter.modes["instrumented"]) if adapter.modes["instrumented"] else None
        ),
        "capabilities": snapshot(adapter.capabilities),
        "offers": [name for name, mode in adapter.modes.items() if mode is not None],
    }
print(json.dumps(found))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def by_id(rows: list[Row]) -> dict[str, Row]:
    return {plain(row["id"]): row for row in rows}


def test_promises_are_those_declared(declared: dict[str, Any]) -> None:
    said = by_id(GUEST_MODE.tables()["What it promises"])
    assert set(said) == set(declared)
    for name, row in said.items():
        promise = declared[name]["mode"]["guarantees"]
        assert promise.pop("keepsVendorUi") is True
        assert row["build"] == declared[name]["mode"]["verifiedOn"]
        assert declared[name]["mode"]["platforms"] == ["linux"]
        assert "guest" in declared[name]["offers"]
        assert_promised(row, promise)


def assert_promised(row: Row, promise: dict[str, Any]) -> None:
    shown = {True: "yes", False: "no"}
    assert {kind: row[kind] for kind in promise} == {
        kind: shown[level] if isinstance(level, bool) else level for kind, level in promise.items()
    }


def test_promises_of_hosted_mode_are_those_declared(declared: dict[str, Any]) -> None:
    said = by_id(HOSTED_MODE.tables()["What it promises"])
    assert set(said) == {name for name, each in declared.items() if each["hosted"]}
    for name, row in said.items():
        mode = declared[name]["hosted"]
        promise = mode["guarantees"]
        assert promise.pop("keepsVendorUi") is False
        assert row["build"] == mode["verifiedOn"]
        assert row["schema"] == mode["structuredOutput"]
        assert mode["platforms"] == ["linux"]
        assert_promised(row, promise)


def test_promises_of_instrumented_mode_are_those_declared(declared: dict[str, Any]) -> None:
    said = by_id(INSTRUMENTED_MODE.tables()["What it promises"])
    assert set(said) == {name for name, each in declared.items() if each["instrumented"]}
    for name, row in said.items():
        mode = declared[name]["instrumented"]
        promise = mode["guarantees"]
        assert promise.pop("keepsVendorUi") is True
        assert row["build"] == mode["verifiedOn"]
        assert mode["platforms"] == ["linux"]
        assert set(row) == {"id", "build", *promise}
        assert_promised(row, promise)


def test_abilities_are_those_declared(declared: dict[str, Any]) -> None:
    said = by_id(GUEST_MODE.tables()["What can be asked for"])
    assert set(said) == set(declared)
    for name, row in said.items():
        able = declared[name]["capabilities"]
        assert row["other endpoint"] == able["endpoint"]
        assert row["MCP servers"] == (", ".join(able["mcpTransports"]) or "none")
        assert row["plugin folders"] == able["skillsMount"]
        assert row["system prompt"] == able["systemPromptFormat"]
        assert able["toolDenial"] == "native"


def test_readme_names_every_harness_and_its_build(declared: dict[str, Any]) -> None:
    said = by_id(README.tables()["Harnesses"])
    assert {name: row["build"] for name, row in said.items()} == {
        name: each["mode"]["verifiedOn"] for name, each in declared.items()
    }
    for name, row in said.items():
        without = declared[name]["capabilities"]["skillsMount"] == "none"
        assert ("plugin folders" in row["not to be had"]) == without, name
    headings = re.findall(r"^### (\S+)$", GUEST_MODE.text, re.MULTILINE)
    assert sorted(headings) == sorted(declared)
