"""Start: by file path, isolated, quick, standard library only, one sentence when refused."""

import ast
import os
import shutil
import subprocess
import sys
import time

import pytest


def test_version(demo):
    done = demo.run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, "demo-harness 1.0.0\n", "")
    assert demo.run("--model", "echo", "--version").stdout == "demo-harness 1.0.0\n"


def test_version_from_any_directory_with_hostile_modules(demo):
    for name in ("json", "harness", "argparse", "wire", "os"):
        (demo.cwd / f"{name}.py").write_text("raise SystemExit('hijacked')")
    done = demo.run("-p", "hello")
    assert (done.returncode, done.stdout) == (0, "demo heard: hello\n")


def test_runs_without_isolation_too(demo):
    command = [sys.executable, *demo.command[3:], "-p", "hello"]
    done = subprocess.run(
        command, cwd=demo.cwd, env=demo.env, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout) == (0, "demo heard: hello\n")


def test_only_the_standard_library_is_imported(package):
    files = sorted((package / "harness").glob("*.py"))
    assert len(files) > 10
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names, (file, name)


def test_start_is_quick(demo):
    """Against a bare interpreter, run in turns: the machine may be busy."""
    silent = demo.script(("",))
    commands = {
        "bare": [sys.executable, "-I", "-S", "-c", "pass"],
        "version": [*demo.command, "--version"],
        "turn": [*demo.command, "-p", "x", "--script", silent],
    }
    seconds = {name: [] for name in commands}
    for _ in range(11):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(
                command, cwd=demo.cwd, env=demo.env, timeout=30, check=True,
                stdin=subprocess.DEVNULL, capture_output=True,
            )  # fmt: skip
            seconds[name].append(time.perf_counter() - start)
    best = {name: min(found) for name, found in seconds.items()}
    print({name: f"{found * 1000:.0f} ms" for name, found in best.items()})
    assert best["version"] < 6 * best["bare"]
    assert best["turn"] < 20 * best["bare"]


def test_help_documents_environment_and_bends(demo):
    text = demo.run("--help").stdout
    for name in ("BARRY_DEMO_HOME", "BARRY_DEMO_SCRIPT", "BARRY_DEMO_BEND", "NO_COLOR", "TERM"):
        assert name in text
    for name in ("ignore-deny", "no-transcript", "leave-raw", "ignore-term", "wrong-id"):
        assert f"{name}:" in text


def test_every_environment_name_that_is_read_is_documented(demo, package):
    text = demo.run("--help").stdout
    for file in (package / "harness").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "get"
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id in ("env", "environ")
            ):
                assert node.args[0].value in text


def test_models(demo):
    done = demo.run("--list-models")
    assert (done.returncode, done.stdout) == (0, "echo\nshout\n")


BAD = [
    (["--bogus"], "unrecognized arguments: --bogus"),
    (["-p"], "-p needs a prompt"),
    (["-p", " "], "the prompt is empty"),
    (["-p", "x", "--model", "gpt"], "no model 'gpt'"),
    (["-p", "x", "--session-id", "../../x"], "is not a UUID"),
    (["-p", "x", "--session-id", ""], "is not a UUID"),
    (["-p", "x", "--resume", "a", "--last"], "do not go together"),
    (["-p", "x", "--pick"], "--pick needs a terminal"),
    (["-p", "x", "--deny", "Bash"], "no tool 'Bash'"),
    (["-p", "x", "--tools", "shell,nope"], "no tool 'nope'"),
    (["-p", "x", "--allow", "mcp__"], "no tool 'mcp__'"),
    (["-p", "x", "--bend", "spoons"], "no bend 'spoons'"),
    (["-p", "x", "--add-dir", "/nowhere"], "/nowhere is not a directory"),
    (["-p", "x", "--plugin-dir", "/nowhere"], "/nowhere is not a directory"),
    (["-p", "x", "--settings", "/nowhere"], "cannot read settings /nowhere: No such file"),
    (["-p", "x", "--mcp-config", "/nowhere"], "cannot read mcp config /nowhere"),
    (["-p", "x", "--script", "/nowhere"], "cannot read script /nowhere"),
    (["--output", "ndjson"], "--output goes with -p"),
    (["-"], "goes with -p"),
    (["--acp", "-p", "x"], "--acp takes its prompts"),
    (["--acp", "--last"], "--acp takes its prompts"),
    ([], "there is no terminal; use -p PROMPT or --acp"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[" ".join(each[0]) for each in BAD])
def test_refused_with_one_sentence_and_2(demo, arguments, words):
    done = demo.run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("demo: ")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert demo.transcripts() == []


def test_no_terminal_writes_no_escape_codes(demo):
    done = demo.run("--resume", "x")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_files(demo, closed):
    """No other file takes their number: what we write must not land in it."""
    flags = ["-p", "write a b", "--allow", "write"]
    command = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *demo.command, *flags]
    done = subprocess.run(command, cwd=demo.cwd, env=demo.env, timeout=30, check=False)
    assert done.returncode == 0
    assert (demo.cwd / "a").read_text() == "b"
    assert [each["type"] for each in demo.recorded()] == [
        "meta", "user", "tool_use", "tool_result", "assistant", "usage",
    ]  # fmt: skip


def test_nothing_beside_the_harness_takes_a_module_s_place(demo, package):
    copy = demo.base / "package"
    shutil.copytree(package / "harness", copy / "harness")
    for name in ("json", "argparse", "select"):
        (copy / f"{name}.py").write_text("raise SystemExit('taken')")
    demo.command[-1:] = [str(copy / "harness" / "main.py")]
    assert demo.run("-p", "hello").stdout == "demo heard: hello\n"


def test_cwd_that_is_gone(demo):
    gone = demo.cwd / "gone"
    gone.mkdir()
    command = ["/bin/sh", "-c", 'rmdir ../gone && exec "$@"', "sh", *demo.command, "-p", "x"]
    done = subprocess.run(
        command, cwd=gone, env=demo.env, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "demo: cannot tell the working directory: No such file or directory\n"


def test_reader_of_the_answer_is_gone(demo):
    read, write = os.pipe()
    os.close(read)
    child = subprocess.Popen(
        [*demo.command, "-p", "hello"],
        cwd=demo.cwd,
        env=demo.env,
        stdin=subprocess.DEVNULL,
        stdout=write,
        stderr=subprocess.PIPE,
    )
    os.close(write)
    _, errors = child.communicate(timeout=30)
    assert (child.returncode, errors) == (1, b"")
