"""What the tests of this adapter share: its package on the path, plans, recorded conversations."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import SessionConfig

if TYPE_CHECKING:
    from codex_samples import Plan, Record

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[3] / "adapters" / "codex")]


@pytest.fixture
def plan(home: Path) -> Plan:
    """Plans with these fields of a configuration, as the launcher would ask for it."""
    from barry_adapter_codex import adapter

    mode = adapter.modes["guest"]
    assert mode is not None

    def make(**fields: Any) -> LaunchPlan:
        asked: dict[str, Any] = {
            "session_id": "barry-1",
            "cwd": str(home),
            "env": {"HOME": str(home)},
            "allowed_native_tools": adapter.native_tools,
        }
        config = configure_harness_session(
            SessionConfig(**{**asked, **fields}), adapter.native_tools, mode.native
        )

        async def planned() -> LaunchPlan:
            return await mode.plan(config)

        return asyncio.run(planned())

    return make


@pytest.fixture
def record(home: Path) -> Record:
    """Writes a conversation's file, as Codex would have."""

    def write(
        conversation: str = "01a22d2b-91fd-7533-a638-eb1c0741137a",
        *,
        cwd: Path | str = home,
        source: object = "cli",
        provider: str = "openai",
        more: tuple[dict[str, Any], ...] = (),
        at: float | None = None,
    ) -> Path:
        folder = home / ".codex" / "sessions" / "2026" / "11" / "30"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2026-11-30T15-55-59-{conversation}.jsonl"
        meta = {
            "id": conversation,
            "cwd": str(cwd),
            "source": source,
            "model_provider": provider,
            "originator": "codex-tui",
        }
        lines = [{"type": "session_meta", "payload": meta}, *more]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        if at is not None:
            os.utime(path, (at, at))
        return path

    return write
