"""Quotes as bash sees them in raw text, and what $'..' means."""

_SIMPLE = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
_HEX = "0123456789abcdefABCDEF"
_OCTAL = "01234567"


def counted(text: str, i: int, whole: bool) -> int:
    """Past the parenthesis that closes the one before `i`, -1 when none does.

    `whole`: the length of the text when its parentheses match, else -1.
    """
    n = len(text)
    depth = 0
    while i < n:
        c = text[i]
        i += 1
        if c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth < 0:
                return -1 if whole else i
        elif c == "\\":
            i += 1
        elif c == "'":
            i = text.find("'", i) + 1 or n
        elif c == '"':
            i = _double(text, i)
    return n if whole and depth == 0 else -1


def _double(text: str, i: int) -> int:
    """Past the closing double quote, or the end of the text."""
    n = len(text)
    while i < n:
        c = text[i]
        i += 1
        if c == '"':
            return i
        if c == "\\":
            i += 1
        elif c == "`":
            i = text.find("`", i) + 1 or n
        elif c == "$" and text.startswith("(", i):
            i = counted(text, i + 1, False)
            if i < 0:
                return n
    return n


def closing(s: str, i: int) -> int:
    """Where the $'..' whose content starts at `i` has its closing quote; -1: nowhere."""
    while True:
        end = s.find("'", i)
        if end < 0:
            return -1
        i = s.find("\\", i, end)
        if i < 0:
            return end
        i += 2


def decode(text: str) -> str:
    """The value of $'text'. A NUL ends it, as it does in bash."""
    if "\\" not in text:
        return text
    out = bytearray()
    i = 0
    n = len(text)
    while i < n:
        j = text.find("\\", i)
        if j < 0 or j + 1 >= n:
            out += text[i:].encode()
            break
        out += text[i:j].encode()
        c = text[j + 1]
        i = j + 2
        if c in _SIMPLE:
            out += _SIMPLE[c].encode()
        elif c == "x":
            i = _hexadecimal(text, i, out)
        elif c in _OCTAL:
            i = _run(text, i, _OCTAL, 2)
            out.append(int(text[j + 1 : i], 8) & 255)
        elif c in "uU":
            k = _run(text, i, _HEX, 4 if c == "u" else 8)
            out += _character(text[i:k], c)
            i = k
        elif c == "c" and i < n:
            if text.startswith("\\\\", i):
                i += 1
            out.append(127 if text[i] == "?" else ord(text[i].upper()) & 31)
            i += 1
        else:
            out += ("\\" + c).encode()
    nul = out.find(0)
    return (out if nul < 0 else out[:nul]).decode("utf-8", "replace")


def _run(text: str, i: int, digits: str, most: int) -> int:
    end = i
    while end < len(text) and end < i + most and text[end] in digits:
        end += 1
    return end


def _hexadecimal(text: str, i: int, out: bytearray) -> int:
    braced = text.startswith("{", i)
    k = i + braced
    end = _run(text, k, _HEX, len(text) if braced else 2)
    if end == k and not braced:
        out += b"\\x"
        return i
    out.append(int(text[k:end] or "0", 16) & 255)
    return end + (braced and text.startswith("}", end))


def _character(digits: str, letter: str) -> bytes:
    if not digits:
        return b"\\" + letter.encode()
    number = int(digits, 16)
    if number > 0x10FFFF:
        return b"?"
    return chr(number).encode("utf-8", "replace")
