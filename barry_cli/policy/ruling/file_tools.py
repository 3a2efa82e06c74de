"""Tools that read or write files by their paths, and those that take a patch."""

from barry_cli.policy.ruling.matching import every_match, first_match
from barry_cli.policy.ruling.operands import HOLE
from barry_cli.policy.ruling.paths import exists, expand, spots
from barry_cli.policy.ruling.patterns import Pattern, could_match
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.tool_names import files_rule
from barry_cli.policy.ruling.verdict import Verdict, allowed
from barry_cli.policy.ruling.wording import denied

WILD = frozenset("*?[{")
VERBS = {"read": "reads", "write": "writes", "patch": "changes"}


def path_verdict(policy: Policy, path: str, kind: str, cwd: str) -> Verdict:
    """Whether a file may be read or written. `path` may be a glob that a tool expands."""
    home = policy.home
    span = (0, len(path))
    places = spots(path, cwd, home)
    globs = not WILD.isdisjoint(path) and not exists(expand(path, cwd, home))
    what = f"{VERBS[kind]} {path or 'a file without a name'}"
    for field, patterns in (("floor", policy.floor), ("files.deny", policy.files_deny)):
        if field == "floor" and kind == "read":
            continue
        rule = first_match(patterns, places)
        if rule is not None:
            return denied(field, rule, what, path, span)
        if globs:
            rule = _globbed(patterns, expand(path, cwd, home))
            if rule is not None:
                return denied(field, rule, what, path, span, "it may stand for that file")
    only_read = files_rule(policy.denied_access) if kind != "read" else ""
    if only_read:
        return denied("deniedAccess", only_read, what, path, span)
    wanted = policy.files_allow
    if wanted is None:
        return allowed(path)
    if globs:
        start = expand(path, cwd, home)
        while not WILD.isdisjoint(start):
            start = start.rpartition("/")[0]
        places = spots(f"{start}/\1/\1", cwd, home)
    if path and every_match(wanted, places) is not None:
        return allowed(path)
    rule = ", ".join(dict.fromkeys(written for written, _ in wanted))
    return denied("files.allowOnly", rule, what, path, span)


def patch_verdict(policy: Policy, text: str, kind: str, cwd: str) -> Verdict:
    """Whether every file that a patch names may be written."""
    from barry_cli.policy.ruling.patches import patch_paths

    named = patch_paths(text)
    if not named:
        return denied(
            "", "", "a patch", text, (0, len(text)), "the files that it changes can't be seen"
        )
    wanted = policy.files_allow
    stripped: dict[tuple[int, int], list[Verdict]] = {}
    for path, start, end in named:
        verdict = path_verdict(policy, path, kind, cwd)
        verdict.text, verdict.span = text, (start, end)
        if not verdict.allowed and (wanted is None or verdict.field != "files.allowOnly"):
            return verdict
        stripped.setdefault((start, end), []).append(verdict)
    for verdicts in stripped.values():
        # With or without its first folder: one of the two has to be allowed.
        if not any(verdict.allowed for verdict in verdicts):
            return verdicts[-1]
    return allowed(text)


def _globbed(patterns: tuple[Pattern, ...], path: str) -> str | None:
    word = tuple(_holed(segment) for segment in path.split("/") if segment)
    for written, segments in patterns:
        if could_match(segments, word, True) or could_match(segments, (HOLE, *word[-1:]), False):
            return written
    return None


def _holed(segment: str) -> str:
    text = ""
    for char in segment:
        if char in "*?[]{}":
            text += "" if text[-1:] == HOLE else HOLE
        else:
            text += char
    return text
