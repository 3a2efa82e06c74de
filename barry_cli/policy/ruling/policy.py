"""The compiled policy, and the file that holds it: plain data, nothing that runs."""

import marshal
from _blake2 import blake2b

from barry_cli.policy.ruling.patterns import Pattern
from barry_cli.policy.ruling.programs.rules import Table

VERSION = 1
_HEADER = b"barry-policy 1 "
_DIGITS = 32

Pairs = tuple[tuple[str, str], ...]

_PARTS = (
    "actions",
    "allow_domains",
    "denied_access",
    "denied_tools",
    "deny",
    "domains",
    "files_allow",
    "files_deny",
    "floor",
    "harness",
    "home",
    "implied",
    "native",
    "node",
    "programs",
    "root",
    "tools",
    "urls",
)


class PolicyUnreadable(ValueError):
    """The data is no policy of this version, is damaged, or isn't the one that was asked for."""


class Policy:
    """What one harness may do in one folder. All parts are dicts, tuples and texts.

    `harness`: its id, "" for none. `root`: the session's folder. `home`: the user's.
    `deny`: substrings of command lines. `programs`: rules on programs, and the table of them.
    `files_deny`, `floor`: patterns; those of the floor may not be written. `files_allow`: patterns,
    None: any file. `actions`: denied leaf action -> the rule that denies it. `domains`: a pattern
    as written and its canonical spelling. `allow_domains`: the same, None: any host.
    `tools`: name -> kind and the input's fields that are ruled on. `native`: denied native tool,
    case folded -> as written. `denied_tools`, `denied_access`: rules. `implied`: bare tool name,
    case folded -> the action that denies it. `urls`: bare tool name -> field that holds a URL.
    `node`: the rule and the field that deny this node's calls, or two empty texts.
    """

    __slots__ = _PARTS

    def __init__(self) -> None:
        self.actions: dict[str, str] = {}
        self.allow_domains: Pairs | None = None
        self.denied_access: tuple[str, ...] = ()
        self.denied_tools: tuple[str, ...] = ()
        self.deny: tuple[str, ...] = ()
        self.domains: Pairs = ()
        self.files_allow: tuple[Pattern, ...] | None = None
        self.files_deny: tuple[Pattern, ...] = ()
        self.floor: tuple[Pattern, ...] = ()
        self.harness = ""
        self.home = ""
        self.implied: dict[str, str] = {}
        self.native: dict[str, str] = {}
        self.node = ("", "")
        self.programs: Table = {}
        self.root = ""
        self.tools: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.urls: dict[str, str] = {}


def fingerprint(policy: Policy) -> str:
    """32 hex digits over all that the policy says."""
    return _digest(_body(policy))


def dump(policy: Policy) -> bytes:
    """The file that holds a policy."""
    body = _body(policy)
    return _HEADER + _digest(body).encode() + b"\n" + body


def load(data: bytes, expected: str = "") -> Policy:
    """The policy that a file holds. `expected`: the fingerprint that it must have.

    Raises PolicyUnreadable, with a sentence that says what is wrong.
    """
    start = len(_HEADER)
    if data[:start] != _HEADER:
        raise PolicyUnreadable("the compiled policy is none that this version of Barry can read")
    written = data[start : start + _DIGITS].decode("ascii", "replace")
    body = data[start + _DIGITS + 1 :]
    if _digest(body) != written:
        raise PolicyUnreadable("the compiled policy is damaged: its content was changed")
    if expected and written != expected:
        raise PolicyUnreadable("the compiled policy isn't the one that this session began with")
    policy = Policy()
    try:
        values = marshal.loads(body)  # noqa: S302 - the digest says that we wrote it
        if len(values) != len(_PARTS):
            raise ValueError("it has other parts")
        for name, value in zip(_PARTS, values, strict=True):
            setattr(policy, name, value)
    except (ValueError, EOFError, TypeError) as error:
        raise PolicyUnreadable(f"the compiled policy can't be read: {error}") from None
    return policy


def _body(policy: Policy) -> bytes:
    # Version 2 writes equal data as equal bytes: later ones note which objects are shared.
    return marshal.dumps(tuple([getattr(policy, name) for name in _PARTS]), 2)


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=_DIGITS // 2).hexdigest()
