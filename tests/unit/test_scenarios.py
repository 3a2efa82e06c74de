"""Scenarios that a person would try, each named by its number; no harness of a vendor's is needed.

Those that need one are in ``tests/real/test_scenarios.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from barry_cli.bags.manifest import read_bag
from barry_cli.hook.install import install
from barry_cli.policy.compile import compile_policy
from barry_cli.policy.schema import parse_bound
from barry_cli.registry.shipped import shipped_ids, shipped_path
from tests.toy import Barry, says, write_harness

HARNESSES = [name for name in shipped_ids() if name != "demo"]
COMMANDS = {
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "pi": "pi",
    "qwen": "qwen",
}

# Says its version as each of them would, and writes down with what it was started.
DUMPING = """#!/usr/bin/python3 -I
import json, os, sys
if "--version" in sys.argv:
    print("codex-cli 0.171.0")
    sys.exit()
with open(os.environ["CODEX_HOME"] + "/dump.json", "w") as file:
    json.dump(dict(os.environ), file)
"""


@pytest.mark.parametrize(
    "line",
    ["yarn test", "command yarn x", "env A=1 yarn", "sh -c 'yarn i'", "/usr/bin/yarn"],
)
def test_p07_a_denied_program_is_denied_however_it_is_called(barry: Barry, line: str) -> None:
    bound = barry.top / "bound.toml"
    bound.write_text('[bash]\ndenyPrograms = ["yarn"]\n')
    ask = ("bound", "check", "--bound", str(bound), "--json", "--command")
    told = barry.run(*ask, line)
    assert (told.code, told.json["verdict"]["outcome"]) == (1, "denied"), told
    assert barry.run(*ask, "echo yarn").code == 0


@pytest.mark.parametrize("line", ["git log -p > src/a.py", "git log | tee src/a.py"])
def test_p08_a_write_by_a_shell_is_a_write(barry: Barry, line: str) -> None:
    bound = barry.top / "bound.toml"
    bound.write_text('[files]\ndeny = ["src/**"]\n')
    for named in (str(bound), "read-only"):
        told = barry.run("bound", "explain", "--bound", named, "--json", "--command", line)
        assert told.code == 1
        assert "src/a.py" in json.dumps(told.json)
    verdict = barry.run("bound", "check", "--bound", str(bound), "--json", "--command", line)
    assert verdict.json["verdict"]["field"].startswith("files.")
    assert barry.run("bound", "check", "--bound", str(bound), "--", "git", "log", "-p").code == 0


def test_p21_only_what_is_listed_passes(barry: Barry) -> None:
    barry.install_shipped("codex")
    write_harness(barry.bin / "codex", DUMPING)
    home = barry.top / "codex home"
    home.mkdir()
    given = {
        "CODEX_HOME": str(home),
        "ANTHROPIC_API_KEY": "made-up-anthropic",
        "OPENAI_API_KEY": "made-up-openai",
        "AWS_SECRET_ACCESS_KEY": "made-up-aws",
        "CLAUDECODE": "1",
        "CODEX_THREAD_ID": "a thread",
    }
    plan = barry.run("session", "launch", "codex", "--dry-run", "--json", env=given)
    assert plan.code == 0, plan.err
    told = plan.json["plan"]["environment"]
    dropped = {"ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "CLAUDECODE", "CODEX_THREAD_ID"}
    assert dropped <= set(told["dropped"])
    assert "OPENAI_API_KEY" in told["kept"]
    assert "made-up-openai" not in plan.out
    child = barry.open("session", "launch", "codex", env=given)
    assert barry.ended(child) == 0
    seen = json.loads((home / "dump.json").read_text())
    assert set(seen) - {"LC_CTYPE"} == set(told["kept"]) - {"LC_CTYPE"}
    assert not dropped & set(seen)


@pytest.mark.parametrize("harness", HARNESSES)
def test_p23_without_a_terminal_it_is_refused_at_once(barry: Barry, harness: str) -> None:
    barry.install_shipped(harness)
    write_harness(barry.bin / COMMANDS[harness], "#!/bin/sh\ntouch started\n")
    done = barry.run("session", "launch", harness)
    says(done, 2, "needs a terminal", f"barry session start {harness}")
    assert done.out == ""
    assert "\x1b" not in done.err
    assert not (barry.work / "started").exists()


def test_p30_the_doctor_finds_names_parses_and_gives_up(barry: Barry) -> None:
    home = Path(barry.env["HOME"])
    shim = '#!/bin/sh\necho "warning: 9.9.9 is out" >&2\necho 0.61.0\n'
    nvm = write_harness(home / ".nvm" / "versions" / "node" / "v20.1.0" / "bin" / "claude",
                        '#!/bin/sh\necho "2.1.332 (Claude Code)"\n')  # fmt: skip
    write_harness(barry.bin / "gemini", shim)
    plain = write_harness(barry.bin / "qwen", "#!/bin/sh\necho 0.15.10\n")
    plain.chmod(0o644)
    write_harness(barry.bin / "pi", "#!/bin/sh\nsleep 600\n")
    for name in ("claude", "gemini", "qwen", "pi"):
        barry.install_shipped(name)
    began = time.monotonic()
    done = barry.run("doctor", "--json")
    took = time.monotonic() - began
    found = {(row["group"], row["name"]): row for row in done.json["findings"]}
    assert str(nvm) in found["claude", "program"]["text"]
    assert "0.61.0" in found["gemini", "version"]["text"]
    assert "9.9.9" not in found["gemini", "version"]["text"]
    assert "not executable" in json.dumps(found["qwen", "program"])
    assert "chmod +x" in found["qwen", "program"]["fix"]
    hung = found["pi", "version"]
    assert hung["status"] != "ok"
    # All at once: the one that hangs holds up no other.
    alone = time.monotonic()
    barry.run("adapter", "doctor", "pi")
    assert took < 3 * (time.monotonic() - alone)


def test_p30_a_launch_that_fails_says_what_the_program_said(barry: Barry) -> None:
    barry.install_shipped("gemini")
    write_harness(barry.bin / "gemini", '#!/bin/sh\necho "no library libthing" >&2\nexit 9\n')
    done = barry.refused("session", "launch", "gemini")
    assert done.code == 126
    assert "no library libthing" in done.err
    assert not os.path.exists(barry.work / "started")


HOOKED = ["claude", "codex", "gemini", "qwen"]
DENIALS = {
    "claude": lambda said: said["hookSpecificOutput"]["permissionDecision"],
    "codex": lambda said: said["hookSpecificOutput"]["permissionDecision"],
    "gemini": lambda said: said["decision"],
    "qwen": lambda said: said["hookSpecificOutput"]["permissionDecision"],
}


@pytest.mark.parametrize("harness", HOOKED)
def test_p04_a_denial_is_one_document_in_the_harness_own_form(tmp_path: Path, harness: str) -> None:
    (package,) = Path(str(shipped_path(harness))).glob("barry_adapter_*")
    bag = read_bag(package)
    (form,) = (each for each in bag.formats.values() if each.kind == "before-tool")
    shell = next(name for name, row in bag.tools.items() if row.kind == "shell")
    called = next((own for own, tool in form.names.items() if tool == shell), shell)
    field = bag.tools[shell].field
    policy = compile_policy(
        parse_bound({"bash": {"denyPrograms": ["touch"]}}),
        root=str(tmp_path), harness=harness, tools=bag.tools, floor=(),
    )  # fmt: skip
    hook = install(tmp_path / "hook", policy, bag.formats.values())
    for command, denied in (("touch x", True), ("true", False)):
        given = {field if isinstance(field, str) else (field or ("",))[0]: command}
        values: dict[str, object] = {
            "event": form.event, "tool": called, "input": given, "cwd": str(tmp_path),
            "call": "c", "session": "s", "transcript": "", "prompt": "",
        }  # fmt: skip
        event: dict[str, object] = {}
        for part, path in form.paths.items():
            assert "." not in path
            event[path] = values[part]
        done = subprocess.run(
            ["/bin/sh", "-c", hook.ruling.command], input=json.dumps(event),
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        if not denied:
            assert done.stdout == ""
            continue
        said, end = json.JSONDecoder().raw_decode(done.stdout)
        assert done.stdout[end:].strip() == ""
        assert DENIALS[harness](said) == "deny"
        inner = said.get("hookSpecificOutput")
        assert inner is None or inner["hookEventName"] == form.event
        assert "touch" in done.stdout
