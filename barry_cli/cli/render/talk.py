"""Talk to the person: always on stderr, so that stdout holds data alone."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

from barry_cli.cli.render.columns import printable

_CODES = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "dim": "2"}


def coloured(stream: TextIO | None) -> bool:
    """Whether colour is wanted on a stream: a terminal, and nothing that asks for none."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty()


def style(text: str, name: str, stream: TextIO | None) -> str:
    """The text in a style, where the stream shows styles."""
    return f"\x1b[{_CODES[name]}m{text}\x1b[0m" if coloured(stream) else text


def say(text: str) -> None:
    """One line to the person. Where nobody can hear it, the work goes on all the same."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text + "\n")
            sys.stderr.flush()


def one_line(text: str) -> str:
    """What a package, a file or a program says, as one line that moves no cursor."""
    return printable(" ".join(text.split()))


class Talk:
    """What a launch has to say, said on stderr."""

    def warn(self, text: str) -> None:
        say(f"{style('warning:', 'yellow', sys.stderr)} {one_line(text)}")

    def note(self, text: str) -> None:
        say(f"{style('note:', 'dim', sys.stderr)} {one_line(text)}")


def somebody_there() -> bool:
    """Whether somebody is there to ask."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def confirm(question: str) -> bool:
    """Ask for yes or no; no when nothing is answered."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):  # the end of the input ends no line
        say("")
    return answer.strip().lower() in ("y", "yes")
