"""What does a command line really execute, and which files does it really create?

Each line runs with `bash -c` in a fresh folder whose PATH holds stubs alone: p0 to p9 record their
arguments, print "1" and succeed; `no` does the same and fails. Nothing else can be started by name.
Under bubblewrap, where it is installed, nothing outside that folder can be written either.
"""

import os
import shutil
import signal
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

NAMES = (*(f"p{k}" for k in range(10)), "no")

_RECORDER = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int n, char **v) {
  const char *log = "%s"; size_t len = 0; int i;
  char *base = strrchr(v[0], '/'); v[0] = base ? base + 1 : v[0];
  for (i = 0; i < n; i++) len += strlen(v[i]) + 1;
  char *r = malloc(len + 4), *p = r + 4; unsigned size = (unsigned)len;
  memcpy(r, &size, 4);
  for (i = 0; i < n; i++) { size_t k = strlen(v[i]) + 1; memcpy(p, v[i], k); p += k; }
  int fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0 || write(fd, r, len + 4) < 0) return 3;
  if (write(1, "1\n", 2) < 0) {}
  return strcmp(v[0], "no") == 0;
}
"""
# The same without a compiler.
_SCRIPT = """#!/bin/sh
{ printf '%%s\\0' "${0##*/}" "$@"; printf '\\n\\0'; } >>%s
echo 1
[ "${0##*/}" != no ]
"""


@dataclass(frozen=True)
class Run:
    """What one command line did."""

    executed: list[list[str]]
    created: set[str]
    stderr: str


class Oracle:
    """Runs command lines; a context manager that owns its folders."""

    def __init__(self, seconds: float = 10.0) -> None:
        self._seconds = seconds
        self._folder = TemporaryDirectory(prefix="oracle-")
        self._compiled = shutil.which("cc") or shutil.which("gcc")
        self._bwrap = shutil.which("bwrap")

    def __enter__(self) -> "Oracle":
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def run_all(self, commands: list[str], workers: int = 2) -> list[Run]:
        """All of them, in order."""
        slices = [commands[k::workers] for k in range(workers)]
        with ThreadPoolExecutor(workers) as pool:
            done = list(pool.map(self._run_slice, range(workers), slices))
        return [done[k % workers][k // workers] for k in range(len(commands))]

    def _run_slice(self, worker: int, commands: list[str]) -> list[Run]:
        home = Path(self._folder.name) / str(worker)
        (home / "bin").mkdir(parents=True, exist_ok=True)
        (home / "work").mkdir(exist_ok=True)
        log = home / "log"
        self._stubs(home / "bin", log)
        return [self._run(home, log, command) for command in commands]

    def _stubs(self, folder: Path, log: Path) -> None:
        stub = folder / NAMES[0]
        if self._compiled:
            source = folder.parent / "stub.c"
            source.write_text(_RECORDER % log)
            subprocess.run([self._compiled, "-O1", "-w", "-o", stub, source], check=True, timeout=60)
        else:
            stub.write_text(_SCRIPT % log)
            stub.chmod(0o755)
        for name in NAMES[1:]:
            (folder / name).unlink(missing_ok=True)
            os.link(stub, folder / name)

    def _run(self, home: Path, log: Path, command: str) -> Run:
        work = home / "work"
        log.write_bytes(b"")
        before = {"f0", "f1"}
        for name in before:
            (work / name).write_text("1\n")
        env = {"PATH": str(home / "bin"), "HOME": str(work), "LANG": "C.UTF-8"}
        bash = shutil.which("bash") or "/bin/bash"
        argv = [bash, "-c", "--", command]
        if self._bwrap:
            argv = [self._bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
            argv += ["--bind", str(home), str(home), "--unshare-net", "--die-with-parent"]
            argv += ["--", bash, "-c", "--", command]
        # Every descendant inherits the pipe: its end of file says that all of them are gone.
        read, write = os.pipe()
        child = subprocess.Popen(
            argv,
            cwd=work,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(home / "stderr").open("wb"),
            pass_fds=(write,),
            start_new_session=True,
        )
        os.close(write)
        alarm = _Alarm(child.pid, self._seconds)
        try:
            while os.read(read, 4096):
                pass
            child.wait(self._seconds)
        finally:
            alarm.cancel()
            os.close(read)
        created = set()
        for path in work.iterdir():
            if path.name not in before:
                created.add(path.name)
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        stderr = (home / "stderr").read_text("utf-8", "replace")
        return Run(self._read(log.read_bytes()), created, stderr)

    def _read(self, data: bytes) -> list[list[str]]:
        if not self._compiled:
            return [
                [word.decode("utf-8", "replace") for word in record.split(b"\0")[:-1]]
                for record in data.split(b"\036\0")[:-1]
            ]
        out: list[list[str]] = []
        at = 0
        while at + 4 <= len(data):
            (size,) = struct.unpack_from("I", data, at)
            record = data[at + 4 : at + 4 + size]
            out.append([word.decode("utf-8", "replace") for word in record.split(b"\0")[:-1]])
            at += 4 + size
        return out


class _Alarm:
    """Kills a process group that outlives its time."""

    def __init__(self, pid: int, seconds: float) -> None:
        from threading import Timer

        self._timer = Timer(seconds, self._kill, (pid,))
        self._timer.start()
        self.cancel = self._timer.cancel

    @staticmethod
    def _kill(pid: int) -> None:
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
