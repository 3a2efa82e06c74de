"""A program's words taken apart: options with their values, and operands."""

from barry_cli.policy.ruling.shell.reading import GLOB, TEXT, TILDE, Part, Word

HOLE = "\0"
"""Stands for what only bash learns. No argument holds a NUL."""

GLUE = frozenset(" \t\n")


class Option:
    """`name` as it is written ("-o", "--output"), and its value if it takes one.

    `value` is None for a flag, and where the value is missing. `word`: where the option stands.
    """

    __slots__ = ("name", "value", "word")

    def __init__(self, name: str, value: Word | None, word: Word) -> None:
        self.name = name
        self.value = value
        self.word = word


class Operands:
    """`options` and `operands`, each in order. `ended`: operands that stand after `--`.

    `unknown`: words that may be options, or more than one word, as only bash learns.
    """

    __slots__ = ("operands", "options", "unknown")

    def __init__(self) -> None:
        self.options: list[Option] = []
        self.operands: list[Word] = []
        self.unknown: list[Word] = []

    def has(self, *names: str) -> bool:
        return any(option.name in names for option in self.options)

    def values(self, *names: str) -> list[Word]:
        return [o.value for o in self.options if o.name in names and o.value is not None]


def take_apart(
    words: list[Word], valued: frozenset[str], single: bool = False, loose: bool = False
) -> Operands:
    """Read a program's words (without its name) as getopt does, options and operands mixed.

    `valued`: the options that take a value ("-o", "--output"). A long option may be shortened.
    `single`: long options have one dash, and letters are not grouped. `loose`: an option that takes
    a value may be a flag under some subcommand; where an option follows, both are taken for true.
    """
    found = Operands()
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        start = word.prefix
        if word.text == "--":
            found.operands.extend(words[index:])
            break
        if start[:1] != "-" or word.text == "-":
            found.operands.append(word)
            if not start and word.text is None and word.many and word.parts[0].kind != GLOB:
                found.unknown.append(word)
            continue
        following = words[index] if index < len(words) else None
        again = loose and following is not None and _is_option(following, valued)
        if start[:2] == "--" or single:
            taken = _long(found, word, start, following, valued)
        else:
            taken = _letters(found, word, start, following, valued)
        index += 0 if again else taken
    return found


def known(word: Word) -> str:
    """What is known of the word, with HOLE for the rest. Globs and tildes are as written."""
    if word.text is not None:
        return word.text
    plain = {TEXT, GLOB, TILDE}
    return "".join(part.text if part.kind in plain else HOLE for part in word.parts)


def spelled(word: Word) -> str | None:
    """A glob without quotes stands for names that it matches itself, or for what it says."""
    if any(part.kind not in {TEXT, GLOB} for part in word.parts):
        return None
    return known(word)


def after(word: Word, count: int) -> Word:
    """The word without its first `count` characters, which are known."""
    if word.text is not None:
        return Word(word.text[count:], word.start, word.end, word.quoted)
    first, *rest = word.parts
    if len(first.text) > count:
        part = Part(TEXT, first.text[count:], first.start, first.end, first.quoted)
        rest.insert(0, part)
    return Word(None, word.start, word.end, word.quoted, tuple(rest))


def pieces(word: Word) -> list[Word]:
    """What in a word of a program that isn't known may be a path: the word, a value, `@path`."""
    start = word.prefix
    if not start:
        return [word]
    if GLUE & set(start):
        return []
    found = [] if start[:1] == "-" else [word]
    at = start.find("=")
    if at > 0:
        found.append(after(word, at + 1))
    mark = start.find("@") + 1
    if mark:
        found.append(after(word, mark))
    if start[:1] == "-" != start[1:2] and at < 0 and len(start) > 2:
        found.append(after(word, 2))
    return found


def full_name(name: str, known: frozenset[str]) -> str:
    """The long option that a shortened one stands for, if only one of those known can be meant."""
    if name in known or len(name) < 4:
        return name
    meant = [each for each in known if each.startswith(name)]
    return meant[0] if len(meant) == 1 else name


def _long(
    found: Operands, word: Word, start: str, following: Word | None, valued: frozenset[str]
) -> int:
    name, equals, _ = start.partition("=")
    if not equals and word.text is None:
        found.unknown.append(word)
    full = full_name(name, valued)
    if equals:
        found.options.append(Option(full, after(word, start.index("=") + 1), word))
        return 0
    if full != name and following is not None:
        # Shortened, or a flag that isn't listed: both are taken for true.
        found.options.append(Option(full, following, word))
    if name not in valued:
        found.options.append(Option(name, None, word))
        return 0
    found.options.append(Option(name, following, word))
    return following is not None


def _is_option(word: Word, valued: frozenset[str]) -> bool:
    """What follows an option is one of those listed itself."""
    head = word.prefix
    if head[:1] != "-" or len(head) < 2:
        return False
    return (head.partition("=")[0] if head[:2] == "--" else head[:2]) in valued


def _letters(
    found: Operands, word: Word, start: str, following: Word | None, valued: frozenset[str]
) -> int:
    for index, letter in enumerate(start[1:], 2):
        name = f"-{letter}"
        if name not in valued:
            found.options.append(Option(name, None, word))
            continue
        if index < len(start) or word.text is None:
            found.options.append(Option(name, after(word, index), word))
            return 0
        found.options.append(Option(name, following, word))
        return following is not None
    if word.text is None:
        found.unknown.append(word)
    return 0
