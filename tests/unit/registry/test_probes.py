from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from barry_cli.base.files import lock
from barry_cli.base.paths import Folders, folders
from barry_cli.contract.requirements import Binary, Install, Pin
from barry_cli.registry.probes import Probe, Question, probe, probe_many
from tests.conftest import AsNobody

ENV = {"PATH": "/usr/bin:/bin", "TOOL_KEY": "made-up-secret"}


def binary(pattern: str = r"tool (\d+\.\d+)", *args: str) -> Binary:
    return Binary(
        command="tool",
        version_args=args or ("--version",),
        version_pattern=pattern,
        pin=Pin(version="1", enforced_by="nothing"),
        install=Install(),
    )


def program(folder: Path, text: str, name: str = "tool") -> str:
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def script(folder: Path, body: str, name: str = "tool") -> str:
    return program(folder, f"#!/bin/sh\n{body}\n", name)


@pytest.fixture
def place() -> Folders:
    return folders()


def ask(path: str, place: Folders, pattern: str = r"tool (\d+\.\d+)", seconds: float = 5) -> Probe:
    return probe(binary(pattern), path, ENV, seconds=seconds, folders=place)


@pytest.mark.parametrize(
    ("body", "version"),
    [
        ("echo tool 1.2", "1.2"),
        ("echo tool 9.9 is out >&2; echo tool 1.2", "1.2"),
        ("echo warning: no config; echo tool 1.2", "1.2"),
        ("echo tool 1.2 >&2", "1.2"),
        ("head -c 300000 /dev/zero >&2; echo tool 1.2", "1.2"),
        ("echo tool 1.2; head -c 300000 /dev/zero", "1.2"),
        (r"printf '\377\376 tool 1.2'", "1.2"),
        ('[ "$1" = --version ] && echo tool 1.2', "1.2"),
        ('[ "$(id -un)$TOOL_KEY" ] && [ -z "$HOME" ] && echo tool 1.2', "1.2"),
    ],
)
def test_a_version(tmp_path: Path, place: Folders, body: str, version: str) -> None:
    answer = ask(script(tmp_path, body), place)
    assert (answer.version, answer.why_not, answer.cached) == (version, None, False)


@pytest.mark.parametrize(
    ("body", "why_not"),
    [
        ("exit 0", "printed nothing"),
        ("echo hello", "gave an answer without a version: hello"),
        ("echo hello; echo tool 1.2 >&2", "gave an answer without a version: hello"),
        ("echo tool 1.2; exit 3", "ended with exit status 3: tool 1.2"),
        ("echo tool 1.2; echo no licence >&2; exit 3", "ended with exit status 3: no licence"),
        ("exit 3", "ended with exit status 3"),
        ("kill -SEGV $$", "was ended by signal 11 (SIGSEGV)"),
        (r"printf '\033[2Ja\nb\tc'", "gave an answer without a version: [2Ja b c"),
        ("echo key $TOOL_KEY", "gave an answer without a version: key ********"),
        ("echo key $TOOL_KEY >&2; exit 1", "ended with exit status 1: key ********"),
        ("exec node-of-somebody-else", "ended with exit status 127: "),
    ],
)
def test_no_version(tmp_path: Path, place: Folders, body: str, why_not: str) -> None:
    answer = ask(script(tmp_path, body), place)
    assert answer.version is None
    assert answer.why_not is not None
    assert answer.why_not.startswith(why_not)
    assert len(answer.why_not) < 200
    assert not place.probes.exists()


@pytest.mark.parametrize("pattern", ["tool", r"tool (x)?", r"tool ()"])
def test_a_pattern_that_gives_no_version(tmp_path: Path, place: Folders, pattern: str) -> None:
    assert ask(script(tmp_path, "echo tool 1.2"), place, pattern).version is None


def test_what_cannot_be_started(tmp_path: Path, place: Folders) -> None:
    wrong = {
        program(tmp_path, "\x7fELF of another machine", "other"): "is no program for this machine",
        program(tmp_path, "#!/not/there\n", "lost"): "the interpreter that it names",
        str(tmp_path / "gone"): "is no longer there",
        str(tmp_path): "permission denied",
    }
    for path, why in wrong.items():
        assert why in (ask(path, place).why_not or "")
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\necho tool 1.2\n")
    assert ask(str(plain), place).why_not == "may not be run: permission denied"
    plain.chmod(0o755)
    assert ask(str(plain), place).version == "1.2"


def test_a_program_that_hangs_is_cut_and_leaves_nothing(tmp_path: Path, place: Folders) -> None:
    pids = tmp_path / "pids"
    path = script(
        tmp_path, f"trap '' TERM; (sleep 60 & echo $! >{pids}; echo $$ >>{pids}; wait); sleep 60"
    )
    began = time.monotonic()
    assert ask(path, place, seconds=0.5).why_not == "not answered in 0.5 s"
    assert time.monotonic() - began < 5
    for pid in pids.read_text().split():
        assert not Path("/proc", pid).exists()


def test_an_answer_is_kept_for_that_build_only(tmp_path: Path, place: Folders) -> None:
    path = script(tmp_path, "echo tool 1.2")
    first, second = ask(path, place), ask(path, place)
    assert (first.version, first.cached) == ("1.2", False)
    assert (second.version, second.cached) == ("1.2", True)

    link = tmp_path / "link"
    link.symlink_to(path)
    assert ask(str(link), place).cached  # the same build by another name
    assert not ask(path, place, r"(\d+)").cached
    other = binary(r"tool (\d+\.\d+)", "-v")
    assert not probe(other, path, ENV, folders=place).cached

    before = os.stat(path)
    script(tmp_path, "echo tool 1.3")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = os.stat(path)
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
    assert ask(path, place).version == "1.3"
    assert ask(path, place).cached

    fresh = script(tmp_path, "echo tool 1.4", "fresh")
    Path(fresh).replace(path)
    assert ask(path, place).version == "1.4"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[1]",
        '{"schema": 0}',
        '{"schema": "1", "probes": {}}',
        '{"schema": 1, "probes": []}',
        "[" * 100_000,
        "\udcff",
    ],
)
def test_a_damaged_cache_is_replaced(tmp_path: Path, place: Folders, text: str) -> None:
    place.cache.mkdir(parents=True)
    place.probes.write_bytes(text.encode("utf-8", "surrogateescape"))
    path = script(tmp_path, "echo tool 1.2")
    assert not ask(path, place).cached
    assert ask(path, place).cached


@pytest.mark.parametrize(
    "entry", [None, 7, {}, {"stamp": 1}, {"version": 7}, {"version": ""}, {"version": ["1.2"]}]
)
def test_a_damaged_entry_is_replaced(tmp_path: Path, place: Folders, entry: object) -> None:
    path = script(tmp_path, "echo tool 1.2")
    ask(path, place)
    kept = json.loads(place.probes.read_text())
    (key,) = kept["probes"]
    if isinstance(entry, dict) and entry.keys() == {"version"}:
        entry = {**kept["probes"][key], **entry}
    kept["probes"][key] = entry
    place.probes.write_text(json.dumps(kept))
    again = ask(path, place)
    assert (again.version, again.cached) == ("1.2", False)
    assert ask(path, place).cached


def test_a_newer_cache_is_left_alone(tmp_path: Path, place: Folders) -> None:
    place.cache.mkdir(parents=True)
    place.probes.write_text('{"schema": 2}')
    path = script(tmp_path, "echo tool 1.2")
    assert ask(path, place).version == ask(path, place).version == "1.2"
    assert place.probes.read_text() == '{"schema": 2}'


def test_a_cache_that_is_in_use_delays_nobody_for_long(tmp_path: Path, place: Folders) -> None:
    began = time.monotonic()
    with lock(place.probes):
        assert ask(script(tmp_path, "echo tool 1.2"), place).version == "1.2"
    assert time.monotonic() - began < 4
    assert not place.probes.exists()


def test_a_cache_that_may_not_be_read_or_written(
    open_folder: Path, as_nobody: AsNobody, place: Folders
) -> None:
    private = open_folder / "private"
    private.mkdir(mode=0o700)
    theirs = Folders(*(private / name for name in ("config", "data", "state", "cache", "run")))
    path = script(open_folder, "echo tool 1.2")
    ask(path, place)  # so that all is imported before the child gives up its rights

    def look() -> tuple[bool, str | None]:
        from barry_cli.registry import probes

        stamp = probes._stamp(path)
        assert stamp is not None
        probes._remember(binary(), path, stamp, "1.2", theirs)
        known = probes._known(binary(), path, theirs, 0.0)
        return os.access(private, os.X_OK), None if known is None else known.version

    assert as_nobody(look) == (False, None)
    private.chmod(0o777)
    assert as_nobody(look) == (True, "1.2")


def test_two_at_once_lose_no_answer(tmp_path: Path, place: Folders) -> None:
    paths = [script(tmp_path, f"echo tool 1.{n}", f"tool{n}") for n in range(12)]

    async def run() -> dict[str, Probe]:
        questions = [Question(path, binary(), path, ENV) for path in paths]
        return {name: answer async for name, answer in probe_many(questions, folders=place)}

    answers = asyncio.run(run())
    assert [answers[path].version for path in paths] == [f"1.{n}" for n in range(12)]
    assert all(ask(path, place).cached for path in paths)


def test_many_are_asked_side_by_side_and_come_as_they_answer(
    tmp_path: Path, place: Folders
) -> None:
    slow = [script(tmp_path, "sleep 60", f"slow{n}") for n in range(4)]
    quick = script(tmp_path, "echo tool 1.2", "quick")
    lost = str(tmp_path / "lost")

    async def run() -> list[tuple[str, Probe]]:
        questions = [Question(path, binary(), path, ENV) for path in (*slow, lost, quick)]
        return [each async for each in probe_many(questions, seconds=1.5, folders=place)]

    began = time.monotonic()
    answers = asyncio.run(run())
    assert time.monotonic() - began < 5
    assert {name for name, _ in answers[:2]} == {quick, lost}
    assert {answer.why_not for _, answer in answers[2:]} == {"not answered in 1.5 s"}


def test_leaving_early_ends_what_runs(tmp_path: Path, place: Folders) -> None:
    pid = tmp_path / "pid"
    slow = script(tmp_path, f"echo $$ >{pid}; sleep 60", "slow")
    quick = script(tmp_path, f"while [ ! -s {pid} ]; do sleep 0.05; done; echo tool 1.2", "quick")

    async def run() -> str | None:
        questions = [Question(path, binary(), path, ENV) for path in (slow, quick)]
        answers = probe_many(questions, seconds=30, folders=place)
        async for _, answer in answers:
            await answers.aclose()
            return answer.version
        return None

    began = time.monotonic()
    assert asyncio.run(run()) == "1.2"
    assert time.monotonic() - began < 10
    assert not Path("/proc", pid.read_text().strip()).exists()


def test_a_kept_answer_costs_few_imports(tmp_path: Path, place: Folders) -> None:
    path = script(tmp_path, "echo tool 1.2")
    ask(path, place)
    code = (
        "import sys\n"
        "from barry_cli.base.paths import folders\n"
        "from barry_cli.contract.requirements import Binary, Install, Pin\n"
        "from barry_cli.registry.probes import probe\n"
        "binary = Binary(command='tool', version_args=('--version',),"
        " version_pattern=r'tool (\\d+\\.\\d+)', pin=Pin(version='1', enforced_by='nothing'),"
        " install=Install())\n"
        f"print(probe(binary, {path!r}, {{}}, folders=folders()).cached)\n"
        "print(*sorted({'asyncio', 'subprocess'} & sys.modules.keys()))\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert said.stdout.split("\n")[:2] == ["True", ""]


@pytest.mark.parametrize(
    "pattern", [r"^(\d+\.\d+)", r"^(\d+\.\d+)$", r"(?m)^(\d+\.\d+)$", r"(\d+\.\d+)$"]
)
def test_an_anchored_pattern_is_tried_on_each_line(
    tmp_path: Path, place: Folders, pattern: str
) -> None:
    path = script(tmp_path, "echo warning: 7.7 is old; echo 1.2; echo bye")
    assert ask(path, place, pattern).version == "1.2"


def test_who_waits_is_told_and_who_does_not_is_not(tmp_path: Path, place: Folders) -> None:
    told: list[str] = []
    slow = script(tmp_path, "sleep 1.5; echo tool 1.2", "slow")
    quick = script(tmp_path, "echo tool 1.2", "quick")
    for path in (slow, quick, slow):  # the last answer is known by then
        assert probe(binary(), path, ENV, folders=place, waiting=told.append).version == "1.2"
    assert told == [f"asking {slow} for its version ..."]
