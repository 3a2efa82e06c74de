"""Programs with commands of their own, of which some go to a shell: databases, pagers, more."""

from barry_cli.policy.ruling.programs.call import Call, Script
from barry_cli.policy.ruling.programs.feeds import SHOWN, fed
from barry_cli.policy.ruling.programs.helpers import helping_script
from barry_cli.policy.ruling.programs.shells import Inner
from barry_cli.policy.ruling.programs.wrapped import wrapped
from barry_cli.policy.ruling.programs.wrappers import WRAPPERS
from barry_cli.policy.ruling.shell.nodes import Word

# Program -> what stands in front of a shell's command: anywhere, and at the beginning of a line.
SIGNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "psql": (("\\!",), ("\\o |", "\\g |", "\\w |", "\\out |")),
    "mysql": (("\\!",), ("system ",)),
    "mariadb": (("\\!",), ("system ",)),
    "sqlite3": ((), (".shell ", ".system ", ".output |", ".once |", ".excel |")),
    "sqlite": ((), (".shell ", ".system ", ".output |", ".once |")),
    "duckdb": ((), (".shell ", ".system ", ".output |", ".once |")),
    "lldb": ((), ("shell ", "platform shell ")),
    "ghci": ((), (":! ", ":!")),
    "sftp": ((), ("!",)),
    "ftp": ((), ("!",)),
    "lftp": ((), ("!", "shell ")),
    "mail": ((), ("~!", "!")),
}
_PROGRAMS = ("program '", "PROGRAM '", "Program '")
_PAGERS = ("+!", "++!")


def console(call: Call) -> list[Inner]:
    """Shell commands among those on the command line, and in the input."""
    entry = WRAPPERS.get(call.name, "")
    found = wrapped(call, entry, 1) if entry else []
    for word in call.words[1:]:
        found += _in_text(call.name, word)
    source = fed(call)
    for word in source.words if source.kind == SHOWN else []:
        for item in _in_text(call.name, word):
            if isinstance(item, Script):
                item.place = source.place
            found.append(item)
    return found


def pager(call: Call) -> list[Inner]:
    """`less '+!command'`."""
    return [
        helping_script(word, 2 + word.prefix[:2].count("+") - 1)
        for word in call.words[1:]
        if word.prefix.startswith(_PAGERS)
    ]


def _in_text(name: str, word: Word) -> list[Inner]:
    anywhere, first = SIGNS[name]
    found: list[Inner] = []
    for line in word.prefix.split("\n"):
        for sign in anywhere:
            found += [_script(piece, word) for piece in line.split(sign)[1:]]
        start = line.lstrip()
        found += [_script(start[len(sign) :], word) for sign in first if start.startswith(sign)]
        if name == "psql":
            for sign in _PROGRAMS:
                found += [_script(piece.partition("'")[0], word) for piece in line.split(sign)[1:]]
    return found


def _script(text: str, near: Word) -> Script:
    script = Script(text.strip(), [near])
    script.lenient = True
    return script
