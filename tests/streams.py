"""Golden streams: what a harness's pinned build was seen to write, line by line.

``tests/data/streams/<id>/<case>.jsonl``: the first line is the header ``{"version", "argv",
"kinds"}``, every other one a line of the harness. ``make record`` writes them anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data" / "streams"

# What differs from run to run is no part of a stream's shape.
_RUN = (
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:8080"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "2026-01-01T00:00:00.000Z"),
)


@dataclass(frozen=True)
class Stream:
    """One recording."""

    version: str
    argv: tuple[str, ...]
    kinds: tuple[str, ...]
    """The kinds of events that it means, see ``kinds_of``."""
    lines: tuple[str, ...]

    def write(self, path: Path) -> None:
        header = {"version": self.version, "argv": self.argv, "kinds": self.kinds}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([json.dumps(header), *self.lines]) + "\n", encoding="utf-8")


def read_stream(path: Path) -> Stream:
    """A recording from its file."""
    first, *lines = path.read_text("utf-8").splitlines()
    header: dict[str, Any] = json.loads(first)
    return Stream(
        header["version"], tuple(header["argv"]), tuple(header["kinds"]), tuple(lines)
    )  # fmt: skip


def streams_of(harness: str) -> dict[str, Path]:
    """Every case recorded of a harness."""
    return {path.stem: path for path in sorted((FOLDER / harness).glob("*.jsonl"))}


def kind_of(event: object) -> str:
    """The name of an event's kind: ``type`` of a session event, else its class in lower case."""
    return str(getattr(event, "type", type(event).__name__.lower()))


def kinds_of(events: Iterable[object]) -> tuple[str, ...]:
    """The kinds in order, each once in a row; without what depends on how a run was paced."""
    found: list[str] = []
    for event in events:
        kind = kind_of(event)
        if kind not in ("raw", "partial", "tool_progress") and found[-1:] != [kind]:
            found.append(kind)
    return tuple(found)


def scrub(text: str, places: Mapping[str, str]) -> str:
    """A line without places of this machine (path -> what stands for it) and without times.

    Longer paths are replaced first. Some harnesses write a path with ``-`` for ``/`` in it.
    """
    for place in sorted(places, key=len, reverse=True):
        stands = places[place]
        text = text.replace(place, stands)
        dashed = re.sub(r"[^a-zA-Z0-9]", "-", place)
        text = text.replace(dashed, re.sub(r"[^a-zA-Z0-9]", "-", stands))
    for pattern, stands in _RUN:
        text = pattern.sub(stands, text)
    return text


def replay(
    lines: Sequence[str],
    events: Callable[[str], Sequence[object]],
    dialogue: Any = None,
    answer: Callable[[Any], Any] | None = None,
) -> tuple[list[object], list[str]]:
    """What recorded lines mean, and what the dialogue would write.

    ``answer`` gives a decision for each PermissionRequested. Lines that are no JSON object are
    left out, as the driver leaves them out.
    """
    found: list[object] = []
    written: list[str] = [dialogue.start()] if dialogue is not None else []
    for line in lines:
        if not line.startswith("{"):
            continue
        step = dialogue.read(line) if dialogue is not None else None
        given = list(events(line) if step is None else step.events)
        written += () if step is None else step.replies
        found += given
        for event in given:
            if kind_of(event) == "permission_request" and answer is not None:
                written.append(dialogue.answer(event.id, answer(event)))  # type: ignore[attr-defined] # that kind has one
    return found, written
