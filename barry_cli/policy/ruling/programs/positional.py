"""`$1`, `$@` and their kin, where the script's or function's arguments are known."""

from barry_cli.policy.ruling.programs.call import Scope, opened
from barry_cli.policy.ruling.shell.nodes import POSITIONAL, TEXT, Command, Group, Part, Word

_BETWEEN = {**dict.fromkeys(map(ord, "\"'\\")), **dict.fromkeys(map(ord, ";&|(){}`\n"), " ")}
_MOST = 4096  # words, or characters of one word: arguments may double at every call
_SPLITS = frozenset(" \t\n*?[\\")


def uses_arguments(commands: list[Command]) -> bool:
    """Some word of the commands, or what they are fed, holds a positional parameter."""
    for command in commands:
        words = [*command.words]
        at: Command | Group | None = command
        while at is not None:
            words += [redirect.body or redirect.target for redirect in at.redirects]
            at = at.group if isinstance(at, Command) else at.outer
        for word in words:
            for part in word.parts:
                if part.kind == POSITIONAL:
                    return True
    return False


def moves_arguments(commands: list[Command], arguments: list[Word]) -> bool:
    """The commands may change their own positional parameters, so that they are other ones.

    What is evaluated counts by the words it holds; what isn't known is undecidable anyway.
    """
    for argument in arguments:
        if argument.text in {"shift", "set"}:
            return True
    for command in commands:
        words = command.words
        for index, word in enumerate(words):
            text = word.text
            if text == "shift" or (text == "set" and _sets(words[index + 1 :])):
                return True
            if text == "eval" and _evaluates(words[index + 1 :], arguments):
                return True
    return False


def _evaluates(words: list[Word], arguments: list[Word]) -> bool:
    """Some text that is evaluated speaks of what changes the parameters."""
    texts = [part.text for word in words for part in word.parts]
    texts += [word.text or "" for word in (*words, *arguments)]
    pieces = " ".join(texts).translate(_BETWEEN).split()
    return "shift" in pieces or "set" in pieces


def _sets(words: list[Word]) -> bool:
    behind_o = False
    for word in words:
        text = word.text
        if text is None or text in {"-", "--"} or (text[:1] not in {"-", "+"} and not behind_o):
            return True
        behind_o = text[:1] in {"-", "+"} and text[-1] == "o"
    return False


def resolved(words: list[Word], scope: Scope) -> list[Word]:
    """The words with all that the scope knows put in."""
    found: list[Word] = []
    for word in words:
        if len(found) > _MOST:
            return words
        if word.text is not None:
            found.append(opened(word) if scope.holes else word)
        elif scope.arguments is not None and any(p.kind == POSITIONAL for p in word.parts):
            found.extend(_filled(word, scope.arguments, scope.zero))
        else:
            found.append(word)
    return found


def _filled(word: Word, arguments: list[Word], zero: Word | None) -> list[Word]:
    if len(word.parts) == 1:
        part = word.parts[0]
        values = _values(part, arguments, zero)
        if values is None:
            return [word]
        return _quoted(word, part, values) if part.quoted else _bare(word, values)
    parts: list[Part] = []
    for part in word.parts:
        if part.kind != POSITIONAL:
            parts.append(part)
            continue
        values = _values(part, arguments, zero)
        if values is None or (_all(part) and len(values) > 1):
            return [word]
        for value in values:
            if value.text is None:
                parts += value.parts
            elif not part.quoted and not _SPLITS.isdisjoint(value.text):
                return [word]
            else:
                parts.append(Part(TEXT, value.text, part.start, part.end, True))
    return [_made(word, parts)]


def _quoted(word: Word, part: Part, values: list[Word]) -> list[Word]:
    if _all(part) == "*":
        return [_glued(word, values)]
    if not values and not _all(part):
        return [Word("", word.start, word.end, True)]
    return [Word(v.text, word.start, word.end, True, v.parts) for v in values]


def _bare(word: Word, values: list[Word]) -> list[Word]:
    """Outside quotes a value is split; where it could be a pattern too it counts as unknown."""
    found: list[Word] = []
    for value in values:
        if value.text is None or not _SPLITS.isdisjoint(value.text.replace(" ", "")):
            return [word]
        found += [Word(t, word.start, word.end, False) for t in value.text.split()]
    return found


def _glued(word: Word, values: list[Word]) -> Word:
    parts: list[Part] = []
    for index, value in enumerate(values):
        if index:
            parts.append(Part(TEXT, " ", word.start, word.end, True))
        if value.text is None:
            parts += value.parts
        else:
            parts.append(Part(TEXT, value.text, word.start, word.end, True))
    return _made(word, parts)


def _made(word: Word, parts: list[Part]) -> Word:
    if len(parts) > _MOST or sum([len(part.text) for part in parts]) > _MOST << 4:
        return word
    if all(part.kind == TEXT for part in parts):
        return Word("".join([part.text for part in parts]), word.start, word.end, True)
    return Word(None, word.start, word.end, True, tuple(parts))


def _all(part: Part) -> str:
    """Which of @ and * the part is, when it stands for all arguments."""
    bare = part.text.removeprefix("$").strip("{}")
    return bare[:1] if bare[:1] in {"@", "*"} else ""


def _values(part: Part, arguments: list[Word], zero: Word | None) -> list[Word] | None:
    """What a part stands for; None when it isn't one of the simple forms."""
    if part.kind != POSITIONAL:
        return None
    bare = part.text.removeprefix("$")
    if bare[:1] == "{":
        bare = bare[1:-1]
    if bare in {"@", "*"}:
        return arguments
    if bare[:2] in {"@:", "*:"} and bare[2:].isdecimal() and int(bare[2:]) > 0:
        return arguments[int(bare[2:]) - 1 :]
    if bare == "0":
        return [zero] if zero is not None else None
    if not bare.isdecimal() or len(bare) > 4:
        return None
    if any(argument.text is None and argument.many for argument in arguments[: int(bare)]):
        return None
    return arguments[int(bare) - 1 : int(bare)]
