"""A harness's transcript as tests write it: a line of JSON an event."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from barry_cli.contract.events import (
    Done,
    Init,
    SessionEvent,
    Text,
    ToolResult,
    ToolUse,
    UsageReported,
)
from barry_cli.contract.models import TokenUsage


def user(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text, "role": "user"}


def agent(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text, "role": "assistant"}


def use(call: str, tool: str = "run", input: object = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "tool": tool, "input": input}


def result(call: str, said: str = "ok") -> dict[str, Any]:
    return {"type": "tool_result", "id": call, "result": said}


DONE = {"type": "done"}


class Notebook:
    """A folder of conversations; what is written there is what the source reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reads = 0
        self.broken: BaseException | None = None
        self.ends = True
        """Whether reading tells where a turn ended."""

    def path(self, conversation: str) -> Path:
        return self.folder / f"{conversation}.jsonl"

    def write(self, conversation: str, *events: Mapping[str, Any], half: str = "") -> None:
        """Add whole lines, and perhaps the beginning of another one."""
        with self.path(conversation).open("a") as file:
            file.write("".join(json.dumps(event) + "\n" for event in events) + half)

    def replace(self, conversation: str, *events: Mapping[str, Any]) -> None:
        """Put another file in its place."""
        new = self.folder / "new"
        new.write_text("".join(json.dumps(event) + "\n" for event in events))
        new.rename(self.path(conversation))

    # --- TranscriptSource ---

    def find(self, harness_session_id: str, cwd: str, env: Mapping[str, str]) -> Path | None:
        found = self.path(harness_session_id)
        return found if found.exists() else None

    def list(self, cwd: str, env: Mapping[str, str]) -> Iterator[str]:
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".jsonl"):
                yield name.removesuffix(".jsonl")

    def read(self, path: Path) -> Iterator[SessionEvent]:
        self.reads += 1
        if self.broken is not None:
            raise self.broken
        yield Init(harness_session_id=path.stem)
        begun = False
        for line in path.read_text().splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            kind = row.pop("type")
            if kind == "text":
                if row["role"] == "user" and begun and self.ends:
                    yield Done()
                begun = True
                yield Text(**row)
            elif kind == "tool_use":
                yield ToolUse(**row)
            elif kind == "tool_result":
                yield ToolResult(**row)
            elif kind == "usage":
                yield UsageReported(
                    id=row["id"], usage=TokenUsage(input=row["input"], output=row["output"])
                )
            elif kind == "done":
                begun = False
                yield Done(turns=1)
        if begun and self.ends:
            yield Done()
