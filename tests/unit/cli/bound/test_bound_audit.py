"""``barry bound audit``: what was done already, from lists and from harnesses' own records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toy import ROOT, Barry, says, written

OWN = ("--bound", "no-push")


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_plain_list(barry: Barry) -> None:
    write(
        barry.work / "history",
        'git push\n\n  git status  \ngit push origin\n{ git push; }\n"git" push\n$x push\n',
    )
    done = barry.run("bound", "audit", "history", *OWN)
    assert done.code == 1
    assert done.err == ""
    rows = done.out.splitlines()
    assert rows[-1] == "6 calls: 1 allowed, 4 denied, 1 undecidable"
    assert rows[1].split()[:4] == ["4", "denied", "git:push", "bash.denyPrograms"]
    found = barry.run("bound", "audit", "history", *OWN, "--json").json["audit"]
    assert found["rules"][0]["examples"] == ["git push", "git push origin", "{ git push; }"]
    assert found["calls"] == 6


def test_lines_of_json(barry: Barry) -> None:
    lines = [
        {"command": "git push"},
        {"argv": ["git", "push"]},
        {"harness": "toy", "tool": "Shell", "input": {"command": "git push"}},
        {"type": "something else"},
        "git push",
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = barry.run("bound", "audit", "-", *OWN, input=text, stdin=None)
    assert "4 calls: 0 allowed, 4 denied, 0 undecidable; 1 lines passed over" in done.out
    assert "note: line 4 is passed over" in done.out


def test_nothing_to_complain_of(barry: Barry) -> None:
    done = barry.run("bound", "audit", "-", *OWN, input="ls\n", stdin=None)
    assert (done.code, done.out) == (0, "1 calls: 1 allowed, 0 denied, 0 undecidable\n")


def test_what_can_not_be_read(barry: Barry) -> None:
    says(barry.run("bound", "audit", "nothing", *OWN), 2, "can't be read")
    says(barry.run("bound", "audit", "/dev/null", *OWN), 2, "no file of calls")
    says(barry.run("bound", "audit", "x"), 2, "no bound applies")
    (barry.work / "bytes").write_bytes(b"git push\xff\nls\n")
    done = barry.run("bound", "audit", "bytes", *OWN)
    assert done.code == 1
    assert "Traceback" not in done.err


def test_many_commands(barry: Barry) -> None:
    """In a stream: a list of any length takes the same room."""
    write(barry.work / "long", "git status\nmake -j4 all\necho 'a b' | sort > out\n" * 5000)
    program = (
        "from barry_cli.cli.app import run; "
        "code = run(['bound', 'audit', 'long', '--bound', 'no-push']); "
        # Not the resource usage: that of a new program begins with what its parent had.
        "status = open('/proc/self/status').read(); "
        "print(code, status.partition('VmHWM:')[2].split()[0])"
    )
    done = barry.run(python=("-c", program), env={"PYTHONPATH": str(ROOT)})
    counted, sizes = done.out.splitlines()
    assert counted == "15000 calls: 15000 allowed, 0 denied, 0 undecidable"
    code, peak = sizes.split()
    assert code == "0"
    assert int(peak) < 120_000  # KiB


def test_a_terminal_sees_how_far_it_is(barry: Barry) -> None:
    write(barry.work / "long", "git status\n" * 20000)
    child = barry.open("bound", "audit", "long", *OWN)
    assert barry.ended(child) == 0
    shown = written(child)
    assert "calls ruled on" in shown
    assert "%" in shown
    assert "20000 calls: 20000 allowed" in shown


@pytest.fixture
def talked(barry: Barry) -> Path:
    """A folder with one conversation of the demo harness, in which a shell was used."""
    barry.run("adapter", "add", "demo")
    demo = ROOT / "adapters/demo/barry_adapter_demo/harness/main.py"
    done = subprocess.run(
        [sys.executable, "-I", "-S", demo, "--allow", "shell", "--print", "run git push --help"],
        cwd=barry.work,
        env={**barry.env, "PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done
    return barry.work


def test_past_conversations_of_a_folder(barry: Barry, talked: Path) -> None:
    done = barry.run("bound", "audit", ".", *OWN)
    assert done.code == 1, done
    assert "1 calls of 1 conversations: 0 allowed, 1 denied" in done.out
    assert "git push --help" in done.out
    only = barry.run("bound", "audit", str(talked), *OWN, "--harness", "demo", "--json").json
    assert only["audit"]["conversations"] == 1
    none = barry.run("bound", "audit", ".", *OWN, "--harness", "toy", "--json").json
    assert none["audit"]["calls"] == 0


def test_one_conversation_by_its_file(barry: Barry, talked: Path) -> None:
    (record,) = (
        path for path in Path(barry.env["HOME"]).rglob("*.jsonl") if "push" in path.read_text()
    )
    done = barry.run("bound", "audit", str(record), *OWN, "--harness", "demo")
    assert "1 calls of 1 conversations: 0 allowed, 1 denied" in done.out
    says(barry.run("bound", "audit", "nothing", *OWN, "--harness", "demo"), 2, "can't be read")


def test_an_adapter_that_can_not_be_loaded_is_passed_over(barry: Barry, talked: Path) -> None:
    rows = json.loads(barry.folders.registry.read_text())
    for row in rows["adapters"]:
        if row["id"] == "toy":
            row["path"] = "/nowhere"
    barry.folders.registry.write_text(json.dumps(rows))
    done = barry.run("bound", "audit", ".", *OWN)
    assert "conversations of toy are passed over" in done.out
    assert "1 calls of 1 conversations" in done.out
    says(barry.run("bound", "audit", ".", *OWN, "--harness", "toy"), 127, "its package is gone")
