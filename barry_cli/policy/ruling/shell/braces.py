"""Brace expansion: a{b,c}d and {1..5}, on the pieces of a word."""

from barry_cli.policy.ruling.shell.nodes import TEXT, Part

MOST_BRACES = 40
MOST_WORDS = 1_024

# A word as brace expansion sees it: plain characters with their places, and parts that are whole.
Item = tuple[str, int] | tuple[Part, int]


class TooMany(Exception):
    """More words than the cap."""


def expand(pieces: list[Part], source: str) -> list[list[Part]]:
    """The words that `pieces` stand for; one when there is nothing to expand.

    `source` is the text that the pieces' spans point into. Raises TooMany.
    """
    items: list[Item] = []
    opened = 0
    for piece in pieces:
        if piece.kind == TEXT and not piece.quoted:
            opened += piece.text.count("{")
            items.extend(zip(piece.text, range(piece.start, piece.end), strict=True))
        else:
            comma = "," in source[piece.start : piece.end] and source[piece.start] != "\\"
            items.append((piece, comma))
    if opened > MOST_BRACES:
        raise TooMany
    return [_parts(word) for word in _expand(items)]


def _parts(items: list[Item]) -> list[Part]:
    """Characters put together again."""
    out: list[Part] = []
    known: list[str] = []
    start = end = 0
    for what, at in items:
        if isinstance(what, str):
            if not known:
                start = at
            known.append(what)
            end = at + 1
            continue
        if known:
            out.append(Part(TEXT, "".join(known), start, end, False))
            known = []
        out.append(what)
    if known:
        out.append(Part(TEXT, "".join(known), start, max(start, end), False))
    return out


def _expand(items: list[Item]) -> list[list[Item]]:
    i = 0
    while True:
        i = _find(items, i, "{")
        if i < 0:
            return [items]
        end = _find(items, i + 1, "}")
        if end >= 0:
            break
        i += 1
    inside = items[i + 1 : end]
    behind = items[end + 1 :]
    if any(what == "," or (what.__class__ is Part and at) for what, at in inside):
        middle = _alternatives(inside)
    else:
        sequence = _sequence(inside)
        if sequence is not None:
            middle = sequence
        elif behind:
            middle = [items[i : end + 1]]
        else:
            return [items]
    ends = _expand(behind) if behind else [[]]
    if len(middle) * len(ends) > MOST_WORDS:
        raise TooMany
    before = items[:i]
    return [before + word + rest for word in middle for rest in ends]


def _alternatives(items: list[Item]) -> list[list[Item]]:
    out: list[list[Item]] = []
    start = 0
    while True:
        end = _find(items, start, ",")
        out += _expand(items[start : end if end >= 0 else len(items)])
        if len(out) > MOST_WORDS:
            raise TooMany
        if end < 0:
            return out
        start = end + 1


def _find(items: list[Item], i: int, want: str) -> int:
    """Where `want` stands from `i` on, outside inner braces; -1: nowhere.

    A closing brace counts only behind a comma or two dots; `{}` opens nothing.
    """
    n = len(items)
    level = 0
    separated = want != "}"
    while i < n:
        c = items[i][0]
        if c == want and level == 0 and separated:
            if want != "{" or i > 0 or (n > 1 and items[1][0] != "}"):
                return i
        elif c == "{":
            level += 1
        elif c == "}" and level:
            level -= 1
        elif level == 0 and want == "}":
            if c == ",":
                separated = True
            elif c == "." and i + 1 < n and items[i + 1][0] == ".":
                separated = separated or i + 2 >= n or items[i + 2][0] != "}"
        i += 1
    return -1


def _sequence(items: list[Item]) -> list[list[Item]] | None:
    """The words of first..last[..step], or None when it is no sequence."""
    characters: list[str] = []
    for what, _ in items:
        if not isinstance(what, str):
            return None
        characters.append(what)
    first, dots, rest = "".join(characters).partition("..")
    last, more, step = rest.partition("..")
    if not dots or not first or not last or (more and not _is_number(step)):
        return None
    if _is_number(first) and _is_number(last):
        words = _numbers(first, last, int(step or "1"))
    elif _is_letter(first) and _is_letter(last):
        if first.islower() != last.islower():
            raise TooMany  # the characters between the two cases are special ones
        low, high = ord(first), ord(last)
        words = [chr(code) for code in _span(low, high, int(step or "1"))]
    else:
        return None
    at = items[0][1]
    return [[(c, at) for c in word] for word in words]


def _is_number(text: str) -> bool:
    digits = text[1:] if text[:1] in ("+", "-") else text
    return digits.isascii() and digits.isdecimal()


def _is_letter(text: str) -> bool:
    return len(text) == 1 and text.isascii() and text.isalpha()


def _span(first: int, last: int, step: int) -> range:
    step = abs(step) or 1
    if abs(last - first) // step >= MOST_WORDS:
        raise TooMany
    return range(first, last + 1, step) if first <= last else range(first, last - 1, -step)


def _numbers(first: str, last: str, step: int) -> list[str]:
    if len(first) > 18 or len(last) > 18:
        raise TooMany
    width = 0
    for text in (first, last):
        digits = text.removeprefix("-")
        if len(digits) > 1 and digits[0] == "0":
            width = max(len(first), len(last))
    return [f"{number:0{width}d}" for number in _span(int(first), int(last), step)]
