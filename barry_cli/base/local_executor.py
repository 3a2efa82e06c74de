"""Processes on this machine that are talked to while they run (seed 002's LocalExecutor).

The same small helper as in a bounded run stands between: it is the parent of all that the program
starts. So the whole tree is ended when the program ends, when it is told to, and when this process
dies in any way.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from barry_cli.base.bounded_run import end_group, helper_gone, start_helper
from barry_cli.base.processes import ProcessIdentity, identify, send_signal

if TYPE_CHECKING:
    import socket
    import subprocess

_CHUNK = 65536
_END_SECONDS = 6.0
"""How long the helper may take to end a tree before it is ended itself."""
_POLL_SECONDS = 0.005


class LocalExecutor:
    """Starts programs on this machine, as this user."""

    local = True

    def __init__(
        self,
        *,
        programs: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """``programs`` says where a bare name was found; others are looked for on the PATH.

        ``variables`` are set in every process, over its own.
        """
        self._programs = dict(programs or {})
        self.variables: Mapping[str, str] = dict(variables or {})

    async def start(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, open_input: bool = False
    ) -> LocalProcess:
        """Start a program; see ``contract.execution.Executor``."""
        if not argv:
            raise ValueError("a process needs a program")
        words = [self._programs.get(argv[0], argv[0]), *argv[1:]]
        return await LocalProcess.start(words, {**env, **self.variables}, cwd, open_input)


class LocalProcess:
    """One program of this machine, and all that it starts."""

    def __init__(
        self, words: Sequence[str], control: socket.socket, helper: subprocess.Popen[bytes]
    ) -> None:
        self._words = words
        self._control = control
        self._helper = helper
        self._loop = asyncio.get_running_loop()
        self._text = bytearray()
        self._reported = asyncio.Event()
        self._over = asyncio.Event()
        self._writing = asyncio.Lock()
        self._wake = asyncio.Event()
        self._ending: asyncio.Future[None] | None = None
        self._out: asyncio.StreamReader | None = None
        self._err: asyncio.StreamReader | None = None
        self._transports: list[asyncio.ReadTransport] = []
        self._program: ProcessIdentity | None = None

    @classmethod
    async def start(
        cls, words: Sequence[str], env: Mapping[str, str], cwd: str, open_input: bool
    ) -> LocalProcess:
        """Raises OSError when it can't be started."""
        process = cls(words, *start_helper(words, env, cwd, open_input=open_input))
        try:
            await process._begin(cwd)
        except BaseException:
            await process.end()
            raise
        return process

    async def _begin(self, cwd: str) -> None:
        self._control.setblocking(False)
        self._loop.add_reader(self._control.fileno(), self._read_report)
        if self._helper.stdin is not None:
            os.set_blocking(self._helper.stdin.fileno(), False)
        self._out = await self._reader(self._helper.stdout)
        self._err = await self._reader(self._helper.stderr)
        while not self._over.is_set() and "running" not in self._report():
            self._reported.clear()
            await self._reported.wait()
        report = self._report()
        if "failed" in report:
            number, what = report["failed"].split(" ")
            name = self._words[0] if what == "program" else cwd
            raise OSError(int(number), os.strerror(int(number)), name)
        if "running" not in report:
            raise OSError(f"{self._words[0]} could not be started: its helper process ended")
        self._program = identify(int(report["running"]))

    async def _reader(self, pipe: IO[bytes] | None) -> asyncio.StreamReader:
        assert pipe is not None
        reader = asyncio.StreamReader(limit=_CHUNK)
        transport, _ = await self._loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        self._transports.append(transport)
        return reader

    def _read_report(self) -> None:
        try:
            data = self._control.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._text += data
        self._reported.set()
        if not data:
            self._loop.remove_reader(self._control.fileno())
            self._over.set()
            self._wake.set()

    def _report(self) -> dict[str, str]:
        lines = self._text.decode("ascii", "replace").split("\n")[:-1]
        return {name: rest for name, _, rest in (line.partition(" ") for line in lines)}

    # --- what contract.execution.RunningProcess asks for ---

    @property
    def pid(self) -> int | None:
        """The program's number."""
        return None if self._program is None else self._program.pid

    async def read(self) -> bytes:
        """The next bytes of stdout; empty at its end."""
        return b"" if self._out is None else await self._out.read(_CHUNK)

    async def read_errors(self) -> bytes:
        """The next bytes of stderr; empty at its end."""
        return b"" if self._err is None else await self._err.read(_CHUNK)

    async def write(self, data: bytes) -> None:
        """Write all of it, one writer after the other. Raises OSError when nobody reads it."""
        async with self._writing:
            view = memoryview(data)
            while view:
                pipe = self._helper.stdin
                if pipe is None or pipe.closed:
                    raise BrokenPipeError("its stdin is closed")
                try:
                    view = view[os.write(pipe.fileno(), view) :]
                except BlockingIOError:
                    await self._writable(pipe.fileno())

    async def _writable(self, descriptor: int) -> None:
        """Wait until it takes more, is closed, or the program has ended and nobody reads it."""
        if self._over.is_set():
            raise BrokenPipeError("the program has ended")
        self._wake.clear()
        self._loop.add_writer(descriptor, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            self._loop.remove_writer(descriptor)

    def close_input(self) -> None:
        """Close stdin; a write that waits fails then."""
        if (pipe := self._helper.stdin) is not None and not pipe.closed:
            self._loop.remove_writer(pipe.fileno())
            with suppress(OSError):
                pipe.close()
            self._wake.set()

    def signal(self, number: int) -> bool:
        """Signal this very program, not a later one with its number."""
        return self._program is not None and send_signal(self._program, number)

    async def wait(self) -> int | None:
        """How the program ended, once its whole tree is gone."""
        await self._over.wait()
        ended = self._report().get("ended")
        return None if ended is None else int(ended)

    async def end(self) -> None:
        """End the whole tree. A caller that is cancelled meanwhile does not stop it."""
        self._abort()
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end())
        await asyncio.shield(self._ending)

    def _abort(self) -> None:
        import socket

        with suppress(OSError):  # The helper has already gone, or the socket is closed.
            self._control.shutdown(socket.SHUT_WR)

    async def _end(self) -> None:
        self.close_input()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._over.wait()
        except TimeoutError:
            self._helper.kill()
        report = self._report()
        if "ended" not in report and "failed" not in report:
            # The helper is dead, so what it would have ended is ours: as much as is known of it.
            end_group(report.get("group"))
        self._loop.remove_reader(self._control.fileno())
        self._over.set()
        self._control.close()
        for transport in self._transports:
            transport.close()
        deadline = time.monotonic() + _END_SECONDS
        while not helper_gone(self._helper):
            if time.monotonic() >= deadline:
                self._helper.kill()
            await asyncio.sleep(_POLL_SECONDS)
