"""The one file that a guarded server rules by: the compiled policy, the session's folders, its
tools, and the names of the variables that its commands see.

Who starts the server gives the file's fingerprint, so that no other file is obeyed.
"""

from __future__ import annotations

import marshal
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from barry_cli.guard.problems import NotDone
from barry_cli.policy.ruling.policy import Policy, PolicyUnreadable, dump, load

BYTES = 64 << 20
"""The largest file that is read."""

_KIND = "barry-guard-policy-1"
_AGAIN = "End the session and start it again"


@dataclass(frozen=True, slots=True)
class GuardPolicy:
    """What a session's guarded tools are held to."""

    policy: Policy
    folders: tuple[str, ...]
    """What files and commands are confined to: the session's own folder first."""
    tools: tuple[str, ...]
    """The tools that are offered."""
    variables: tuple[str, ...]
    """The names of the variables that a command may see."""

    @property
    def cwd(self) -> str:
        """The session's own folder."""
        return self.folders[0]


def pack(held: GuardPolicy) -> bytes:
    """The file's content."""
    # Version 2 writes equal data as equal bytes: later ones note which objects are shared.
    return marshal.dumps((_KIND, dump(held.policy), held.folders, held.tools, held.variables), 2)


def fingerprint(data: bytes) -> str:
    """What tells this content from every other one."""
    return blake2b(data, digest_size=16).hexdigest()


def read_policy(path: str, expected: str) -> GuardPolicy:
    """What a file holds that must have this fingerprint. Raises NotDone."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(BYTES + 1)
    except OSError as error:
        raise _unusable(path, error.strerror or "it can't be read") from None
    if len(data) > BYTES or fingerprint(data) != expected:
        raise _unusable(path, "it isn't the file that the session was started with")
    try:
        kind, policy, folders, tools, variables = marshal.loads(data)  # noqa: S302 - what we wrote
        if kind == _KIND:
            return GuardPolicy(load(policy), folders, tools, variables)
    except (EOFError, TypeError, ValueError, PolicyUnreadable):
        pass
    raise _unusable(path, "it isn't a policy that this Barry can read")


def _unusable(path: str, why: str) -> NotDone:
    return NotDone(
        "Barry could not rule on this call, so it is refused: the session's policy "
        f"{path} can't be used: {why}. {_AGAIN}"
    )
