"""The one file that a hook rules by: a compiled policy, with the harness's formats beside it.

The command that calls the hook carries the file's fingerprint, so that no other file is obeyed.
"""

import marshal
import posix

from barry_cli.hook.answer import Answer
from barry_cli.hook.event import Unreadable, read_all
from barry_cli.policy.ruling.policy import Policy, dump, load

BYTES = 64 << 20
"""The largest policy that is read."""

_KIND = "barry-hook-policy-1"


class Format:
    """One event of the harness's. `paths`: part -> the keys that lead to it. `answers`: by name.
    `names`: what the event calls a tool -> its name in the policy's tool table.
    """

    __slots__ = ("answers", "event", "names", "paths")

    def __init__(
        self,
        event: str,
        paths: "dict[str, tuple[str, ...]]",
        answers: "dict[str, Answer]",
        names: "dict[str, str]",
    ) -> None:
        self.event = event
        self.paths = paths
        self.answers = answers
        self.names = names


class HookPolicy:
    """What a policy file holds.

    `listener`: the session's socket, its token and the session's id, or None when nobody wants to
    be told.
    """

    __slots__ = ("formats", "listener", "policy")

    def __init__(
        self,
        policy: Policy,
        formats: "tuple[Format, ...]",
        listener: "tuple[str, str, str] | None",
    ) -> None:
        self.policy = policy
        self.formats = formats
        self.listener = listener


def pack(held: HookPolicy) -> bytes:
    """The file's content."""
    formats = tuple((each.event, each.paths, each.answers, each.names) for each in held.formats)
    return marshal.dumps((_KIND, dump(held.policy), formats, held.listener))


def fingerprint(data: bytes) -> str:
    """What tells this content from every other one."""
    from _blake2 import blake2b

    return blake2b(data, digest_size=16).hexdigest()


def read_policy(path: str, expected: str) -> HookPolicy:
    """The policy in a file that must have this fingerprint. Raises Unreadable."""
    try:
        data = read_all(posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC), BYTES)
    except OSError as error:
        raise Unreadable(error.strerror or "it can't be read") from None
    if fingerprint(data) != expected:
        raise Unreadable("it isn't the file that the session was started with")
    try:
        kind, policy, formats, listener = marshal.loads(data)  # noqa: S302 - it is what we wrote
        if kind == _KIND:
            return HookPolicy(load(policy), tuple(Format(*each) for each in formats), listener)
    except (EOFError, TypeError, ValueError):
        pass
    raise Unreadable("it isn't a hook's policy that this Barry can read")
