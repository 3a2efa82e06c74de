from __future__ import annotations

import asyncio
import json
import os
import pty
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.paths import Folders, folders
from barry_cli.contract.adapter import Evidence
from barry_cli.contract.data import snapshot
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.requirements import (
    Binary,
    HarnessCapabilities,
    Install,
    Login,
    Pin,
    Requirements,
)
from barry_cli.registry import machine
from barry_cli.registry.content import content_hash
from barry_cli.registry.doctor import Finding, examine
from barry_cli.registry.records import InstalledAdapter, RecordedMode
from barry_cli.turns.store.database import VERSION
from tests.conftest import AsNobody

Env = dict[str, str]
NOTHING = Guarantees(
    capture="none",
    delivery="none",
    gating="none",
    identity="none",
    interrupt=False,
    keeps_vendor_ui=True,
    steer=False,
)


def mode(verified_on: str = "1.2.0", **more: Any) -> RecordedMode:
    evidence = Evidence(check="checks:guest", proves="that it starts")
    return RecordedMode(guarantees=NOTHING, verified_on=verified_on, evidence=evidence, **more)


def requirements(**more: Any) -> Requirements:
    binary = Binary(
        command="tool",
        version_args=("--version",),
        version_pattern=r"tool (\S+)",
        pin=Pin(version="1.2.0", enforced_by="nothing"),
        install=Install(fallback="get tool@1.2.0"),
    )
    return Requirements(binary=binary, **more)


class Ward:
    """A registry, its packages and the programs, made by hand."""

    def __init__(self, top: Path, home: Path) -> None:
        self.folders = folders()
        self.packages = top / "packages"
        self.bin = top / "bin"
        self.bin.mkdir()
        self.rows: list[dict[str, Any]] = []
        self.env: Env = {
            "HOME": str(home),
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "TERM": "xterm",
        }

    def package(self, id: str) -> Path:
        return self.packages / id / f"barry_adapter_{id}" / "__init__.py"

    def add(self, id: str, **more: Any) -> dict[str, Any]:
        file = self.package(id)
        file.parent.mkdir(parents=True)
        file.write_text("raise SystemExit('the code of an adapter is nothing for a doctor')\n")
        path = str(self.packages / id)
        facts: dict[str, Any] = {
            "id": id,
            "label": id.title(),
            "version": "0.1.0",
            "package_name": f"barry-adapter-{id}",
            "contract_version": 1,
            "installed_at": "2026-01-01T00:00:00Z",
            "source": "path",
            "path": path,
            "entry": f"barry_adapter_{id}:adapter",
            "content_hash": content_hash(path, f"barry_adapter_{id}").hash,
            "content_stamp": "",
            "checked": 9,
            "default_mode": "guest",
            "modes": {"guest": mode(), "instrumented": None, "hosted": None},
            "native_tools": ("shell",),
            "capabilities": HarnessCapabilities(
                endpoint="fixed",
                mcp_transports=(),
                skills_mount="none",
                system_prompt_format="raw",
                tool_denial="none",
                without_key="unauthenticated",
            ),
            "requirements": requirements(),
        }
        row = snapshot(InstalledAdapter(**{**facts, **more}))
        self.rows.append(row)
        self.write()
        return row

    def write(self) -> None:
        self.folders.data.mkdir(parents=True, exist_ok=True)
        self.folders.registry.write_text(json.dumps({"schema": 1, "adapters": self.rows}))

    def program(self, body: str = "echo tool 1.2.0", name: str = "tool") -> Path:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def examine(self, *ids: str, machine: bool = False) -> list[Finding]:
        async def run() -> list[Finding]:
            chosen = ids or None
            return [each async for each in examine(self.folders, chosen, self.env, machine=machine)]

        found = asyncio.run(run())
        assert all((each.status == "ok") == (each.fix is None) for each in found), found
        return found

    def one(self, name: str, group: str = "tool") -> Finding:
        (found,) = (each for each in self.examine() if (each.group, each.name) == (group, name))
        return found


@pytest.fixture
def ward(tmp_path: Path, home: Path) -> Ward:
    return Ward(tmp_path, home)


def statuses(found: list[Finding]) -> dict[str, str]:
    return {each.name: each.status for each in found}


# --- a harness ---


def test_a_harness_that_is_well(ward: Ward) -> None:
    ward.add("tool", requirements=requirements(login=Login(variables=("TOOL_KEY",))))
    path = ward.program()
    ward.env["TOOL_KEY"] = "made-up-key"
    found = ward.examine()
    assert statuses(found) == dict.fromkeys(
        ["package", "platform", "program", "login", "version"], "ok"
    )
    words = " ".join(each.text for each in found)
    assert f"{path} (on PATH)" in words
    assert "1.2.0, the build that guest was shown on" in words
    assert "TOOL_KEY is there" in words
    assert "made-up-key" not in words


def test_its_program_is_asked_without_a_key(ward: Ward) -> None:
    ward.add("tool")
    ward.program('[ -z "$TOOL_KEY" ] && [ -n "$HOME" ] && echo tool 1.2.0')
    ward.env["TOOL_KEY"] = "made-up-key"
    assert ward.one("version").status == "ok"


def test_a_package_that_has_gone_or_changed(ward: Ward) -> None:
    ward.add("tool")
    ward.program()
    assert ward.one("package").status == "ok"
    ward.package("tool").write_text("print('other')\n")
    changed = ward.one("package")
    assert changed.status == "broken"
    assert f"barry adapter add {ward.packages}/tool" in (changed.fix or "")
    ward.package("tool").unlink()
    gone = ward.one("package")
    assert gone.status == "broken"
    assert "barry adapter remove tool" in (gone.fix or "")


def test_a_shipped_one_is_added_again_by_its_id(ward: Ward) -> None:
    ward.add("tool", source="shipped")
    ward.package("tool").write_text("print('other')\n")
    assert (ward.one("package").fix or "").endswith("barry adapter add tool")


def test_a_record_of_another_contract(ward: Ward) -> None:
    row = ward.add("tool")
    row["contractVersion"] = 2
    ward.add("other")
    ward.write()
    ward.program()
    found = ward.one("record")
    assert found.status == "broken"
    assert "contractVersion" in found.text
    assert ward.one("version", "other").status == "ok"


def test_experimental_is_said(ward: Ward) -> None:
    ward.add("tool", experimental="nobody has seen it run")
    found = ward.one("evidence")
    assert (found.status, found.text) == ("warn", "experimental: nobody has seen it run")


OTHER = "darwin" if sys.platform == "linux" else "linux"


def test_a_platform_that_the_harness_lacks(ward: Ward) -> None:
    ward.add("tool", requirements=requirements(platforms=(OTHER,)))
    assert ward.one("platform").status == "broken"


def test_a_platform_where_nothing_was_shown(ward: Ward) -> None:
    ward.add("tool", modes={"guest": mode(platforms=(OTHER,))})
    found = ward.one("platform")
    assert found.status == "warn"
    assert "guest" in found.text


def test_a_program_that_is_nowhere(ward: Ward) -> None:
    ward.add("tool")
    found = ward.examine()
    assert statuses(found) == {"package": "ok", "platform": "ok", "program": "broken"}
    assert found[-1].fix == "install it: get tool@1.2.0"


def test_a_program_that_cannot_run(ward: Ward) -> None:
    ward.add("tool")
    path = ward.program()
    path.chmod(0o644)
    found = ward.one("program")
    assert found.status == "broken"
    assert f"{path} is not executable" in found.text


def test_a_mode_that_carries_its_own_build_needs_no_program(ward: Ward) -> None:
    ward.add("tool", modes={"guest": mode(build="bundled")})
    assert statuses(ward.examine()) == {"package": "ok", "platform": "ok"}


@pytest.mark.parametrize(
    ("said", "status", "part"),
    [
        ("1.2.0", "ok", "the build that guest was shown on"),
        ("1.3.0", "warn", "shown on 1.2.0"),
        ("2.0.0", "broken", "outside the family of 1.2.0"),
    ],
)
def test_its_build(ward: Ward, said: str, status: str, part: str) -> None:
    ward.add("tool")
    ward.program(f"echo tool {said}")
    found = ward.one("version")
    assert found.status == status
    assert said in found.text
    assert part in found.text
    if status == "broken":
        assert "--allow-unverified-build" in (found.fix or "")


def test_modes_that_were_shown_on_different_builds(ward: Ward) -> None:
    ward.add("tool", modes={"guest": mode("1.2.0"), "instrumented": mode("1.3.0")})
    ward.program()
    found = [each for each in ward.examine() if each.name == "version"]
    assert [each.status for each in found] == ["ok", "warn"]


def test_a_program_that_does_not_say(ward: Ward) -> None:
    ward.add("tool")
    path = ward.program("echo no licence >&2; exit 3")
    found = ward.one("version")
    assert found.text == f"{path}: ended with exit status 3: no licence"
    assert found.fix is not None
    assert f"`{path} --version`" in found.fix


def test_a_login(ward: Ward) -> None:
    login = Login(variables=("TOOL_KEY", "TOOL_TOKEN"), conflicts=(("TOOL_KEY", "TOOL_TOKEN"),))
    ward.add("tool", requirements=requirements(login=login))
    assert ward.one("login").status == "warn"
    ward.env["TOOL_KEY"] = "made-up"
    assert ward.one("login").status == "ok"
    ward.env["TOOL_TOKEN"] = "made-up"
    assert ward.one("login").status == "broken"


def test_groups_come_whole_and_the_quick_ones_first(ward: Ward) -> None:
    for name, body in {"slow": "sleep 1; echo tool 1.2.0", "quick": "echo tool 1.2.0"}.items():
        needs = snapshot(requirements())
        needs["binary"]["command"] = name
        ward.add(name, requirements=Requirements.model_validate(needs))
        ward.program(body, name)
    ward.add("absent")
    groups = [each.group for each in ward.examine()]
    assert list(dict.fromkeys(groups)) == ["absent", "quick", "slow"]
    assert groups == sorted(groups)


def test_ids_choose(ward: Ward) -> None:
    ward.add("one", aliases=("first",))
    ward.add("two")
    assert {each.group for each in ward.examine("first")} == {"one"}
    (found,) = ward.examine("three")
    assert (found.group, found.status) == ("three", "broken")


# --- the machine ---


@contextmanager
def terminal() -> Iterator[None]:
    """Puts a terminal on standard input and output, which pytest takes for its own before."""
    kept = [os.dup(number) for number in (0, 1)]
    leader, follower = pty.openpty()
    for number in (0, 1):
        os.dup2(follower, number)
    try:
        yield
    finally:
        for number, before in enumerate(kept):
            os.dup2(before, number)
            os.close(before)
        os.close(leader)
        os.close(follower)


def of_machine(ward: Ward, name: str) -> Finding:
    (found,) = (each for each in ward.examine(machine=True) if each.name == name)
    assert found.group == "machine"
    return found


def test_a_machine_that_is_well_and_left_as_it_was(ward: Ward) -> None:
    ward.add("tool", modes={"guest": mode(build="bundled")})
    with terminal():
        found = ward.examine(machine=True)
    names = ["python", "folders", "disk", "database", "sockets", "terminal", "registry"]
    assert statuses(found) == dict.fromkeys([*names, "package", "platform"], "ok")
    assert sorted(ward.folders.data.parent.rglob("*")) == [ward.folders.data, ward.folders.registry]


def test_nothing_installed_is_said(ward: Ward) -> None:
    assert of_machine(ward, "registry").status == "warn"
    assert ward.examine() == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1, "adapters": [7]}', '{"schema": 9}'])
def test_a_registry_that_cannot_be_read(ward: Ward, text: str) -> None:
    ward.add("tool")
    ward.folders.registry.write_text(text)
    (found,) = ward.examine()
    assert (found.group, found.name, found.status) == ("machine", "registry", "broken")
    assert str(ward.folders.registry) in found.text
    assert found == ward.examine(machine=True)[-1]
    assert ward.folders.registry.read_text() == text


def database(ward: Ward, version: int) -> Path:
    path = ward.folders.database
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("CREATE TABLE t (x)")
        made.execute(f"PRAGMA user_version = {version}")
    made.close()
    return path


def test_the_database(ward: Ward) -> None:
    path = database(ward, VERSION)
    assert of_machine(ward, "database").status == "ok"
    with sqlite3.connect(path) as made:
        made.execute(f"PRAGMA user_version = {VERSION + 1}")
    made.close()
    assert "newer Barry" in of_machine(ward, "database").text
    path.write_bytes(b"no database at all, by any means" * 100)
    found = of_machine(ward, "database")
    assert found.status == "broken"
    assert f"mv {path}" in (found.fix or "")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_a_database_that_is_no_file(ward: Ward, make: Callable[[Path], None]) -> None:
    ward.folders.database.parent.mkdir(parents=True)
    make(ward.folders.database)
    found = of_machine(ward, "database")
    assert (found.status, found.text) == ("broken", f"{ward.folders.database} is no file")


def test_a_folder_that_is_a_file(ward: Ward) -> None:
    ward.folders.state.parent.mkdir(parents=True)
    ward.folders.state.write_text("")
    found = of_machine(ward, "state folder")
    assert (found.status, found.text) == ("broken", f"{ward.folders.state} is not a folder")


def test_a_folder_that_may_not_be_written(open_folder: Path, as_nobody: AsNobody) -> None:
    private = open_folder / "private"
    private.mkdir(mode=0o755)
    theirs = Folders(*(private / name for name in ("config", "data", "state", "cache", "run")))

    def look() -> tuple[bool, list[str]]:
        found = list(machine._folders(theirs))
        return os.access(private, os.W_OK), [each.text for each in found]

    allowed, texts = as_nobody(look)
    assert not allowed
    assert texts[0] == f"{private}/config can't be made in {private}"
    assert len(texts) == 5
    private.chmod(0o777)
    assert as_nobody(look) == (True, [f"all writable, below {private}"])


def test_little_disk(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LITTLE_BYTES", 1 << 60)
    assert of_machine(ward, "disk").status == "warn"
    monkeypatch.setattr(machine, "NO_BYTES", 1 << 60)
    assert of_machine(ward, "disk").status == "broken"


def test_a_path_that_is_too_long_for_sockets(
    ward: Ward, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(machine, "SOCKET_PATH_LIMIT", 10)
    short = tmp_path / "short"
    monkeypatch.setattr(machine, "SHORT", str(short))
    found = of_machine(ward, "sockets")
    assert found.status == "ok"
    assert f"so they go to {short}" in found.text
    short.mkdir(mode=0o700)
    assert of_machine(ward, "sockets").status == "ok"
    short.chmod(0o755)
    assert of_machine(ward, "sockets").status == "broken"


@pytest.mark.parametrize(("term", "status"), [("xterm", "ok"), ("dumb", "warn"), ("", "warn")])
def test_the_kind_of_terminal(ward: Ward, term: str, status: str) -> None:
    ward.env["TERM"] = term
    with terminal():
        assert of_machine(ward, "terminal").status == status


def test_no_terminal(ward: Ward) -> None:
    reader, writer = os.pipe()
    kept = os.dup(0)
    try:
        os.dup2(reader, 0)
        assert of_machine(ward, "terminal").status == "warn"
    finally:
        os.dup2(kept, 0)
        for number in (kept, reader, writer):
            os.close(number)


def test_an_old_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "OLDEST_PYTHON", (99, 0))
    assert machine._python().status == "broken"


# --- as a launch sees it ---


def test_an_unknown_build_is_a_warning_and_one_that_fails_is_broken(ward: Ward) -> None:
    ward.add("tool")
    ward.program("echo hello")
    assert ward.one("version").status == "warn"
    ward.program("echo tool 1.2.0; exit 3")
    assert ward.one("version").status == "broken"
    ward.program("echo warning: something is old; echo tool 1.2.0")
    assert ward.one("version").status == "ok"


def test_a_program_finds_the_interpreter_beside_it(ward: Ward, tmp_path: Path) -> None:
    apart = tmp_path / "apart"
    apart.mkdir()
    ward.program("echo tool 1.2.0", "interpreter").rename(apart / "interpreter")
    (apart / "tool").write_text("#!/usr/bin/env interpreter\n")
    (apart / "tool").chmod(0o755)
    binary = requirements().binary.model_copy(update={"paths": (str(apart / "tool"),)})
    ward.add("tool", requirements=requirements().model_copy(update={"binary": binary}))
    assert ward.one("version").status == "ok"


def test_what_is_shipped_is_examined_before_it_is_added(ward: Ward) -> None:
    ward.rows = []
    ward.write()
    found = ward.examine("demo")
    assert (found[0].name, found[0].status) == ("record", "warn")
    assert found[0].fix == "barry adapter add demo"
    assert {"package", "platform", "login"} <= {each.name for each in found}
    (finding,) = ward.examine("nothing")
    assert finding.status == "broken"
