"""Labelled fenced blocks in what a model says (seed 001)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from json import JSONDecoder

_FENCE = re.compile(r"([ \t]*)(`{3,})([^`\r\n]*)\r?")
_BARE = re.compile(r"^[ \t]*(`{4,})[ \t]*\r?$", re.MULTILINE)
_CLOSING = re.compile(r"\s*`{3,}[ \t]*\r?(?=\n|$)")
_TRIES = 100  # blocks of broken JSON, each of which costs a look at all that stands before it
_DECODER = JSONDecoder(strict=False)  # a model may put a line's end into a string


@dataclass(frozen=True, slots=True)
class _Open:
    """A block that has begun: its fence, and where its text starts."""

    ticks: int
    label: str
    indent: str
    start: int


def extract_fence(text: str, label: str) -> str | None:
    """The text of the last complete block that is labelled so, or None.

    Blocks of four or more backticks are preferred, because their text may hold shorter fences.
    In one of three, fences with a label are taken to open blocks of their own; when its text is
    JSON it ends where the JSON ends, so that backticks in a JSON string, or after it on its last
    line, don't mislead. Of blocks within each other the outer counts. Fences may be indented, by
    which the text is then dedented; lines may end in CRLF and come out in LF; tildes are no fence.
    """
    if not label:
        return None
    best: dict[bool, tuple[int, int, str]] = {}  # where it stands: of nested ones one is copied
    last = {len(bare[1]): bare.start() for bare in _BARE.finditer(text)}
    opened: list[_Open] = []
    tries = 0
    at = 0
    while at < len(text):
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        fence = _FENCE.fullmatch(text, at, line_end)
        at, line = line_end + 1, at
        if fence is None:
            continue
        ticks, info = len(fence[2]), fence[3].strip()
        top = opened[-1] if opened else None
        if top is not None and not info and ticks >= top.ticks:
            opened.pop()
            if top.label == label:
                best[top.ticks > 3] = (top.start, line, top.indent)
        elif (top is None or top.ticks == 3) and (info or top is None):
            if ticks > 3 and not any(n >= ticks and where >= at for n, where in last.items()):
                continue  # it is never closed, and would hide what follows
            block = _Open(ticks, info.partition(" ")[0], fence[1], at)
            wanted = (ticks, block.label) == (3, label) and tries < _TRIES
            end = _json_end(text, block) if wanted else None
            if end is None:
                opened.append(block)
                tries += wanted
            else:
                best[False] = (block.start, end[0], block.indent)
                at = end[1]
    found = best.get(True, best.get(False))
    return None if found is None else _text(text[found[0] : found[1]], found[2])


def _json_end(text: str, block: _Open) -> tuple[int, int] | None:
    """Where a block's JSON ends, and its fence; None when it isn't JSON, fenced behind."""
    start = block.start
    while start < len(text) and text[start] in " \t\r\n":
        start += 1
    try:
        _, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    closing = _CLOSING.match(text, end)
    return (end, closing.end() + 1) if closing else None


def _text(block: str, indent: str) -> str:
    lines = block.removesuffix("\n").replace("\r\n", "\n").removesuffix("\r").split("\n")
    return "\n".join(line.removeprefix(indent) for line in lines)
