"""How a session's own children are known: by a token, of which only a digest is recorded."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256

from barry_cli.base.paths import Folders
from barry_cli.base.processes import ProcessIdentity, is_alive
from barry_cli.turns.store.sessions import SessionRow, Sessions


def new_token() -> str:
    """A secret that nobody guesses: 256 random bits, as text."""
    return secrets.token_urlsafe(32)


def token_digest(token: str) -> str:
    """What is recorded of a token: it tells the token, and doesn't give it away."""
    return sha256(token.encode(errors="surrogatepass")).hexdigest()


def is_token_of(folders: Folders, session_id: str, token: str) -> bool:
    """Whether a token is that of a session of this user that runs. Raises StoreProblem."""
    row = Sessions(folders).find(session_id)
    expected = row.token_digest if row is not None and _runs(row) else None
    # Compared in either case: how long an answer takes must not tell which sessions there are.
    same = hmac.compare_digest(token_digest(token), expected or token_digest(""))
    return same and expected is not None


def _runs(row: SessionRow) -> bool:
    if row.state == "ended":
        return False
    processes = ((row.pid, row.pid_started), (row.supervisor_pid, row.supervisor_started))
    return any(
        is_alive(ProcessIdentity(pid, started))
        for pid, started in processes
        if pid is not None and started is not None
    )
