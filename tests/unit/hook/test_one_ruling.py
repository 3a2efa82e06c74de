"""However a call is asked about, the answer is one: outcome, rule, field, span and sentences.

Asked are the library, the whole command line, its fast door and the hook, the last three as the
processes that they are.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from barry_cli.bags.manifest import HookFormat, ToolRow
from barry_cli.base.paths import folders
from barry_cli.cli.render.verdicts import facts
from barry_cli.hook.install import install
from barry_cli.policy.bundle import bundle, dump
from barry_cli.policy.cache import PROGRAM
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.door import program
from barry_cli.policy.lookup import effective_bound
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.policy import dump as dump_policy
from barry_cli.policy.ruling.rule import rule_command
from barry_cli.policy.schema import parse_bound

ROOT = Path(__file__).resolve().parents[3]
DATA = sorted((ROOT / "tests" / "data" / "bounds").glob("*.jsonl"))
AT_ONCE = 2

# A door that would leave the answer to the whole command line fails.
DOOR = (
    "import sys; sys.modules['typer'] = None; sys.path.insert(0, {root!r}); "
    "from barry_cli.__main__ import main; sys.exit(main())"
)
FORMAT = HookFormat.model_validate(
    {
        "event": "Before",
        "kind": "before-tool",
        "paths": {"tool": "tool", "input": "input", "cwd": "cwd", "call": "call"},
        "answers": {"deny": {"stdout": {"no": "{reason}"}}},
    }
)
TOOLS = {"zap": ToolRow(kind="shell", field="line")}


def bound_of(path: Path, row: dict[str, Any]) -> dict[str, Any] | None:
    """The bound of a row; None where it asks about no command, or no bound can hold its rule."""
    if "command" not in row:
        return None
    match path.stem:
        case "programs":
            return {"bash": {"denyPrograms": [row["rule"]]}} if row["rule"] else None
        case "files":
            return {"files": row.get("bound", {"deny": ["*"]})}
        case "network":
            return {"network": {"actions": ["all"]}}
        case "domains":
            return {"network": {"domains": ["*.test"]}}
        case "hosts":
            allow = {"allowDomains": row.get("allow"), "enforce": "sandbox"}
            return {"network": {"domains": row["domains"]} if "domains" in row else allow}
        case "reach":
            only = row["rule"] == "allowOnly"
            return {"files": {"allowOnly": ["src/**"]} if only else {"deny": [".env", "*.pem"]}}
        case _:
            raise KeyError(f"{path.name}: say here which bound its rows stand for")


def questions() -> dict[str, list[str]]:
    """Bound, as JSON -> the command lines of its rows."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in DATA:
        for text in path.read_text("utf-8").splitlines():
            row = json.loads(text)
            bound = bound_of(path, row)
            if bound is not None:
                found[json.dumps(bound, sort_keys=True)].append(row["command"])
    return {bound: list(dict.fromkeys(commands)) for bound, commands in found.items()}


@dataclass
class Listener:
    """A session that is told what was ruled."""

    path: str
    told: dict[str, dict[str, Any]] = field(default_factory=dict)
    heard: threading.Condition = field(default_factory=threading.Condition)

    def listen(self, server: socket.socket) -> None:
        while True:
            try:
                link, _ = server.accept()
            except OSError:
                return
            with link, link.makefile() as words:
                said = json.loads(words.read())
            with self.heard:
                self.told[said["call"]] = said
                self.heard.notify_all()

    def word_of(self, call: str) -> dict[str, Any]:
        with self.heard:
            assert self.heard.wait_for(lambda: call in self.told, 10), f"nothing of {call}"
            return self.told[call]


@pytest.fixture
def listener(home: Path) -> Iterator[Listener]:
    with socket.socket(socket.AF_UNIX) as server:
        made = Listener(str(home.parent / "s"))
        server.bind(made.path)
        server.listen(64)
        listening = threading.Thread(target=made.listen, args=(server,))
        listening.start()
        yield made
        server.shutdown(socket.SHUT_RDWR)
        listening.join(10)


def ask(*argv: str, cwd: Path, said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        input=said,
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@dataclass
class Ways:
    """The ways to ask under one bound."""

    policy: Policy
    bound: Path
    hook: str
    cwd: Path
    listener: Listener

    def library(self, line: str) -> dict[str, Any]:
        return facts(rule_command(self.policy, line, str(self.cwd)))

    def whole(self, lines: list[str]) -> list[dict[str, Any]]:
        """The whole command line, which answers many at once."""
        words = ("-m", "barry_cli", "bound", "check", f"--bound={self.bound}", "--stdin")
        said = "".join(json.dumps({"command": line}) + "\n" for line in lines)
        done = subprocess.run(
            [sys.executable, *words], input=said, cwd=self.cwd, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 1), done.stderr
        return [json.loads(each) for each in done.stdout.splitlines()]

    def warm(self) -> None:
        """The first check, after which the door knows the policy."""
        done = subprocess.run(
            [sys.executable, "-m", "barry_cli", "bound", "check", f"--bound={self.bound}", "--",
             "true"],
            cwd=self.cwd, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.stdout == "allowed\n", done.stderr

    def door(self, line: str) -> dict[str, Any]:
        words = ("bound", "check", "--json", f"--bound={self.bound}", f"--command={line}")
        done = ask(sys.executable, "-c", DOOR.format(root=str(ROOT)), *words, cwd=self.cwd)
        assert done.stderr == "", (line, done.stderr)
        verdict: dict[str, Any] = json.loads(done.stdout)["verdict"]
        assert done.returncode == (verdict["outcome"] != "allowed")
        return verdict

    def hooked(self, line: str, call: str) -> tuple[dict[str, Any], str]:
        """What the hook told the session, and the reason that it gave the harness."""
        event = {"tool": "zap", "input": {"line": line}, "cwd": str(self.cwd), "call": call}
        done = ask("/bin/sh", "-c", self.hook, cwd=self.cwd, said=json.dumps(event))
        assert (done.returncode, done.stderr) == (0, ""), line
        return self.listener.word_of(call), json.loads(done.stdout)["no"] if done.stdout else ""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
def test_every_way_to_ask_gives_the_same_answer(
    home: Path, tmp_path: Path, listener: Listener, every: int
) -> None:
    """``every``: how many rows there are to one that is asked by processes of its own."""
    cwd = home / "project"
    cwd.mkdir()
    asked = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for number, (bound, lines) in enumerate(questions().items()):
            ways = ways_of(bound, tmp_path / str(number), cwd, listener)
            answers = ways.whole(lines)
            for line, said in zip(lines, answers, strict=True):
                library = ways.library(line)
                assert {key: said[key] for key in library} == library, line
            some = [(line, f"{number}.{at}") for at, line in enumerate(lines[::every])]
            list(pool.map(lambda each, ways=ways: compare(ways, *each), some))
            asked += len(lines)
    assert asked > 2000


def test_the_door_s_program_rules_as_it_is_written(home: Path, tmp_path: Path) -> None:
    """All rows, in one process: what was taken apart and put together again answers alike."""
    path = tmp_path / "program"
    path.write_bytes(dump(bundle(PROGRAM)))
    answer = program(str(path))
    cwd = str(home)
    asked = 0
    for bound, lines in questions().items():
        policy = compile_policy(parse_bound(json.loads(bound)), root=cwd, tools=TOOLS)
        data = dump_policy(policy)
        for line in lines:
            said, _ = answer(data, (), cwd, (), {"--command": line}, True)
            assert json.loads(said)["verdict"] == facts(rule_command(policy, line, cwd)), line
        asked += len(lines)
    assert asked > 2000


def ways_of(bound: str, folder: Path, cwd: Path, listener: Listener) -> Ways:
    file = folder / "bound.json"
    folder.mkdir()
    file.write_text(bound, encoding="utf-8")
    ours = folders()
    effective = effective_bound(ours, [], str(cwd), asked=[str(file)])
    policy = compile_policy(effective.bound, root=str(cwd), tools=TOOLS, floor=floor_patterns(ours))
    hook = install(folder / "hook", policy, [FORMAT], listener=(listener.path, "t", "s"))
    ways = Ways(policy, file, hook.command, cwd, listener)
    ways.warm()
    return ways


def compare(ways: Ways, line: str, call: str) -> None:
    library = ways.library(line)
    assert ways.door(line) == library, line
    told, reason = ways.hooked(line, call)
    assert {"text": line} | {key: told[key] for key in library if key != "text"} == library
    assert reason == ("" if library["outcome"] == "allowed" else library["agent"]), line
