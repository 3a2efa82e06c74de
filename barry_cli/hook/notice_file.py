"""The one file that the notice hook works from: the harness's events, and whom it tells of them."""

import marshal
import posix

from barry_cli.hook.answer import Answer
from barry_cli.hook.event import Unreadable, read_all
from barry_cli.hook.policy_file import fingerprint

BYTES = 1 << 20
"""The largest file that is read."""

_KIND = "barry-hook-notices-1"


class Told:
    """One event of the harness's. `paths`: part -> the keys that lead to it. `message`: how a text
    is given back, None where this event takes none.
    """

    __slots__ = ("event", "kind", "message", "paths")

    def __init__(
        self,
        event: str,
        kind: str,
        paths: "dict[str, tuple[str, ...]]",
        message: "Answer | None",
    ) -> None:
        self.event = event
        self.kind = kind
        self.paths = paths
        self.message = message


class Notices:
    """What such a file holds. `listener`: the session's socket, its key and the session's id."""

    __slots__ = ("formats", "listener")

    def __init__(self, formats: "tuple[Told, ...]", listener: "tuple[str, str, str]") -> None:
        self.formats = formats
        self.listener = listener


def pack(held: Notices) -> bytes:
    """The file's content."""
    formats = tuple((each.event, each.kind, each.paths, each.message) for each in held.formats)
    return marshal.dumps((_KIND, formats, held.listener))


def read_notices(path: str, expected: str) -> Notices:
    """What a file holds that must have this fingerprint. Raises Unreadable."""
    try:
        data = read_all(posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC), BYTES)
    except OSError as error:
        raise Unreadable(error.strerror or "it can't be read") from None
    if fingerprint(data) != expected:
        raise Unreadable("it isn't the file that the session was started with")
    try:
        kind, formats, listener = marshal.loads(data)  # noqa: S302 - it is what we wrote
        if kind == _KIND:
            return Notices(tuple(Told(*each) for each in formats), listener)
    except (EOFError, TypeError, ValueError):
        pass
    raise Unreadable("it holds no events that this Barry can read")
