"""A Barry home with sessions in it, and owners that live or don't."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from barry_cli.base.ids import new_id
from barry_cli.base.paths import Folders, folders
from barry_cli.base.processes import ProcessIdentity, identify
from barry_cli.contract.turns import AutomaticReview, TurnExecutionStore
from barry_cli.testing import TurnStoreKit
from barry_cli.turns.store.owners import new_owner, owner_of
from barry_cli.turns.store.sessions import SessionRow, Sessions, now
from barry_cli.turns.store.turns import SqliteTurnStore


def home(top: str | Path) -> Folders:
    names = ("config", "data", "state", "cache", "run")
    return Folders(*(Path(top, name) for name in names))


def new_session(where: Folders | None = None, **values: Any) -> str:
    session_id = new_id()
    plain: dict[str, Any] = {
        "id": session_id,
        "adapter": "toy",
        "mode": "hosted",
        "cwd": "/",
        "guarantees": {},
        "asked": {},
        "state": "running",
        "created_at": now(),
    }
    Sessions(where or folders()).add(SessionRow(**{**plain, **values}))
    return values.get("id", session_id)


@cache
def _gone() -> ProcessIdentity:
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    identity = identify(child.pid)
    assert identity is not None
    child.communicate(b"\n", timeout=30)
    return identity


def dead_owner() -> str:
    return owner_of(_gone())


def admit(store: TurnExecutionStore, session_id: str, content: Any = "hello", **values: Any) -> str:
    asked: dict[str, Any] = {
        "session_id": session_id,
        "request_id": new_id(),
        "run_id": "run",
        "actor": "ada",
        "content": content,
        "policy": AutomaticReview(),
    }
    return store.admit(**{**asked, **values}).id


def begin(
    store: TurnExecutionStore, session_id: str, owner: str | None = None, **values: Any
) -> tuple[str, str]:
    owner = owner or new_owner()
    turn_id = admit(store, session_id, **values)
    assert store.claim(session_id, turn_id, owner)
    return turn_id, owner


def kit(make: Any = SqliteTurnStore) -> TurnStoreKit:
    where = folders()

    async def opened() -> TurnExecutionStore:
        return make(where)

    async def session() -> str:
        return new_session(where)

    async def close(store: Any) -> None:
        store.close()

    return TurnStoreKit(
        open=opened,
        new_session=session,
        living_owner=new_owner,
        dead_owner=dead_owner,
        close=close,
    )
