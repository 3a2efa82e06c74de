"""Data to stdout: text as it is, or one JSON document."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from barry_cli.base.problems import OutputProblem

if TYPE_CHECKING:
    from collections.abc import Callable


_OBEYED = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}  # JSON escapes those below


class ReaderGone(Exception):
    """Whoever read our output has seen enough."""

    exit_code = 141
    """As of any program that nobody listens to any more."""


class Stdout:
    """Standard output, whose failures are sentences: what was asked for is lost, Barry isn't."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def write(self, text: str) -> int:
        try:
            return self._there().write(text)
        except OSError as error:
            raise _lost(error) from error
        except UnicodeEncodeError:
            # A name that is no text, or an encoding that lacks a letter: still shown.
            encoding = self._there().encoding
            return self.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def flush(self) -> None:
        try:
            self._there().flush()
        except OSError as error:
            raise _lost(error) from error

    def _there(self) -> TextIO:
        if self._stream is None:
            raise OutputProblem(
                "standard output is closed, so there is nowhere to write to",
                hint="leave it open, or send it to /dev/null",
            )
        return self._stream


def _lost(error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError):
        return ReaderGone()
    return OutputProblem(
        f"the output can't be written: {error.strerror or error}",
        hint="send it to where there is room for it",
    )


def write(text: str) -> None:
    """Text to stdout in one write."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_json(document: object) -> None:
    """One JSON document to stdout: its letters as they are, where the output has them all.

    Bytes that are no text are in it as lone surrogates, escaped.
    """
    indent = 2 if sys.stdout.isatty() else None  # to lay it out for the eye is slow
    text = json_text(document, indent)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=indent)
    write(text + "\n")


def json_text(
    document: object, indent: int | None = None, default: Callable[[Any], object] | None = None
) -> str:
    """JSON with its letters as they are, but for those that a terminal obeys: they are escaped."""
    text = json.dumps(document, indent=indent, ensure_ascii=False, default=default)
    return text.translate(_OBEYED)


def ago(moment: str | None) -> str:
    """A recorded time as people say it."""
    if not moment:
        return "-"
    seconds = (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
