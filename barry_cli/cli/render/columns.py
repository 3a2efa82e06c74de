"""Plain columns: quick to make, easy to cut and grep."""

from __future__ import annotations

from collections.abc import Sequence


def printable(text: str) -> str:
    """The text without control characters: what a package or a file says must not move a cursor."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under a head, each column as wide as its widest cell, two spaces between."""
    table = [list(head), *([printable(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in table) for at in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    return "\n".join(lines) + "\n"


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Named facts, one a line, the names in a column."""
    width = max((len(name) for name, _ in pairs), default=0)
    return "".join(
        f"{name.ljust(width)}  {printable(value)}".rstrip() + "\n" for name, value in pairs
    )
