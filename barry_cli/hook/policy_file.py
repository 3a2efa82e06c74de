"""The one file that a hook rules by: the compiled bound, the harness's formats, whom to tell.

The command that calls the hook carries the file's fingerprint, so that no other file is obeyed.
"""

import marshal
import posix

from barry_cli.hook.event import Unreadable, read_all

BYTES = 64 << 20
"""The largest policy that is read."""

_KIND = "barry-hook-policy-1"


class HookPolicy:
    """What a policy file holds.

    `policy`: the compiled bound. `formats`: per event its name, kind, where its parts are and how
    each answer is written. `listener`: the session's socket, its token and the session's id, or
    None when nobody wants to be told.
    """

    __slots__ = ("formats", "listener", "policy")

    def __init__(
        self,
        policy: object,
        formats: "tuple[Format, ...]",
        listener: "tuple[str, str, str] | None",
    ) -> None:
        self.policy = policy
        self.formats = formats
        self.listener = listener


class Format:
    """One event of the harness's. `paths`: part -> the keys that lead to it. `answers`: by name."""

    __slots__ = ("answers", "event", "paths")

    def __init__(
        self,
        event: str,
        paths: "dict[str, tuple[str, ...]]",
        answers: "dict[str, tuple[tuple[str, ...], bool, tuple[str, ...], int]]",
    ) -> None:
        self.event = event
        self.paths = paths
        self.answers = answers


def fingerprint(data: bytes) -> str:
    """What tells this file from every other one."""
    from _blake2 import blake2b

    return blake2b(data, digest_size=32).hexdigest()


def pack(held: HookPolicy) -> bytes:
    """The file's content. Raises ValueError for what can't be written as plain data."""
    formats = tuple((each.event, each.paths, each.answers) for each in held.formats)
    return marshal.dumps((_KIND, held.policy, formats, held.listener))


def unpack(data: bytes) -> HookPolicy:
    """The content of a file whose fingerprint was looked at. Raises Unreadable."""
    try:
        kind, policy, formats, listener = marshal.loads(data)
        if kind == _KIND:
            return HookPolicy(policy, tuple(Format(*each) for each in formats), listener)
    except (ValueError, TypeError, EOFError):
        pass
    raise Unreadable("it isn't a policy that this Barry wrote")


def load(path: str, expected: str) -> HookPolicy:
    """The policy in a file. Raises Unreadable."""
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
        data = read_all(descriptor, BYTES)
    except OSError as error:
        raise Unreadable(error.strerror or "it can't be read") from None
    if fingerprint(data) != expected:
        raise Unreadable("it isn't the file that the session was started with")
    return unpack(data)
