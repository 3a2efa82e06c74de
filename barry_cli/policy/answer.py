"""What ``barry bound check`` answers, once the policy is there: the ruling, and how it is shown."""

from barry_cli.policy.json_text import parse
from barry_cli.policy.ruling.argv import command_line, is_whole_line
from barry_cli.policy.ruling.paths import Disk, real
from barry_cli.policy.ruling.policy import Policy, load
from barry_cli.policy.ruling.rule import rule, rule_command
from barry_cli.policy.ruling.told import document, text
from barry_cli.policy.ruling.tools import row_of
from barry_cli.policy.ruling.verdict import Verdict


def answer(
    data: bytes,
    links: "tuple[tuple[str, tuple[str, ...]], ...]",
    cwd: str,
    tail: "tuple[str, ...]",
    values: "dict[str, str]",
    as_json: bool,
) -> "tuple[str, int] | None":
    """What is printed, and the exit code. None for what has to be refused, or made anew.

    ``data``: the compiled policy. ``links``: where the places that it names have to lie. ``tail``,
    ``values``: the words after ``--``, and the options with a value.
    """
    disk = Disk()
    for path, there in links:
        if real(path, cwd, disk) != there:
            return None
    verdict = _verdict(load(data), cwd, tail, values)
    if verdict is None:
        return None
    return document(verdict) if as_json else text(verdict), 0 if verdict.allowed else 1


def _verdict(
    policy: Policy, cwd: str, tail: "tuple[str, ...]", values: "dict[str, str]"
) -> Verdict | None:
    if "--tool" in values:
        given = parse(values["--input"], once=True)
        if row_of(policy, values["--tool"]) is None:
            return None  # whether it can be ruled on takes more than the policy
        return rule(policy, values["--tool"], given, cwd) if type(given) is dict else None
    if "--command" in values:
        return rule_command(policy, values["--command"], cwd)
    return None if is_whole_line(tail) else rule_command(policy, command_line(tail), cwd)
