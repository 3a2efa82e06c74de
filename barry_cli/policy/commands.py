"""The seed's functions on files and the network: what a command line does, and what denies it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

from barry_cli.contract.data import Data
from barry_cli.policy.ruling.actions import LEAVES, expand_actions
from barry_cli.policy.ruling.domains import canonical, compile_domains, domain_rule
from barry_cli.policy.ruling.file_use import WRITE
from barry_cli.policy.ruling.files import Files
from barry_cli.policy.ruling.matching import every_match, first_match
from barry_cli.policy.ruling.network import reach
from barry_cli.policy.ruling.operands import HOLE, known
from barry_cli.policy.ruling.paths import spots
from barry_cli.policy.ruling.patterns import compile_allow, compile_deny
from barry_cli.policy.ruling.programs.call import Found
from barry_cli.policy.ruling.programs.walk import walk
from barry_cli.policy.ruling.seen import Seen
from barry_cli.policy.ruling.shell.reading import Word, read
from barry_cli.policy.ruling.traffic import Traffic


class FileWriteFinding(Data):
    """That a command appears to write a file."""

    path: str | None = None
    """The file, where the command shows it."""
    reason: str
    """By what, in few words; never any content."""


class _Classified(Protocol):
    @property
    def argvs(self) -> Sequence[Sequence[str]]: ...


def classify_file_write(command: str) -> FileWriteFinding | None:
    """The first file that a command appears to write; None for most commands, and for those that
    can't be read. Never raises.
    """
    for seen in find_file_writes(command):
        word = seen.use.word
        path = word.text if word is not None and not seen.use.inside else None
        return FileWriteFinding(path=path, reason=seen.use.reason)
    return None


def find_file_writes(command: str) -> list[Seen]:
    """Every file that a command makes or overwrites, where it shows it."""
    found = walk(read(command))
    if found.unparseable and not found.calls:
        return []
    return [seen for seen in _files(found).seen if seen.use.kind == WRITE and seen.use.sure]


def find_file_reads(command: str) -> list[Seen]:
    """Every file that a command plainly reads."""
    return [seen for seen in _files(walk(read(command))).seen if _plainly_read(seen)]


def classify_network_actions(classification: _Classified, raw_command: str) -> list[str]:
    """All network actions that a command performs, as the leaves of the tree of actions.

    They are told from ``raw_command``; from the argument vectors where that is empty.
    """
    if raw_command:
        actions = set(Traffic(walk(read(raw_command)), hosts=False).actions)
    else:
        actions = set()
        for argv in classification.argvs:
            words = [Word(text, 0, 0, True) for text in argv]
            reached = reach(os.path.basename(argv[0]), words[1:]) if argv else None
            actions.update(reached.actions if reached else ())
    return [tag for tag in LEAVES if tag in actions]


def is_network_action_denied(command: str, actions: Sequence[str]) -> str | None:
    """The denied action that a command performs, as a leaf, or None.

    A command that can't be read may perform any of them: the first one is answered.
    """
    if not actions:
        return None
    denied = expand_actions(list(actions))
    found = walk(read(command))
    performed = Traffic(found, hosts=False).actions
    for tag in LEAVES:
        if tag in performed and tag in denied:
            return tag
    return actions[0] if found.unparseable else None


def extract_domains_from_command(command: str) -> list[str]:
    """The hosts that the network programs of a command reach, each once, in canonical spelling.

    A host of which only the end is known is written ``*.example.com``.
    """
    hosts = Traffic(walk(read(command))).hosts
    plain = [f"*{host[1:]}" if host[:2] == f"{HOLE}." else host for host in hosts]
    return [host for host in dict.fromkeys(plain) if HOLE not in host]


def is_domain_denied(domain: str, domains: Sequence[str]) -> str | None:
    """The first pattern that matches a host, or None. ``*.foo.com`` matches every name below."""
    return domain_rule(canonical(domain), compile_domains(list(domains), urls=True))


def is_file_denied(file_path: str, deny: Sequence[str]) -> str | None:
    """The first pattern that denies a path, or None.

    A relative path, and a pattern with a slash in it, starts at the working directory. Links are
    followed: a pattern that matches either the path or what it leads to denies it.
    """
    root, home = _here()
    places = spots(file_path, root, home) if file_path else ()
    for pattern in deny:
        if first_match(tuple(compile_deny(pattern, root, home)), places) is not None:
            return pattern
    return None


def is_file_allowed(file_path: str, allow_only: Sequence[str]) -> str | None:
    """The pattern that allows a path, or None when nothing does. Links are followed: the path and
    what it leads to must both be allowed.
    """
    root, home = _here()
    compiled = [each for pattern in allow_only for each in compile_allow(pattern, root, home)]
    return every_match(tuple(compiled), spots(file_path, root, home)) if file_path else None


def _files(found: Found) -> Files:
    return Files(found, *_here())


def _plainly_read(seen: Seen) -> bool:
    use = seen.use
    return use.kind == "read" and use.sure and use.word is not None and bool(known(use.word))


def _here() -> tuple[str, str]:
    try:
        root = os.getcwd()
    except OSError:
        root = "/"
    return root, os.path.expanduser("~")
