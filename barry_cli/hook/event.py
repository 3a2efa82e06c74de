"""The event that a harness writes: one JSON document, and the parts of it that a ruling needs."""

import posix

from barry_cli.policy.json_text import NotJson, parse

BYTES = 16 << 20
"""The longest event that is read."""


class Unreadable(Exception):
    """There is nothing to rule on. Its text says why, as the end of a sentence."""


def read_all(descriptor: int, limit: int) -> bytes:
    """Everything up to the end. Raises Unreadable when there is more than the limit (in bytes)."""
    pieces: list[bytes] = []
    size = 0
    # A larger piece would be asked of the system, and given back, each time.
    while piece := posix.read(descriptor, 1 << 16):
        size += len(piece)
        if size > limit:
            raise Unreadable(f"it has more than {limit >> 20} MiB")
        pieces.append(piece)
    return b"".join(pieces)


def parse_event(data: bytes) -> "dict[str, object]":
    """The event's document. Raises Unreadable."""
    try:
        value = parse(data.decode())
    except UnicodeDecodeError:
        raise Unreadable("it isn't UTF-8") from None
    except NotJson as problem:
        raise Unreadable(str(problem)) from None
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
