"""How a program reads its options, from one line of text that lists them.

A name by itself is a flag. Marks behind a name: `:` takes a value (`::` two, ...), `?` may have
a value attached, `!` nothing else is run, `$` takes a shell command, `%` takes a program that
helps with the work (an editor, a remote shell).
Names of one letter go behind one dash and can be grouped; others go behind two, or behind one
when `~` is in the list.
"""

from barry_cli.policy.ruling.programs.call import known
from barry_cli.policy.ruling.shell.nodes import Word

_MOST = 1024  # options of one program
_DOUBTS = 8  # places where a command may begin

STOP = -1
OPTIONAL = -2

_read: dict[str, dict[str, int]] = {}
_carriers: dict[str, dict[str, bool]] = {}


def kinds(text: str) -> dict[str, int]:
    """Name -> how many values it takes, STOP or OPTIONAL."""
    found = _read.get(text)
    if found is None:
        found = {}
        for item in text.split():
            name = item.rstrip(":!$%?") if len(item) > 1 else item
            marks = item[len(name) :]
            found[name] = STOP if marks == "!" else OPTIONAL if marks == "?" else len(marks)
        _read[text] = found
    return found


def carriers(text: str) -> dict[str, bool]:
    """The names whose value is a command -> whether it is a helper only."""
    found = _carriers.get(text)
    if found is None:
        found = {
            item[:-1]: item[-1] == "%"
            for item in text.split()
            if len(item) > 1 and item[-1] in "$%"
        }
        _carriers[text] = found
    return found


class Scan:
    """The options in front of a program's operands.

    `at`: where the operands may begin. More than one place when an unknown option may or may not
    take the word behind it; none when there are no operands. `given`: name and value of each
    option, in order. `stop`: an option says that nothing is run. `lost`: so many
    options are unknown that nothing can be said.
    """

    __slots__ = ("at", "given", "lost", "stop")

    def __init__(self) -> None:
        self.at: list[int] = []
        self.given: list[tuple[str, Word | None]] = []
        self.lost = False
        self.stop = False


def scan(words: list[Word], at: int, text: str, through: bool = False) -> Scan:
    """Read options from `words[at]` on, by the list `text`.

    `through`: options may stand behind operands too, as GNU programs have it; `at` then holds the
    operands themselves, in order.
    """
    table = kinds(text)
    single = "~" in table
    result = Scan()
    count = len(words)
    while at < count:
        if len(result.given) > _MOST:
            result.lost = True
            return result
        word = words[at]
        head = word.text
        if head is None:
            head = word.prefix
            if head[:1] != "-":
                result.at.append(at)
                if not word.many and not through:
                    return result
                at += 1
                continue
        if head == "--":
            at += 1
            result.at.extend(range(at, count) if through else [at] if at < count else ())
            return result
        if head[:1] != "-" or (head == "-" and "-" not in table and word.text is not None):
            result.at.append(at)
            if not through:
                return result
            at += 1
            continue
        at += 1
        takes = _option(result, words, at, head, table, single)
        if takes >= 0:
            at += takes
        elif not through and at < count and words[at].prefix[:1] != "-":
            result.at.append(at)  # it may take this word as its value, and may not
            at += 1
            if len(result.at) > _DOUBTS:
                result.lost = True
                return result
    return result


def _option(
    result: Scan, words: list[Word], at: int, head: str, table: dict[str, int], single: bool
) -> int:
    """Note one option; how many words behind it are its values, -1 when that can't be known."""
    if head[:2] == "--" or (single and len(head) > 2):
        return _long(result, words, at, head, table)
    word = words[at - 1]
    whole = word.text is not None
    last = len(head) - 1
    for index in range(1, last + 1):
        name = head[index]
        takes = table.get(name)
        if takes is None:
            if index == last and whole and not name.isdigit() and name.isascii():
                result.given.append((name, None))
                return -1
        elif takes == STOP:
            result.stop = True
        elif takes == 0:
            result.given.append((name, None))
        elif takes > 0 and index == last and whole:
            return _values(result, words, at, name, takes)
        else:
            rest = head[index + 1 :]
            attached = word if not whole else known(rest, word) if rest or takes > 0 else None
            result.given.append((name, attached))
            return max(takes - 1, 0)
    return 0


def _long(result: Scan, words: list[Word], at: int, head: str, table: dict[str, int]) -> int:
    word = words[at - 1]
    name, equal, value = head.lstrip("-").partition("=")
    attached = None if not equal else known(value, word) if word.text is not None else word
    takes = table.get(name) if len(name) > 1 else None
    if takes is None:
        takes = _shortened(name, table)
    if takes is None:
        result.given.append((name, attached))
        return 0 if equal or word.text is None or name.isdigit() else -1
    if takes == STOP:
        result.stop = True
        return 0
    if equal:
        result.given.append((name, attached))
        return max(takes - 1, 0)
    return _values(result, words, at, name, max(takes, 0))


def _values(result: Scan, words: list[Word], at: int, name: str, takes: int) -> int:
    value = words[at + takes - 1] if takes and at + takes <= len(words) else None
    result.given.append((name, value))
    return takes


def _shortened(name: str, table: dict[str, int]) -> int | None:
    """The kind of a long option that was cut short, when all that it may stand for agree."""
    if len(name) < 2:
        return None
    found: int | None = None
    for full, takes in table.items():
        if len(full) > 1 and full.startswith(name):
            if found is not None and found != takes:
                return None
            found = takes
    return found
