"""The event that a harness writes: one JSON document, and the parts of it that a ruling needs."""

import posix

BYTES = 16 << 20
"""The longest event that is read."""

BLANKS = " \t\n\r"


class Unreadable(Exception):
    """There is nothing to rule on. Its text says why, as the end of a sentence."""


class _Strict:
    """How JSON is read: as it is written down, without the additions that Python allows."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: "dict[str, str]" = {}

    @staticmethod
    def parse_constant(word: str) -> object:
        raise ValueError(f"{word} is no JSON number")


def read_all(descriptor: int, limit: int) -> bytes:
    """Everything up to the end. Raises Unreadable when there is more than the limit (in bytes)."""
    pieces: list[bytes] = []
    size = 0
    while piece := posix.read(descriptor, 1 << 18):
        size += len(piece)
        if size > limit:
            raise Unreadable(f"it has more than {limit >> 20} MiB")
        pieces.append(piece)
    return b"".join(pieces)


def parse_json(text: str) -> object:
    """The value of a text that is one JSON document and no more. Raises Unreadable."""
    from _json import make_scanner

    body = text.strip(BLANKS)
    try:
        value, end = make_scanner(_Strict)(body, 0)
    # The scanner says of an empty text that an iteration ended, and of some others that the
    # interpreter is at fault.
    except (ValueError, RecursionError, StopIteration, SystemError):
        raise Unreadable("it isn't JSON") from None
    if end != len(body):
        raise Unreadable("it is more than one JSON document")
    found: object = value
    return found


def parse_event(data: bytes) -> "dict[str, object]":
    """The event's document. Raises Unreadable."""
    try:
        value = parse_json(data.decode())
    except UnicodeDecodeError:
        raise Unreadable("it isn't UTF-8") from None
    if type(value) is not dict:
        raise Unreadable("it isn't a JSON object")
    return value


def part(document: "dict[str, object]", path: "tuple[str, ...]") -> object:
    """What stands at the path from the top of the document, None where nothing does."""
    value: object = document
    for key in path:
        if type(value) is not dict:
            return None
        value = value.get(key)
    return value


def text_part(document: "dict[str, object]", path: "tuple[str, ...]") -> str:
    """The same where a text is meant: "" for anything else."""
    value = part(document, path) if path else None
    return value if type(value) is str else ""
