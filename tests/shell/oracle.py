"""What does a command line really execute, and which files does it really create?

Each line runs with `bash -c` in a fresh folder whose PATH holds stubs alone: p0 to p9 record their
arguments, print "1" and succeed; `no` does the same and fails. Nothing else can be started by name.
Under bubblewrap, where it is installed, nothing outside that folder can be written either.
"""

import fcntl
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

NAMES = (*(f"p{k}" for k in range(10)), "no")

_RECORDER = r"""
#include <fcntl.h>
#include <signal.h>
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
  close(fd);
  signal(SIGPIPE, SIG_IGN);
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
    """Runs command lines; a context manager that owns its folder."""

    def __init__(self, seconds: float = 3.0) -> None:
        self._seconds = seconds
        self._folder = TemporaryDirectory(prefix="oracle-")

    def __enter__(self) -> Self:
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
        home.mkdir(exist_ok=True)
        argv = [sys.executable, "-I", __file__, str(home), str(self._seconds)]
        bwrap = shutil.which("bwrap")
        if bwrap:
            argv = [
                *(bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
                *("--bind", str(home), str(home), "--unshare-net", "--die-with-parent", "--"),
                *argv,
            ]
        limit = 60 + len(commands) * self._seconds
        answer = subprocess.run(
            argv,
            input=json.dumps(commands).encode(),
            stdout=subprocess.PIPE,
            check=True,
            timeout=limit,
        ).stdout
        return [
            Run(run["executed"], set(run["created"]), run["stderr"]) for run in json.loads(answer)
        ]


class _Bench:
    """The folder in which command lines run one after the other."""

    def __init__(self, home: Path, seconds: float) -> None:
        self.log = home / "log"
        self.work = home / "work"
        self.errors = home / "stderr"
        self.seconds = seconds
        self.compiler = shutil.which("cc") or shutil.which("gcc")
        self.bash = shutil.which("bash") or "/bin/bash"
        self.env = {
            "PATH": str(home / "bin"),
            "HOME": str(self.work),
            "LANG": "C.UTF-8",
            "NAME": "HOME",
        }
        (home / "bin").mkdir(exist_ok=True)
        self.work.mkdir(exist_ok=True)
        self.make_stubs(home / "bin")

    def make_stubs(self, folder: Path) -> None:
        stub = folder / NAMES[0]
        if self.compiler:
            source = folder.parent / "stub.c"
            source.write_text(_RECORDER % self.log)
            argv = [self.compiler, "-O1", "-w", "-o", str(stub), str(source)]
            subprocess.run(argv, check=True, timeout=60, env={**os.environ, "TMPDIR": str(folder)})
        else:
            stub.write_text(_SCRIPT % self.log)
            stub.chmod(0o755)
        for name in NAMES[1:]:
            (folder / name).unlink(missing_ok=True)
            os.link(stub, folder / name)

    def run(self, command: str) -> dict[str, object]:
        self.log.write_bytes(b"")
        given = {"f0", "f1"}
        for name in given:
            (self.work / name).write_text("1\n")
        # Every descendant inherits the pipe: its end of file says that all of them are gone.
        read, low = os.pipe()
        write = fcntl.fcntl(low, fcntl.F_DUPFD, 200)  # out of the way of the line's own
        os.close(low)
        with self.errors.open("wb") as errors:
            child = subprocess.Popen(
                [self.bash, "-c", "--", command],
                cwd=self.work,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=(write,),
                start_new_session=True,
                restore_signals=False,  # a closed pipe must not end bash
            )
        os.close(write)
        ready, _, _ = select.select([read], [], [], self.seconds)
        if not ready:
            os.killpg(child.pid, signal.SIGKILL)
        os.close(read)
        child.wait(self.seconds)
        created = []
        for path in self.work.iterdir():
            if path.name not in given:
                created.append(path.name)
            path.unlink()
        return {
            "executed": self.executed(self.log.read_bytes()),
            "created": created,
            "stderr": self.errors.read_text("utf-8", "replace"),
        }

    def executed(self, data: bytes) -> list[list[str]]:
        records = []
        if not self.compiler:
            records = data.split(b"\036\0")[:-1]
        at = 0
        while self.compiler and at + 4 <= len(data):
            (size,) = struct.unpack_from("I", data, at)
            records.append(data[at + 4 : at + 4 + size])
            at += 4 + size
        return [
            [word.decode("utf-8", "replace") for word in record.split(b"\0")[:-1]]
            for record in records
        ]


def main() -> None:
    """Run the JSON list of command lines on standard input in the folder that is named."""
    bench = _Bench(Path(sys.argv[1]), float(sys.argv[2]))
    json.dump([bench.run(command) for command in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
