"""Reading, writing and editing the files of a session's folders."""

from __future__ import annotations

import io

from barry_cli.guard.inputs import EditFile, ReadFile, WriteFile
from barry_cli.guard.output import MOST
from barry_cli.guard.places import Place, content, put
from barry_cli.guard.problems import NotDone

BYTES = 16 << 20
"""The largest file that is read or edited."""


def read_file(asked: ReadFile, place: Place) -> list[str]:
    """The lines as they are, and a note where there are more. Raises NotDone."""
    text = _text(content(place, BYTES), place)
    if not text:
        return [f"[{asked.path} is empty]"]
    lines = list(io.StringIO(text, newline="\n"))  # as every other tool counts them
    if asked.start > len(lines):
        raise NotDone(f"{asked.path} has {len(lines)} lines: line {asked.start} is none of them")
    found: list[str] = []
    size = 0
    for line in lines[asked.start - 1 : asked.start - 1 + asked.count]:
        if found and size + len(line) > MOST:
            break
        found.append(line)
        size += len(line)
    last = asked.start - 1 + len(found)
    shown = "".join(found)
    if len(shown) > MOST:
        note = f"[line {last} has {len(shown):,} characters: the first {MOST:,} are shown]"
        return [shown[:MOST], note]
    if asked.start == 1 and last == len(lines):
        return [shown]
    more = f"; ask on with start {last + 1}" if last < len(lines) else ""
    return [shown, f"[lines {asked.start} to {last} of {len(lines)}{more}]"]


def write_file(asked: WriteFile, place: Place) -> list[str]:
    """Raises NotDone; then the file is as it was."""
    data = _encoded(asked.content)
    done = "replaced" if put(place, data) else "made"
    return [f"{asked.path} is {done}: {len(data):,} bytes"]


def edit_file(asked: EditFile, place: Place) -> list[str]:
    """Raises NotDone where the old text isn't there exactly once; then the file is as it was."""
    data = content(place, BYTES)
    _text(data, place)
    old, new = _encoded(asked.old), _encoded(asked.new)
    count = _occurrences(data, old)
    if count != 1:
        raise NotDone(
            f"{asked.path} is not changed: the old text is in it {count} times, and must be once. "
            + ("Give more of what stands around it" if count else "Read the file again")
        )
    put(place, data.replace(old, new))
    return [f"{asked.path} is changed"]


def _occurrences(data: bytes, part: bytes) -> int:
    """How often it is there, overlaps counted."""
    count, at = 0, data.find(part)
    while at >= 0 and count < 100:
        count += 1
        at = data.find(part, at + 1)
    return count


def _text(data: bytes, place: Place) -> str:
    if b"\0" not in data:
        try:
            return data.decode()
        except UnicodeDecodeError:
            pass
    raise NotDone(f"{place.asked} is no text in UTF-8 ({len(data):,} bytes)")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise NotDone("the text holds half a character, which no file in UTF-8 can") from None
