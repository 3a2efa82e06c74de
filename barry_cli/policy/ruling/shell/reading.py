"""The reader's face: `read` and what it answers."""

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


def read(text: str, portable: bool = False) -> Reading:
    """Every simple command anywhere in `text`, read as bash reads it.

    Anywhere: lists, pipelines, compound commands, function bodies, substitutions however nested,
    redirect targets, here-documents that expand, arithmetic, subscripts, [[ ]]. Never raises.
    What bash rejects, and what can't be read with certainty, is `unparseable` with the reason;
    so are texts over 64 KiB, over 4,096 commands, nested too deep, or with control characters.
    `portable`: the text goes to `sh`, which may be another shell than bash; what the two would
    read differently is then unparseable.
    """
    reading = Reading(text)
    reading.unparseable = "the reader is not there yet"
    return reading
