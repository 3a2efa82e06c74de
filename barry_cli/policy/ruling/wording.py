"""The sentences of a ruling: one for a person, one for the agent. No file's content, no secret."""

from barry_cli.policy.ruling.verdict import DENIED, UNDECIDABLE, Verdict

LONGEST = 120

INSTEAD = {
    "bash.deny": "Leave out what the rule names.",
    "bash.denyPrograms": "Do not run it in any other way either.",
    "files.deny": "Leave this file alone, by every tool.",
    "files.allowOnly": "Work on the allowed files only.",
    "floor": "Barry's own files and the harness's settings are not yours to change.",
    "network.actions": "Do the work without it.",
    "network.domains": "Use another host, or do without it.",
    "network.allowDomains": "Use one of the allowed hosts, or do without it.",
    "deniedTools": "Use another tool.",
    "deniedAccess": "Use a tool that only reads.",
    "nativeTools": "Use another tool.",
    "nodes.deny": "Nothing may run on this node.",
    "nodes.allow": "Nothing may run on this node.",
}


def denied(
    field: str,
    rule: str,
    what: str,
    text: str = "",
    span: tuple[int, int] = (0, 0),
    unsure: str = "",
) -> Verdict:
    """A denial. `what`: what the rule is about, in a few words. `unsure`: why that can't be known
    for certain; the verdict is then undecidable.
    """
    span = min(span[0], len(text)), min(span[1], len(text))
    named = " ".join(filter(None, (field, plain(field, rule))))
    if field == "floor":
        named = "the floor of every policy"
    within = f" ({named})" if named else ""  # no rule has to name what can't be read at all
    human = f"denied by {named}: {shown(what)}"
    agent = f"Refused by the policy of this session{within}: {shown(what)}."
    if unsure:
        human = f"denied, because it can't be decided{within}: {shown(what)}; {unsure}"
        agent = (
            f"Refused by the policy of this session{within}: {shown(what)}; {unsure}. "
            "Write it plainly, with every name spelled out."
        )
    elif field in INSTEAD:
        agent = f"{agent} {INSTEAD[field]}"
    agent += " If it has to be done, ask the user to do it."
    return Verdict(UNDECIDABLE if unsure else DENIED, rule, field, text, span, human, agent)


def plain(field: str, rule: str) -> str:
    """A rule as it is written in a bound.

    The anchor of a file pattern is for the matching: a person knows the folder.
    """
    if field not in {"files.deny", "files.allowOnly"}:
        return rule
    return ", ".join([_without_anchor(each) for each in rule.split(", ")])


def _without_anchor(pattern: str) -> str:
    anchor, mark, written = pattern.partition("//")
    if not mark or anchor[:1] not in {"", "/"}:
        return pattern
    name = written.removeprefix("**/")
    return written if "/" in name else name


def shown(text: str) -> str:
    """One line, not too long, without the password of a URL."""
    line = "".join(char if char.isprintable() else " " for char in text)
    pieces = line.split("://")
    for index in range(1, len(pieces)):
        authority, slash, rest = pieces[index].partition("/")
        _, at, host = authority.rpartition("@")
        pieces[index] = (host if at else authority) + slash + rest
    line = "://".join(pieces)
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."
