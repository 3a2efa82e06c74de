"""File patterns of a bound that are probably not what was meant."""

from __future__ import annotations

from collections.abc import Iterator

from barry_cli.policy.globs import Glob, covers, read_globs
from barry_cli.policy.schema import Bound, FilesBound

MOST_PAIRS = 10_000
"""Pairs of patterns that are compared; of longer lists nothing is said."""


def pattern_hints(bound: Bound) -> Iterator[str]:
    """One sentence for each pattern that isn't what it looks like, or contradicts another."""
    files = bound.files
    if files is None:
        return
    for field, rules in (("deny", files.deny), ("allowOnly", files.allow_only)):
        for rule in rules or ():
            if said := _form(rule):
                yield f"files.{field} {rule!r}{said}"
            elif field == "deny" and set(rule) <= set("*/") and "/" not in rule.strip("/"):
                yield f"files.{field} {rule!r} denies every file"
    yield from _contradictions(files)


def _form(rule: str) -> str:
    """How a sentence about a pattern ends; empty for one that is as it looks."""
    for home in ("$HOME/", "${HOME}/"):
        if rule.startswith(home):
            return f": variables stand for themselves here; write {'~/' + rule[len(home) :]!r}"
    if "$" in rule:
        return ": variables stand for themselves here"
    if rule.startswith("~") and rule != "~" and not rule.startswith("~/"):
        return ": only ~/ is a home here, so this is a name that begins with ~"
    if rule.startswith("!"):
        return ": nothing can be taken out again, so this is a name that begins with !"
    if "://" in rule:
        return " is a URL, which no file is called; write a path"
    if rule.startswith("#"):
        return ": this is a name that begins with #"
    if rule.count("{") != rule.count("}"):
        return ": a brace has no other half, so it stands for itself"
    if "\\" in rule and "/" not in rule and len(rule) > 2 and rule[1] == ":":
        return ": a backslash takes the meaning from what is behind it; folders end with /"
    return ""


def _contradictions(files: FilesBound) -> Iterator[str]:
    allowed = files.allow_only
    if not allowed or len(allowed) * len(files.deny or ()) > MOST_PAIRS:
        return
    denied = [glob for rule in files.deny or () for glob in _globs(rule, deny=True)]
    gone = [rule for rule in allowed if _is_within(rule, denied)]
    if len(gone) == len(allowed):
        yield "files: whatever allowOnly allows is denied by deny, so no file is left"
        return
    for rule in gone:
        yield f"files.allowOnly {rule!r} allows nothing: deny denies all of it"


def _is_within(rule: str, denied: list[Glob]) -> bool:
    return all(any(covers(wide, each) for wide in denied) for each in _globs(rule, deny=False))


def _globs(rule: str, *, deny: bool) -> list[Glob]:
    """What a pattern stands for; what denies a folder denies all in it."""
    plain = rule.rstrip("/") or rule
    at_any_depth = "/" not in rule.rstrip("/") and rule[:1] != "~"
    written = f"**/{plain}" if at_any_depth else plain.removeprefix("./")
    texts = [written, f"{written}/**"] if deny else [written]
    return [glob for text in texts for glob in read_globs(text)]
