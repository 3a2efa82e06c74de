"""Barry's end of what runs inside a harness: notices come out of it, texts and questions go in.

All of it lives in the desk's loop, apart from ``notices``, which a plan may call before there is
one.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Protocol
from weakref import WeakSet

from barry_cli.contract.instrument import Notice

WAITING_NOTICES = 10_000
"""How many notices wait for one reader. Of more, the oldest are lost to it."""

GIVING_SECONDS = 5.0
"""How long a hook that took a text may take to say that it has written it."""


TOGETHER_LETTERS = 256 * 1024
"""How much one hook is given at most, unless a single text is more: harnesses cut what is long."""


class Wire(Protocol):
    """A connection to something inside the harness."""

    async def send(self, document: Mapping[str, Any]) -> bool:
        """Write one line; False when nobody is there any more."""
        ...


class Asking:
    """One hook that waits for what is to be said to the agent, until it is closed."""

    def __init__(self, notice: Notice | None = None) -> None:
        """``notice``: what the hook told of."""
        self.notice = notice
        self._texts: list[tuple[str, asyncio.Future[bool]]] = []
        self.closed = asyncio.Event()
        """Nothing more will be said to it."""

    def take(self, text: str) -> asyncio.Future[bool]:
        """Say this, too. The result: whether the hook wrote it; OSError where nobody knows."""
        said: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._texts.append((text, said))
        return said

    def has_room(self, text: str) -> bool:
        """Whether this can be said along with the others."""
        return not self._texts or len(self.text) + len(text) <= TOGETHER_LETTERS

    @property
    def text(self) -> str:
        """All that is to be said to it."""
        return "\n\n".join(text for text, _ in self._texts)

    def settle(self, written: bool) -> None:
        """The hook wrote it, or surely did not."""
        for _, said in self._texts:
            if not said.done():
                said.set_result(written)

    def lost(self) -> None:
        """The hook had it, and was gone before it said what it did with it."""
        for _, said in self._texts:
            if not said.done():
                said.set_exception(
                    OSError("the harness's hook took it and never said that it was passed on")
                )


class _Reader:
    """The notices from one moment on, for one reader."""

    def __init__(self) -> None:
        self._waiting: deque[Notice] = deque(maxlen=WAITING_NOTICES)
        self._woken = asyncio.Event()
        self._over = False

    def put(self, notice: Notice) -> None:
        self._waiting.append(notice)
        self._woken.set()

    def end(self) -> None:
        self._over = True
        self._woken.set()

    def __aiter__(self) -> AsyncIterator[Notice]:
        return self

    async def __anext__(self) -> Notice:
        while not self._waiting:
            if self._over:
                raise StopAsyncIteration
            self._woken.clear()
            await self._woken.wait()
        return self._waiting.popleft()


class Within:
    """What an adapter's inbox works with: ``barry_cli.contract.instrument.Inside``."""

    def __init__(self) -> None:
        self._readers: WeakSet[_Reader] = WeakSet()
        self._asking: list[Asking] = []
        self._line: Wire | None = None
        self._numbers = itertools.count(1)
        self._answers: dict[int, tuple[Wire, asyncio.Future[Mapping[str, Any] | None]]] = {}
        self.taken = asyncio.Event()
        """A hook was given a text, and is kept for more."""

    # --- for the adapter ---

    def notices(self) -> AsyncIterator[Notice]:
        """Every notice from now on, in order."""
        reader = _Reader()
        self._readers.add(reader)
        return reader

    async def hand(self, text: str, *, fits: Callable[[Notice], bool] | None = None) -> bool:
        """Give a text to a hook that asks at this moment, and told of what fits.

        Raises OSError when it took the text and nobody knows what became of it.
        """
        for asking in self._asking:
            told = asking.notice
            if asking.closed.is_set() or not asking.has_room(text):
                continue
            if fits is None or (told is not None and fits(told)):
                said = asking.take(text)
                self.taken.set()
                return await said
        return False

    async def ask(
        self, frame: Mapping[str, object], *, seconds: float = 5
    ) -> Mapping[str, Any] | None:
        """Ask the plugin that holds a line; None when there is none, or no answer in time."""
        line = self._line
        if line is None:
            return None
        number = next(self._numbers)
        answered: asyncio.Future[Mapping[str, Any] | None]
        answered = asyncio.get_running_loop().create_future()
        self._answers[number] = (line, answered)
        try:
            async with asyncio.timeout(seconds):
                asked = {"type": "ask", "id": number, "frame": dict(frame)}
                return await answered if await line.send(asked) else None
        except TimeoutError:
            return None
        finally:
            del self._answers[number]

    # --- for the desk ---

    def tell(self, notice: Notice) -> None:
        """Pass a notice on to every reader."""
        for reader in self._readers:
            reader.put(notice)

    @property
    def asks(self) -> bool:
        """Whether a hook waits for a text."""
        return any(not asking.closed.is_set() for asking in self._asking)

    def begin(self, asking: Asking) -> None:
        self._asking.append(asking)

    def end(self, asking: Asking) -> None:
        self._asking.remove(asking)

    def no_more(self) -> None:
        """Nothing more is to be said to the hooks that ask."""
        for asking in self._asking:
            asking.closed.set()

    def holds(self, line: Wire) -> None:
        """A plugin holds this line from now on."""
        self._line = line

    @property
    def has_line(self) -> bool:
        return self._line is not None

    def answer(self, line: Wire, number: object, answer: Mapping[str, Any]) -> None:
        """What a plugin answered on its line."""
        asked = self._answers.get(number) if isinstance(number, int) else None
        if asked is not None and asked[0] is line and not asked[1].done():
            asked[1].set_result(answer)

    def drops(self, line: Wire) -> None:
        """A line is gone: what was asked on it is not answered any more."""
        if self._line is line:
            self._line = None
        for asked, answered in self._answers.values():
            if asked is line and not answered.done():
                answered.set_result(None)

    def close(self) -> None:
        """The harness has ended."""
        self.no_more()
        for reader in self._readers:
            reader.end()
