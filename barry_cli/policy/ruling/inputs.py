"""What a program is given besides its words as they stand: its input, and what is put into them."""

from barry_cli.policy.ruling.file_use import WRITE, FileUse, code_use
from barry_cli.policy.ruling.operands import known
from barry_cli.policy.ruling.option_files import psql_commands, sftp_commands, sqlite_commands
from barry_cli.policy.ruling.patches import BEGIN, patched
from barry_cli.policy.ruling.programs.call import Call
from barry_cli.policy.ruling.programs.code import language
from barry_cli.policy.ruling.programs.feeds import SHOWN, fed, told
from barry_cli.policy.ruling.shell.reading import COMMAND, Word
from barry_cli.policy.ruling.texts import edit_commands

COMMANDED = frozenset("ed ex vi vim nvim psql sftp sqlite3 sqlite duckdb mysql mariadb".split())
"""Programs that read commands of their own from their input, which may name files."""


def reads_input(name: str) -> bool:
    """What the program reads may name files."""
    return name in COMMANDED or name in {"patch", "git"} or bool(language(name))


def printed(call: Call) -> list[Word]:
    """The call's words, a substitution that plainly prints something replaced by it."""
    words = call.words[1:]
    holed = [word for word in words if word.parts]
    if not holed or not any(part.kind == COMMAND for word in holed for part in word.parts):
        return words
    found: list[Word] = []
    for word in words:
        text = told([word], call) if any(part.kind == COMMAND for part in word.parts) else None
        if text is None:
            found.append(word)
            continue
        quoted = all(part.quoted for part in word.parts if part.kind == COMMAND)
        texts = [text] if quoted else text.split()
        found += [Word(each, word.start, word.end, True) for each in texts]
    return found


def from_input(call: Call) -> list[FileUse]:
    """What code, a patch or commands in a program's input, or in its words, say."""
    shown = fed(call)
    found: list[FileUse] = []
    for word in shown.words if shown.kind == SHOWN else ():
        if language(call.name):
            found.append(code_use(word, call.name))
        elif call.name in {"patch", "git"} or BEGIN in known(word):
            found.extend(FileUse(WRITE, each, call.name) for each in patched(word))
        elif call.name in COMMANDED:
            found.extend(commanded(call.name, word))
    for word in call.words[1:]:
        if BEGIN in known(word):
            found.extend(FileUse(WRITE, each, call.name) for each in patched(word))
    return found


def commanded(name: str, word: Word) -> list[FileUse]:
    """The files that commands of a program's own name."""
    if name in {"sqlite3", "sqlite", "duckdb"}:
        return sqlite_commands(word)
    if name in {"psql", "mysql", "mariadb"}:
        return psql_commands(word)
    return sftp_commands(word) if name == "sftp" else edit_commands(word)
