"""Programs of the wrappers table: find where the command stands that they run."""

from barry_cli.policy.ruling.programs.call import Call, Run, Script, Unknown, joined
from barry_cli.policy.ruling.programs.chains import GLOBALS, key
from barry_cli.policy.ruling.programs.helpers import helping_script, may_run
from barry_cli.policy.ruling.programs.late import given
from barry_cli.policy.ruling.programs.options import Scan, carriers, scan
from barry_cli.policy.ruling.programs.shells import Inner, input_script
from barry_cli.policy.ruling.programs.wrappers import WRAPPERS
from barry_cli.policy.ruling.shell.nodes import Word

HOLDERS = frozenset(
    [
        " ".join(pieces[:count])
        for pieces in [name.split() for name in WRAPPERS if " " in name]
        for count in range(1, len(pieces))
    ]
)
"""Programs, and subcommands, below which some subcommand is a wrapper."""


def wrapper_of(call: Call) -> tuple[str, int]:
    """The wrapper's entry and where its words begin; "" when the call is none."""
    name = key(call.name)
    own = WRAPPERS.get(name, "")
    words = call.words
    at = 1
    while name in HOLDERS:
        operands = scan(words, at, GLOBALS.get(name, "")).at
        if not operands or operands[0] >= len(words):
            break
        at = operands[0] + 1
        name = key(f"{name} {words[operands[0]].text}")
        entry = WRAPPERS.get(name, "")
        if entry:
            return entry, at
    return own, 1


def wrapped(call: Call, entry: str, at: int) -> list[Inner]:
    """What a wrapper runs, its words beginning at `at`."""
    form, _, options = entry.partition(" ")
    words = call.words
    if "d" in form:
        found = scan(words, at, options, through=True)
        behind = behind_dashes(words, at)
        return [*carried(found, options), *(command_in(behind, form, found) if behind else [])]
    found = scan(words, at, options)
    inner = carried(found, options)
    if found.stop or form == "-":
        if form == "-" and found.at:  # helpers' options may stand behind operands
            inner = carried(scan(words, at, options, through=True), options)
        return inner
    if "c" in form:
        return inner + [Script(joined([word]), [word]) for word in _operands(words, at, options)]
    if found.lost:
        inner.append(Unknown("options that aren't known stand before a command", words))
    ran = False
    for place in found.at:
        start = _command_at(words, place, form, options)
        while "a" in form and start < len(words) and _assigns(words[start]):
            name, _, _ = words[start].prefix.partition("=")
            if may_run(name, words[start]):
                inner += given(name, words[start], call, len(name) + 1)
            start += 1
        if start < len(words):
            ran = True
            inner += command_in(words[start:], form, found)
    if not ran and "i" in form:
        inner += input_script(call)
    return inner


def command_in(words: list[Word], form: str, found: Scan) -> list[Inner]:
    """The words of a command, as the wrapper hands them on."""
    if "s" in form and not any(name in {"x", "exec"} for name, _ in found.given):
        return [Script(joined(words), words)]
    if "o" in form and len(words) == 1:
        return [Script(joined(words), words)]
    if "e" in form and any(name == "s" for name, _ in found.given):
        return [Script(joined(words[:1]), words[:1])]
    return [Run(words)]


def _command_at(words: list[Word], at: int, form: str, options: str) -> int:
    for _ in range(int(form[0])):
        if "n" in form and not (words[at : at + 1] and _numeric(words[at])):
            break
        if "t" in form and words[at : at + 1] and not _timed(words[at]):
            return len(words)
        at += 1
        if "m" in form and at < len(words):
            behind = scan(words, at, options).at
            at = behind[0] if behind else len(words)
        elif at < len(words) and words[at].text == "--":
            at += 1
    return at


def _numeric(word: Word) -> bool:
    text = word.text
    return text is None or text.lstrip("-+")[:1].isdigit()


def _timed(word: Word) -> bool:
    return word.text is None or word.text[:1].lower() in set("0123456789.+in")


def _operands(words: list[Word], at: int, options: str) -> list[Word]:
    return [words[index] for index in scan(words, at, options, through=True).at]


def _assigns(word: Word) -> bool:
    name, equal, _ = word.prefix.partition("=")
    return equal != "" and name != "" and "/" not in name


def behind_dashes(words: list[Word], at: int) -> list[Word]:
    """The words behind the first `--`."""
    for index in range(at, len(words)):
        if words[index].text == "--":
            return words[index + 1 :]
    return []


def carried(found: Scan, options: str) -> list[Inner]:
    """The commands that stand in options."""
    names = carriers(options)
    inner: list[Inner] = []
    for name, value in found.given if names else ():
        if value is not None and name in names:
            helping = names[name]
            inner.append(helping_script(value) if helping else Script(joined([value]), [value]))
    return inner
