"""What must not start: each with its exit code, one sentence, one hint, and nothing left behind."""

from __future__ import annotations

import json
import os
import resource
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.problems import UsageProblem
from barry_cli.groundwork.asked import check_text
from barry_cli.groundwork.request import LaunchRequest
from tests.toy import Barry, alive, eventually, identity_of, read, says, write_harness, written

LAUNCH = ("session", "launch")


def refused(barry: Barry, code: int, *parts: str, words: tuple[str, ...], **more: Any) -> None:
    """Assert the refusal of a launch in a terminal, and that ``--json`` tells the same."""
    with barry.leaves_nothing():
        says(barry.refused(*LAUNCH, *words, **more), code, *parts)
        plain = barry.run(*LAUNCH, *words, "--dry-run", "--json", **more)
    assert plain.code == code, plain
    assert plain.out == ""
    assert set(plain.error) == {"code", "message", "hint", "details"}
    for part in parts:
        assert part in f"{plain.error['message']} {plain.error['hint']}"


@pytest.mark.parametrize(
    ("words", "code", "parts"),
    [
        (("nope",), 127, ("nope", "barry adapter list")),
        (("tyo",), 127, ("tyo", "did you mean toy?")),
        (("oldty",), 127, ("oldty", "did you mean oldtoy?")),
        (("claude",), 127, ("no adapter named claude", "`barry adapter add claude`")),
        (("cluade",), 127, ("did you mean claude?", "`barry adapter add claude`")),
        (("toy", "--mode", "instrumented"), 2, ("no instrumented mode", "it offers: guest")),
        (("toy", "--mode", "hosted"), 2, ("hosted", "guest or instrumented")),
        (("toy", "--mode", "ghost"), 2, ("no mode ghost", "guest, instrumented")),
        (("toy", "--option", 'theme="blue"'), 2, ("theme", "dark, light")),
        (("toy", "--option", "depth=1.5"), 2, ("depth", "integer")),
        (("toy", "--option", "colour=1"), 2, ("colour",)),
        (("toy", "--option", "theme=dark"), 2, ("theme", "not JSON", '"..."')),
        (("toy", "--option", "theme"), 2, ("KEY=JSON",)),
        (("toy", "--option", f"theme={'[' * 100_000}"), 2, ("theme",)),
        (("toy", "--option", "depth=NaN"), 2, ("NaN",)),
        (("toy", "--cwd", "/nowhere"), 2, ("/nowhere", "does not exist")),
        (("toy", "--cwd", "/etc/passwd"), 2, ("/etc/passwd is not a folder",)),
        (("",), 2, ("the id of the adapter is empty", "barry adapter list")),
        (("toy", "--option", "depth=1", "--option", "depth=2"), 2, ("depth is given twice",)),
        (("toy", "--option", 'depth={"a": 1, "a": 2}'), 2, ("depth", "the key a twice")),
        (("toy", "--require", "steer=false", "--require", "steer=true"), 2, ("steer", "twice")),
        (("toy", "--option", 'theme="\\ud800"'), 2, ("--option theme", "not UTF-8")),
        (("toy", "--option", 'theme=[{"a\\u0000": 1}]'), 2, ("--option theme", "NUL")),
        (("toy", "--cwd", ""), 2, ("--cwd is empty",)),
        (("toy", "--root", "/nowhere"), 2, ("--root /nowhere", "not a folder")),
        (("toy", "--plugin-dir", "/etc/passwd"), 2, ("--plugin-dir /etc/passwd",)),
        (("toy", "--env", "NAME=value"), 2, ("NAME comes with a value", "export")),
        (("toy", "--env", "*"), 2, ("one variable", "config.toml")),
        (("toy", "--env", ""), 2, ("one variable",)),
        (("toy", "--deny-tool", "Shel"), 2, ("no tool named Shel", "did you mean Shell?")),
        (("toy", "--deny-tool", "xyz"), 2, ("no tool named xyz", "Shell, Read")),
        (("toy", "--require", "gating=per-call"), 2, ("gating static", "per-call is required")),
        (("toy", "--require", "steer=true"), 2, ("steer false", "true is required")),
        (("toy", "--require", "gating=most"), 2, ("no level most", "static")),
        (("toy", "--require", "speed=9"), 2, ("no guarantee speed", "capture")),
        (("toy", "--require", "gating"), 2, ("GUARANTEE=LEVEL",)),
        (("toy", "--model", "big"), 2, ("vendor/model", "toyco/MODEL")),
        (("toy", "--model", "nobody/big"), 2, ("where nobody's models are reached",)),
        (("toy", "--model", "failing/big"), 2, ("failing's models", "KeyError")),
        (("toy", "--resume", "gone", "--last"), 2, ("--resume, --last and --pick",)),
        (("toy", "--resume", "no such/thing"), 2, ("no id", "barry session list")),
        (("toy", "--resume", "lost-one"), 2, ("no record of conversation lost-one",)),
        (("toy", "extra"), 2, ("extra",)),
        (("toy", "--nope"), 2, ("--nope",)),
        (("toy", "--dry-rum"), 2, ("--dry-run",)),
    ],
    ids=lambda value: "-".join(value)[:30] if isinstance(value, tuple) else None,
)
def test_what_is_asked_for_can_not_be(
    barry: Barry, words: tuple[str, ...], code: int, parts: tuple[str, ...]
) -> None:
    refused(barry, code, *parts, words=words)


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--option", 'x\udce9="dark"'),
        ("--option", 'theme="\udce9"'),
        ("--root", "/tmp/caf\udce9"),
        ("--plugin-dir", "/tmp/caf\udce9"),
        ("--model", "toyco/\udce9"),
    ],
)
def test_bytes_that_are_no_text(barry: Barry, flag: str, value: str) -> None:
    words = (*LAUNCH, "toy", "--dry-run", flag, value)
    says(barry.run(*words), 2, flag, "not UTF-8", "leave that character out")
    assert flag in barry.run(*words, "--json").error["message"]


def test_the_harnesses_own_arguments_may_be_any_bytes(barry: Barry) -> None:
    """As names of files are; what is no argument at all is refused before a plan is made."""
    line = 'exec "$@" -- "$(printf "caf\\351")"'
    launch = (sys.executable, "-m", "barry_cli", *LAUNCH, "toy")
    child = barry.open("-c", line, "sh", *launch, program=("/bin/sh",))
    child.expect("<ready")
    assert barry.started()["argv"][1:] == ["caf\udce9"]
    child.sendline("quit")
    assert barry.ended(child) == 0
    request = LaunchRequest(adapter="toy", extra_args=("a\0b",))
    with pytest.raises(UsageProblem, match="an argument after -- holds a NUL"):
        check_text(request)


def test_two_that_begin_alike(barry: Barry) -> None:
    barry.install(id="toying", aliases=())
    barry.install(id="toyed", aliases=())
    refused(barry, 127, "to could be any of toy, toying, toyed", "more of the id", words=("to",))


def test_nothing_with_a_terminal_ui(barry: Barry) -> None:
    barry.install(id="machine", modes=("hosted",), aliases=())
    refused(barry, 2, "no mode with a terminal UI", words=("machine",))


def test_an_adapter_without_options(barry: Barry) -> None:
    barry.install(options=False)
    refused(barry, 2, "takes no options", words=("toy", "--option", "depth=1"))


def test_two_keys_of_which_one_counts(barry: Barry) -> None:
    env = {"TOY_KEY": "made-up-key", "TOY_TOKEN": "made-up-token"}
    refused(barry, 2, "TOY_KEY and TOY_TOKEN are both set", "unset", words=("toy",), env=env)
    # One alone, or one of them empty, is fine.
    assert barry.run(*LAUNCH, "toy", "--dry-run", env={"TOY_KEY": "made-up-key"}).code == 0
    both = {"TOY_KEY": "made-up-key", "TOY_TOKEN": ""}
    assert barry.run(*LAUNCH, "toy", "--dry-run", env=both).code == 0


def test_no_terminal(barry: Barry) -> None:
    with barry.leaves_nothing():
        done = barry.run(*LAUNCH, "toy")
    says(done, 2, "needs a terminal", "run it in a terminal")
    assert "session start" not in done.err  # nobody drives a toy
    assert "\x1b" not in done.err + done.out


def test_a_platform_that_it_does_not_run_on(barry: Barry) -> None:
    rows = json.loads(barry.folders.registry.read_text())
    assert rows["adapters"][0]["requirements"].get("platforms") is None
    barry.install(platforms=("darwin",))
    plan = barry.run(*LAUNCH, "toy", "--dry-run", "--json").json["plan"]
    assert plan["guaranteesUnverified"] is True  # not shown here, but not refused


# --- the program ---


def test_it_is_missing(barry: Barry) -> None:
    (barry.bin / "toy").unlink()
    refused(barry, 127, "toy is not on this machine", "make one", words=("toy",))


def test_it_is_not_executable(barry: Barry) -> None:
    (barry.bin / "toy").chmod(0o644)
    refused(barry, 126, str(barry.bin / "toy"), "not executable", words=("toy",))


def foreign_elf() -> bytes:
    """An executable for a machine (s390, 64 bits, big-endian) that this one is not."""
    ident = b"\x7fELF" + bytes([2, 2, 1]) + bytes(9)
    return (
        ident + struct.pack(">HHIQQQIHHHHHH", 2, 22, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0) + bytes(64)
    )


def test_it_is_for_another_machine(barry: Barry) -> None:
    (barry.bin / "toy").write_bytes(foreign_elf())
    refused(barry, 126, str(barry.bin / "toy"), "another architecture", words=("toy",))


def test_it_hangs_when_asked_for_its_version(barry: Barry) -> None:
    write_harness(barry.bin / "toy", f"#!/bin/sh\necho $$ > {barry.top}/asked\nexec sleep 300\n")
    with barry.leaves_nothing():
        says(barry.refused(*LAUNCH, "toy"), 126, "not answered in", "barry adapter doctor toy")
    assert not alive(int((barry.top / "asked").read_text()))


def test_it_fails_when_asked_for_its_version(barry: Barry) -> None:
    write_harness(barry.bin / "toy", "#!/bin/sh\necho no node here >&2\nexit 3\n")
    refused(barry, 126, "exit status 3", "no node here", words=("toy",))


def test_it_warns_before_it_says_its_version(barry: Barry) -> None:
    script = "#!/bin/sh\necho 9.9.9 is out >&2\necho warning: old node\necho toy 1.2.3\n"
    write_harness(barry.bin / "toy", script)
    plan = barry.run(*LAUNCH, "toy", "--dry-run", "--json").json["plan"]
    assert plan["binary"]["version"] == "1.2.3"
    assert plan["guaranteesUnverified"] is False


def test_it_is_another_build(barry: Barry) -> None:
    write_harness(barry.bin / "toy", version="2.0.0")
    refused(
        barry, 126, "build 2.0.0", "verified on 1.2.3", "--allow-unverified-build", words=("toy",)
    )
    error = barry.run(*LAUNCH, "toy", "--dry-run", "--json").error
    assert error["code"] == "harness-version-mismatch"
    assert error["details"]["observed"] == "2.0.0"


def test_another_build_may_be_allowed(barry: Barry) -> None:
    write_harness(barry.bin / "toy", version="2.0.0")
    child = barry.launch("--allow-unverified-build")
    child.sendline("quit 3")
    assert barry.ended(child) == 3
    assert barry.row().unverified
    assert barry.row().harness_version == "2.0.0"


def test_a_near_build_is_unverified(barry: Barry) -> None:
    write_harness(barry.bin / "toy", version="1.9.0")
    plan = barry.run(*LAUNCH, "toy", "--dry-run", "--json").json["plan"]
    assert plan["guaranteesUnverified"] is True
    says(
        barry.run(*LAUNCH, "toy", "--dry-run", "--require", "gating=static"),
        2,
        "none was shown to hold",
    )
    words = ("--require", "gating=static", "--allow-unverified-build")
    assert barry.run(*LAUNCH, "toy", "--dry-run", *words).code == 0


def test_a_build_that_says_no_version_is_unverified(barry: Barry) -> None:
    write_harness(barry.bin / "toy", "#!/bin/sh\necho hello\n")
    plan = barry.run(*LAUNCH, "toy", "--dry-run", "--json").json["plan"]
    assert plan["guaranteesUnverified"] is True
    assert any("is not known" in warning for warning in plan["warnings"])


def test_it_is_gone_when_it_is_to_start(barry: Barry) -> None:
    """The answer to --version is remembered, so only the start itself can find out."""
    for more, code in (((), 126), (("--supervise",), 126)):
        assert barry.run(*LAUNCH, "toy", "--dry-run").code == 0
        script = "#!/nowhere/at/all\n"
        write_harness(barry.bin / "toy", script)
        says(barry.refused(*LAUNCH, "toy", *more), code, str(barry.bin / "toy"))
        assert barry.sessions.all() == []
        write_harness(barry.bin / "toy")


@pytest.mark.parametrize("more", [(), ("--supervise",)])
def test_its_words_are_too_long(barry: Barry, more: tuple[str, ...]) -> None:
    barry.install(planning="draft.args.append('x' * 300_000)")
    with barry.leaves_nothing():
        says(barry.refused(*LAUNCH, "toy", *more), 126, "Argument list too long", "shorter")


# --- the folder ---


def gone(barry: Barry, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Barry from a folder that goes before it starts."""
    place = barry.top / "gone"
    place.mkdir()
    line = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    return subprocess.run(
        ["/bin/sh", "-c", line, "sh", str(place), sys.executable, "-m", "barry_cli", *words],
        env=barry.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_folder_is_gone(barry: Barry) -> None:
    with barry.leaves_nothing():
        done = gone(barry, *LAUNCH, "toy", "--dry-run")
    assert done.returncode == 2, done
    assert "the folder you are in no longer exists" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("flag", ["--cwd", "--root", "--plugin-dir"])
def test_a_relative_folder_in_one_that_is_gone(barry: Barry, flag: str) -> None:
    words = (flag, "sub") if flag == "--cwd" else ("--cwd", "/tmp", flag, "sub")
    done = gone(barry, *LAUNCH, "toy", "--dry-run", *words)
    assert done.returncode == 2, done
    assert "no longer exists" in done.stderr


def test_from_a_folder_that_is_gone_into_one_that_is_not(barry: Barry) -> None:
    assert gone(barry, *LAUNCH, "toy", "--dry-run", "--cwd", str(barry.work)).returncode == 0


def test_other_verbs_work_in_a_folder_that_is_gone(barry: Barry) -> None:
    for words in (("adapter", "list"), ("session", "list")):
        done = gone(barry, *words)
        assert (done.returncode, done.stderr) == (0, "")
        os.sync()


def test_a_folder_whose_name_is_no_text(barry: Barry) -> None:
    place = os.fsencode(barry.top) + b"/caf\xe9"
    os.mkdir(place)
    says(barry.refused(*LAUNCH, "toy", cwd=Path(os.fsdecode(place))), 2, "not UTF-8")
    assert barry.sessions.all() == []


# --- Barry's own files ---


def test_the_registry_is_damaged(barry: Barry) -> None:
    barry.folders.registry.write_text("{")
    before = read(barry.folders.registry)
    says(barry.refused(*LAUNCH, "toy"), 125, "adapters.json", "mv ")
    assert read(barry.folders.registry) == before


def test_the_package_has_changed(barry: Barry) -> None:
    (row,) = json.loads(barry.folders.registry.read_text())["adapters"]
    row["contentHash"] = "0" * 64
    row["contentStamp"] = ""
    barry.folders.registry.write_text(json.dumps({"schema": 1, "adapters": [row]}))
    refused(barry, 2, "not those that were checked", "barry adapter add", words=("toy",))


def test_the_package_is_gone(barry: Barry) -> None:
    (row,) = json.loads(barry.folders.registry.read_text())["adapters"]
    row["path"] = str(barry.top / "nowhere")
    barry.folders.registry.write_text(json.dumps({"schema": 1, "adapters": [row]}))
    refused(barry, 127, "its package is gone", "barry adapter remove toy", words=("toy",))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[env\n", ("is not TOML",)),
        ("[evn]\npass = []\n", ("evn", "did you mean env?")),
        ("[env]\npas = []\n", ("pas", "did you mean pass?")),
        ("[env]\npass = 'HOME'\n", ("env.pass is not a list",)),
        ("env = 1\n", ("[env] is not a table",)),
        ("\x00", ("is not TOML",)),
    ],
)
def test_the_settings_are_wrong(barry: Barry, text: str, parts: tuple[str, ...]) -> None:
    barry.folders.settings.parent.mkdir(parents=True)
    barry.folders.settings.write_text(text)
    refused(barry, 125, "config.toml", *parts, words=("toy",))
    assert barry.folders.settings.read_text() == text


def test_the_settings_are_no_text(barry: Barry) -> None:
    barry.folders.settings.parent.mkdir(parents=True)
    barry.folders.settings.write_bytes(b"\xff\xfe")
    refused(barry, 125, "config.toml", "is not TOML", words=("toy",))
    barry.folders.settings.unlink()
    barry.folders.settings.mkdir()
    refused(barry, 125, "config.toml", "can't be read", words=("toy",))


@pytest.mark.parametrize(
    "content", [b"not a database at all", b"SQLite format 3\0" + b"\xff" * 900]
)
def test_the_database_is_none(barry: Barry, content: bytes) -> None:
    path = barry.folders.database
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    says(barry.refused(*LAUNCH, "toy"), 125, "barry.db", "mv ")
    assert path.read_bytes() == content
    assert not barry.note.exists()
    assert barry.litter() == []


@pytest.mark.parametrize("spec", [{}, {"tmp_dirs": True}])
def test_the_disk_is_full(barry: Barry, small_disk: Path, spec: dict[str, Any]) -> None:
    if not os.path.ismount(small_disk):
        assert os.getuid() != 0
        return
    barry.install(**spec)
    # Enough for the folder of a plan, not for a database.
    (small_disk / "filling").write_bytes(bytes(992 << 10))
    says(barry.refused(*LAUNCH, "toy"), 125, "barry.db", "free some disk space")
    assert not barry.note.exists()
    assert barry.litter() == []
    (small_disk / "filling").unlink()
    child = barry.launch()
    child.sendline("quit")
    assert barry.ended(child) == 0
    assert len(barry.sessions.all()) == 1


def test_a_file_may_not_grow(barry: Barry) -> None:
    """The same, for who may mount nothing: a limit on how large a file gets."""
    barry.run("session", "launch", "toy", "--dry-run")  # its version is remembered
    line = (
        "import resource, os, sys;"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (1000, {resource.RLIM_INFINITY}));"
        "os.execv(sys.executable, [sys.executable, '-m', 'barry_cli', *sys.argv[1:]])"
    )
    child = barry.open("-c", line, *LAUNCH, "toy", program=(sys.executable,))
    assert barry.ended(child) == 125
    assert "barry.db" in written(child)
    assert not barry.note.exists()


# --- interrupted ---


def test_an_interrupt_while_it_is_prepared(barry: Barry) -> None:
    write_harness(barry.bin / "toy", f"#!/bin/sh\necho $$ > {barry.top}/asked\nexec sleep 300\n")
    with barry.leaves_nothing():
        child = barry.open(*LAUNCH, "toy")
        assert eventually((barry.top / "asked").exists, 20)
        child.sendintr()
        assert barry.ended(child) == 130
        assert "Traceback" not in written(child)
        assert eventually(lambda: not alive(int((barry.top / "asked").read_text())))


def test_an_interrupt_while_a_plan_is_made(barry: Barry) -> None:
    barry.install(
        tmp_dirs=True,
        planning="import time; print('<planning>', flush=True); time.sleep(60)",
    )
    with barry.leaves_nothing():
        child = barry.open(*LAUNCH, "toy")
        child.expect("<planning>")
        child.sendintr()
        assert barry.ended(child) == 130
        assert "Traceback" not in written(child)


def test_an_interrupt_while_barry_starts(barry: Barry) -> None:
    """Whenever it comes: 130, or the signal itself while Python is not up yet."""
    for _ in range(6):
        child = barry.open("adapter", "list", "--json")
        identity_of(child.pid)
        os.kill(child.pid, 0)
        eventually(lambda: False, 0.03 * (_ + 1))
        child.kill(signal.SIGINT)
        code = barry.ended(child)
        assert code in (0, 130, -signal.SIGINT, 1)
        if code != 1:  # 1: Python itself was interrupted before it had read Barry's first line
            assert "Traceback" not in written(child)
