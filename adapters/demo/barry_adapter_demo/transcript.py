"""The demo harness's own record of its conversations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from barry_adapter_demo.harness import transcript
from barry_cli.sessions import (
    Failed,
    Init,
    SessionEvent,
    Text,
    TokenUsage,
    ToolResult,
    ToolUse,
    UsageReported,
)


class DemoTranscripts:
    """One JSONL file a conversation, by folder; it appears with the first prompt."""

    def find(self, harness_session_id: str, cwd: str, env: Mapping[str, str]) -> Path | None:
        found = transcript.find(harness_session_id, cwd, env)
        return Path(found) if found is not None else None

    def list(self, cwd: str, env: Mapping[str, str]) -> Iterator[str]:
        yield from transcript.ids(cwd, env)

    def read(self, path: Path) -> Iterator[SessionEvent]:
        yield Init(harness_session_id=os.path.basename(path).partition(".")[0])
        for row in transcript.read(str(path)):
            try:
                event = _event(row)
            except (KeyError, ValueError):  # written by another version, or by hand
                continue
            if event is not None:
                yield event


def _event(row: Mapping[str, Any]) -> SessionEvent | None:
    kind = row["type"]
    if kind in ("user", "assistant"):
        return Text(text=row["text"], role="user" if kind == "user" else "assistant")
    if kind == "tool_use":
        return ToolUse(id=row["id"], tool=row["name"], input=row.get("input"))
    if kind == "tool_result":
        failed = None if row.get("ok", True) else True
        return ToolResult(id=row["id"], result=row["output"], error=failed)
    if kind == "error":
        return Failed(error=row["message"])
    if kind == "usage":
        usage = TokenUsage(input=row["input_tokens"], output=row["output_tokens"])
        return UsageReported(id=row["time"], usage=usage)
    return None
