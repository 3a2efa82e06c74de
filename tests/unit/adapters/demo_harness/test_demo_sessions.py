"""Conversations: ids, transcripts, resuming."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import uuid

import pytest

ONE = "11111111-2222-4333-8444-555555555555"


def test_transcript(demo):
    demo.events("run echo hi", "--allow", "shell", "--session-id", ONE, "--system-prompt", "S")
    (path,) = demo.transcripts()
    assert path.name == f"{ONE}.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    events = demo.recorded()
    assert [each["type"] for each in events] == [
        "meta", "user", "tool_use", "tool_result", "assistant", "usage",
    ]  # fmt: skip
    assert all(each["time"].endswith("Z") for each in events)
    assert events[0]["session_id"] == ONE
    assert (events[0]["cwd"], events[0]["system"]) == (str(demo.cwd), "S")
    assert events[1]["text"] == "run echo hi"
    assert events[2]["input"] == {"command": "echo hi"}
    assert (events[3]["id"], events[3]["output"]) == (events[2]["id"], "hi\n")


def test_home_without_the_variable(demo):
    del demo.env["BARRY_DEMO_HOME"]
    demo.run("-p", "x")
    assert len(list((demo.base / ".barry-demo").glob("projects/*/*.jsonl"))) == 1


def test_written_as_it_happens(demo, wait_for):
    script = demo.script(("", {"text": "a"}, {"hang": True}))
    child = demo.popen("-p", "x", "--script", script)
    wait_for(lambda: demo.transcripts() and demo.recorded()[-1]["type"] == "assistant")
    child.kill()


def test_reserved_id_is_used_once(demo):
    assert demo.events("x", "--session-id", ONE.upper())[0]["session_id"] == ONE
    done = demo.run("-p", "y", "--session-id", ONE)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"demo: session id {ONE} is already in use\n"
    other = demo.base / "other"
    other.mkdir()
    assert demo.run("-p", "y", "--session-id", ONE, cwd=other).returncode == 1
    assert len(demo.recorded()) == 4


def test_reserved_id_is_used_up_by_a_failed_turn(demo):
    script = demo.script(("", {"error": "no"}))
    assert demo.run("-p", "x", "--session-id", ONE, "--script", script).returncode == 1
    assert "already in use" in demo.run("-p", "y", "--session-id", ONE).stderr
    assert demo.run("-p", "recall", "--resume", ONE).stdout == "before this you said: x\n"


def test_two_at_once_with_one_id(demo):
    children = [demo.popen("-p", "x", "--session-id", ONE) for _ in range(4)]
    statuses = sorted([child.communicate(timeout=20) and child.returncode for child in children])
    assert statuses == [0, 1, 1, 1]
    assert [each["type"] for each in demo.recorded()].count("user") == 1


def test_resume_keeps_the_id_and_the_history(demo):
    demo.run("-p", "the first", "--session-id", ONE)
    events = demo.events("recall", "--resume", ONE)
    assert (events[0]["session_id"], events[0]["resumed"]) == (ONE, True)
    assert events[-1]["text"] == "before this you said: the first"
    assert [each["text"] for each in demo.recorded() if each["type"] == "user"] == [
        "the first", "recall",
    ]  # fmt: skip


@pytest.mark.parametrize("name", [ONE, "x", "../../../../etc/passwd", "--last"])
def test_unknown_conversation(demo, name):
    demo.run("-p", "x")
    done = demo.run("-p", "x", f"--resume={name}")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"demo: no conversation with id {name} in {demo.cwd}\n"


def test_conversations_belong_to_their_directory(demo):
    demo.run("-p", "x", "--session-id", ONE)
    other = demo.base / "other"
    other.mkdir()
    assert demo.run("-p", "x", "--resume", ONE, cwd=other).returncode == 1
    assert demo.run("-p", "x", "--last", cwd=other).stderr == f"demo: no conversation in {other}\n"


def test_directories_with_like_names_do_not_share(demo):
    for name in ("a-b", "a b"):
        (demo.base / name).mkdir()
        demo.run("-p", "x", cwd=demo.base / name)
    assert len({path.parent for path in demo.transcripts()}) == 2


def test_last(demo):
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    demo.run("-p", "one", "--session-id", first)
    demo.run("-p", "two", "--session-id", second)
    assert demo.run("-p", "recall", "--last").stdout == "before this you said: two\n"
    demo.run("-p", "three", "--resume", first)
    assert demo.run("-p", "recall", "--last").stdout == "before this you said: three\n"


def test_torn_line_is_left_out_and_mended(demo):
    demo.run("-p", "one", "--session-id", ONE)
    (path,) = demo.transcripts()
    with path.open("a") as file:
        file.write('{"type":"user","text":"to')
    assert demo.run("-p", "recall", "--resume", ONE).stdout == "before this you said: one\n"
    lines = path.read_text().splitlines()
    assert sum(1 for line in lines if not line.endswith("}")) == 1
    assert json.loads(lines[-1])["type"] == "usage"


@pytest.mark.parametrize("mode", [0o555, 0o777])
def test_transcript_that_cannot_be_written(demo, package, mode):
    """Nothing is done that is not written down. Root ignores modes, so another user runs this."""
    with tempfile.TemporaryDirectory() as base:  # Not below tmp_path: only its owner may enter.
        os.chmod(base, 0o755)
        home, cwd = f"{base}/home", f"{base}/work"
        for path, mode_ in ((home, mode), (cwd, 0o777)):
            os.mkdir(path)
            os.chmod(path, mode_)
        child = subprocess.run(
            [sys.executable, "-I", "-c", _AS_NOBODY, str(package), str(int(mode == 0o777)),
             "-p", "write made x", "--allow", "write"],
            cwd=cwd, env={**demo.env, "BARRY_DEMO_HOME": home}, capture_output=True,
            text=True, timeout=30, check=False,
        )  # fmt: skip
        if mode == 0o777:  # The counter-case.
            assert (child.returncode, child.stderr) == (0, "")
            assert os.path.exists(f"{cwd}/made")
            return
        assert child.returncode == 1
        assert child.stderr.startswith(f"demo: cannot write the transcript {home}/projects/")
        assert child.stderr.endswith(".jsonl: Permission denied\n")
        assert child.stderr.count("\n") == 1
        assert not os.path.exists(f"{cwd}/made")


_AS_NOBODY = """
import hashlib, os, sys  # All that is needed is loaded before: the interpreter may be out of reach.
sys.path.insert(0, sys.argv[1])
import harness.headless, harness.main, harness.options
harness.options.parse(["-p", "x"], {})
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    os.mkdir(os.environ["BARRY_DEMO_HOME"] + "/probe")
    works = "1"
except PermissionError:
    works = "0"
assert works == sys.argv[2], "the bare operation"
sys.exit(harness.main.main(sys.argv[3:]))
"""


def test_disk_that_is_full(demo):
    command = ["/bin/sh", "-c", 'ulimit -f 1; trap "" XFSZ; exec "$@"', "sh", *demo.command]
    done = subprocess.run(
        [*command, "-p", "x" * 3000], cwd=demo.cwd, env=demo.env, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "cannot write the transcript" in done.stderr
    assert "File too large" in done.stderr
    assert done.stderr.count("\n") == 1


def test_home_that_is_a_file(demo):
    demo.env["BARRY_DEMO_HOME"] = os.devnull
    done = demo.run("-p", "x", "--session-id", ONE)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
