"""Sessions that messages are sent to."""

from __future__ import annotations

import os
from typing import Any

from barry_cli.base.ids import new_id
from barry_cli.base.paths import Folders, folders
from barry_cli.base.processes import identify
from barry_cli.inbox.messages import Peer
from barry_cli.turns.store.sessions import SessionRow, Sessions, now

ME = Peer(pid=os.getpid(), uid=os.getuid())


def session(where: Folders | None = None, **values: Any) -> SessionRow:
    """One that runs under this very process, and takes messages."""
    own = identify(os.getpid())
    assert own is not None
    plain: dict[str, Any] = {
        "id": new_id(),
        "adapter": "toy",
        "mode": "instrumented",
        "cwd": "/",
        "guarantees": {
            "capture": "near-total",
            "delivery": "wake",
            "gating": "hooks",
            "identity": "hooks",
            "interrupt": False,
            "keepsVendorUi": True,
            "steer": True,
        },
        "asked": {},
        "state": "running",
        "created_at": now(),
        "owner_uid": os.getuid(),
        "supervisor_pid": own.pid,
        "supervisor_started": own.start_time,
        "pid": own.pid,
        "pid_started": own.start_time,
    }
    row = SessionRow(**{**plain, **values})
    Sessions(where or folders()).add(row)
    return row
