"""The ruling on a command line."""

from barry_cli.policy.ruling.files import Files, Hit
from barry_cli.policy.ruling.operands import HOLE, known
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.programs.call import Found
from barry_cli.policy.ruling.programs.rules import denial
from barry_cli.policy.ruling.programs.walk import walk
from barry_cli.policy.ruling.shell.reading import read
from barry_cli.policy.ruling.shell.source import TOO_MUCH
from barry_cli.policy.ruling.tool_names import files_rule
from barry_cli.policy.ruling.verdict import Verdict, allowed
from barry_cli.policy.ruling.wording import denied

_TOUCHES = {"read": "reads", "write": "writes", "change": "changes", "touch": "names"}


def is_restricted(policy: Policy) -> bool:
    """Does any rule speak of what command lines do?"""
    return bool(policy.deny) or _refuses_unread(policy)


def _refuses_unread(policy: Policy) -> bool:
    """Is a command line that can't be read refused?"""
    some = policy.programs or policy.actions or policy.domains or policy.files_deny
    return (
        bool(some or files_rule(policy.denied_access))
        or policy.files_allow is not None
        or policy.allow_domains is not None
    )


def command_verdict(policy: Policy, text: str, folders: list[str]) -> Verdict:
    """Whether a command line may run in any of the folders.

    A plain denial goes before one for lack of certainty. The floor alone denies nothing that can't
    be read: it speaks of what is recognised.
    """
    verdict = _by_text(policy, text)
    if verdict is not None:
        return verdict
    reading = read(text)
    if reading.unparseable.endswith(TOO_MUCH) and _refuses_unread(policy):
        # Refused in any case: what all of its commands would do is not worth the time.
        reading.commands, reading.redirects, reading.loops = [], [], []
    found = walk(reading)
    unsure: Verdict | None = None
    for check in (_programs, _network, _files, _repository):
        verdict = check(policy, found, folders)
        if verdict is not None and verdict.outcome == "denied":
            return verdict
        unsure = unsure or verdict
    return unsure or allowed(text)


def _by_text(policy: Policy, text: str) -> Verdict | None:
    patterns = policy.deny
    for pattern in patterns:
        at = text.find(pattern) if pattern else -1
        if at >= 0:
            span = (at, at + len(pattern))
            return denied("bash.deny", pattern, "the command line holds it", text, span)
    return None


def _programs(policy: Policy, found: Found, folders: list[str]) -> Verdict | None:
    hit = denial(found, policy.programs)
    if hit is None:
        return None
    names = [call.name for call in hit.chain[:-1]]
    what = f"`{' '.join(filter(None, hit.rule.split(':')))}`"
    if names:
        what += f" inside {', '.join(name or 'a program' for name in names)}"
    if not hit.chain:
        what = f"it may run {what}"
    return denied("bash.denyPrograms", hit.rule, what, found.text, (hit.start, hit.end), hit.why)


def _network(policy: Policy, found: Found, folders: list[str]) -> Verdict | None:
    actions = policy.actions
    limits = bool(policy.domains) or policy.allow_domains is not None
    if not actions and not limits:
        return None
    from barry_cli.policy.ruling.domains import domain_rule
    from barry_cli.policy.ruling.traffic import Traffic
    from barry_cli.policy.ruling.url_tools import host_verdict

    traffic = Traffic(found, limits)
    for action, span in traffic.actions.items():
        if action in actions:
            return denied("network.actions", actions[action], action, found.text, span)
    unsure: Verdict | None = None
    for host, span in traffic.hosts.items() if limits else ():
        verdict = host_verdict(policy, host, found.text, span)
        if verdict is not None and verdict.outcome == "denied":
            return verdict
        unsure = unsure or verdict
    for host, span in traffic.named.items() if policy.domains else ():
        rule = domain_rule(host, policy.domains)
        if rule is not None:
            return denied("network.domains", rule, f"the host {host}", found.text, span)
    if unsure is not None or not found.unparseable:
        return unsure
    field = "network.actions" if actions else "network.domains"
    rule = next(iter(actions.values())) if actions else ""
    if not actions and not policy.domains:
        field = "network.allowDomains"
    return _unread(field, rule, found)


def _files(policy: Policy, found: Found, folders: list[str]) -> Verdict | None:
    deny, floor, wanted = policy.files_deny, policy.floor, policy.files_allow
    only_read = files_rule(policy.denied_access)
    if not deny and not floor and wanted is None and not only_read:
        return None
    unsure: Verdict | None = None
    for folder in folders:
        files = Files(found, folder, policy.home)
        for field, patterns, kinds in (
            ("floor", floor, frozenset(("write", "change", "touch"))),
            ("files.deny", deny, frozenset(_TOUCHES)),
        ):
            hit = files.denied_by(patterns, kinds) if patterns else None
            if hit is not None:
                verdict = _file(field, hit.rule, hit, found.text)
                if not hit.unsure:
                    return verdict
                unsure = unsure or verdict
        hit = files.written(only_read) if only_read else None
        if hit is not None:
            return _file("deniedAccess", only_read, hit, found.text)
        if wanted is not None:
            hit = files.not_allowed(wanted)
            if hit is not None:
                rule = ", ".join(dict.fromkeys(written for written, _ in wanted))
                verdict = _file("files.allowOnly", rule, hit, found.text)
                if not hit.unsure:
                    return verdict
                unsure = unsure or verdict
    if found.unparseable and only_read:
        return unsure or _unread("deniedAccess", only_read, found)
    if found.unparseable and (deny or wanted is not None):
        field = "files.deny" if deny else "files.allowOnly"
        return unsure or _unread(field, deny[0][0] if deny else "", found)
    return unsure


def _repository(policy: Policy, found: Found, folders: list[str]) -> Verdict | None:
    """A repository is made of files, which its program writes without being told which."""
    rule = files_rule(policy.denied_access)
    if not rule or not any(call.name in {"git", "hub"} for call in found.calls):
        return None
    from barry_cli.policy.ruling.git_changes import change

    seen = change(found)
    if seen is None:
        return None
    what = f"changes a repository ({seen.what})"
    span = (seen.call.start, seen.call.end)
    unsure = "what it does can't be known" if seen.unsure else ""
    return denied("deniedAccess", rule, what, found.text, span, unsure)


def _file(field: str, rule: str, hit: Hit, text: str) -> Verdict:
    use = hit.seen.use
    name = known(use.word).replace(HOLE, "...") if use.word is not None and not use.inside else ""
    what = f"{_TOUCHES[use.kind]} {name or 'a file'} ({use.reason})"
    unsure = hit.why if hit.unsure else ""
    return denied(field, rule, what, text, (hit.seen.start, hit.seen.end), unsure)


def _unread(field: str, rule: str, found: Found) -> Verdict:
    span = (found.start, found.end)
    return denied(field, rule, "a command line", found.text, span, found.unparseable)
