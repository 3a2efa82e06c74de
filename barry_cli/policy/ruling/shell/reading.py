"""The reader's face: `read` and what it answers."""

from barry_cli.policy.ruling.shell.dialect import dialect
from barry_cli.policy.ruling.shell.nodes import (
    ARITHMETIC,
    ARRAY,
    BRACE,
    COMMAND,
    GLOB,
    POSITIONAL,
    PROCESS_IN,
    PROCESS_OUT,
    TEXT,
    TILDE,
    VARIABLE,
    Assignment,
    Command,
    Feed,
    Group,
    Part,
    Reading,
    Redirect,
    Word,
)
from barry_cli.policy.ruling.shell.reader import Reader
from barry_cli.policy.ruling.shell.source import MOST_CHARACTERS, Unreadable

__all__ = (
    "ARITHMETIC",
    "ARRAY",
    "BRACE",
    "COMMAND",
    "GLOB",
    "POSITIONAL",
    "PROCESS_IN",
    "PROCESS_OUT",
    "TEXT",
    "TILDE",
    "VARIABLE",
    "Assignment",
    "Command",
    "Feed",
    "Group",
    "Part",
    "Reading",
    "Redirect",
    "Word",
    "read",
)

_CONTROLS = dict.fromkeys((*range(9), *range(11, 32), 127))


def read(text: str, portable: bool = False) -> Reading:
    """Every simple command anywhere in `text`, read as bash reads it.

    Anywhere: lists, pipelines, compound commands, function bodies, substitutions however nested,
    redirect targets, here-documents that expand, arithmetic, subscripts, [[ ]]. Never raises.
    What bash rejects, and what can't be read with certainty, is `unparseable` with the reason;
    so are texts over 64 KiB, over 1,536 commands or 4,096 words, nested too deep, or with control
    characters.
    `portable`: the text goes to `sh`, which may be another shell than bash; what the two would
    read differently is then unparseable.
    """
    reading = Reading(text)
    if len(text) > MOST_CHARACTERS:
        reading.unparseable = "longer than 65,536 characters"
        return reading
    if not text.isprintable() and not _clean(text):
        reading.unparseable = "a control character, or text that isn't valid UTF-8"
        return reading
    reader = Reader(text, reading, portable)
    try:
        reader.all()
    except Unreadable as reason:
        reading.unparseable = str(reason)
    except RecursionError:
        reading.unparseable = "nested too deep"
    except Exception as fault:  # a fault of ours must refuse the command, not let it through
        reading.unparseable = f"the reader failed: {fault!r}"
    else:
        reading.unparseable = dialect(reading)
    return reading


def _clean(text: str) -> bool:
    """No control characters but tab and line feed, and no lone surrogates."""
    if text.translate(_CONTROLS) != text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
