"""What an adapter's code does to the process reaches neither the harness nor Barry."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from barry_cli.groundwork.surroundings import as_found
from tests.toy import Barry, eventually


class Code(str):
    """An expression that stands in the package's source as it is: it runs at the import."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


CHANGES = """
import os, signal
os.chdir("/")
os.umask(0)
os.environ.clear()
for number in (1, 2, 15):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [10])
"""
# Only in a launch: a package that does so while it is checked is not even added.
DEAF = Code(
    "[__import__('signal').signal(number, 1) for number in (1, 2, 15)"
    " if 'launch' in __import__('sys').argv] and ()"
)
AFTERWARDS = {"importing": {"warnings": DEAF}, "planning": {"planning": CHANGES}}


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


@pytest.mark.parametrize("spec", AFTERWARDS.values(), ids=AFTERWARDS)
@pytest.mark.parametrize("more", [(), ("--supervise",)])
def test_the_harness_starts_as_from_a_shell(
    barry: Barry, spec: dict[str, object], more: tuple[str, ...]
) -> None:
    barry.install(**spec)
    child = barry.launch("--env", "MINE", *more, env={"MINE": "1"})
    started = barry.started()
    found = status(started["pid"])
    # What Python ignores itself is 0x1001000 (PIPE, XFSZ): the toy is Python, too. Signals 32 and
    # 33 are the C library's own: whoever starts the tests may have left them ignored.
    assert int(found["SigIgn"], 16) & 0x7FFFFFFF == 0x1001000
    assert int(found["SigBlk"], 16) == 0
    assert int(found["Umask"], 8) == int(status(os.getpid())["Umask"], 8)
    assert started["cwd"] == str(barry.work)
    assert started["env"]["MINE"] == "1"
    assert barry.row().cwd == str(barry.work)
    child.kill(signal.SIGTERM)
    assert barry.ended(child) == (143 if more else -signal.SIGTERM)


def test_barry_can_be_interrupted_after_the_code_was_loaded(barry: Barry) -> None:
    barry.install(
        warnings=DEAF, planning="import time; print('<planning>', flush=True); time.sleep(60)"
    )
    child = barry.open("session", "launch", "toy")
    child.expect("<planning>")
    child.sendintr()
    assert barry.ended(child) == 130


def test_what_looks_for_the_conversation_changes_nothing(barry: Barry) -> None:
    barry.install(discover=True, discovering=CHANGES)
    child = barry.launch("--", "gentle")
    child.sendline("name talk-1")
    child.expect_exact("<name done>")
    assert eventually(lambda: barry.row().harness_session_id == "talk-1")
    child.kill(signal.SIGTERM)
    assert barry.ended(child) == 143
    assert barry.row().state == "ended"


def change(folder: Path) -> None:
    os.chdir(folder)
    os.umask(0)
    os.environ["MORE"] = "1"
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    raise RuntimeError


def test_all_is_put_back_when_it_fails(tmp_path: Path) -> None:
    here, mask = os.getcwd(), os.umask(0o027)
    handler = signal.getsignal(signal.SIGTERM)
    variables = dict(os.environ)
    try:
        with pytest.raises(RuntimeError), as_found():
            change(tmp_path)
        assert os.umask(0o027) == 0o027
        assert (os.getcwd(), signal.getsignal(signal.SIGTERM)) == (here, handler)
        assert signal.SIGUSR1 not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
        assert dict(os.environ) == variables
    finally:
        os.umask(mask)
