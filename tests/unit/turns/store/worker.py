"""A process of its own that works on turns: ``python -m ...worker VERB``."""

from __future__ import annotations

import sys

from barry_cli.base.paths import folders
from barry_cli.base.problems import BarryError
from barry_cli.contract.events import Text
from barry_cli.contract.session import Allowed, Denied
from barry_cli.contract.turns import ApprovalDecision
from barry_cli.turns.store.owners import new_owner
from barry_cli.turns.store.turns import SqliteTurnStore


def claim(store: SqliteTurnStore) -> None:
    """Claim every turn that can be had; print the ids of those that were."""
    owner = new_owner()
    # Without waits for the disk the processes meet more often, and the test is quick.
    store._database._connection.execute("PRAGMA synchronous=OFF")
    store._database._durable = True
    for line in sys.stdin:
        session_id, turn_id = line.split()
        if store.claim(session_id, turn_id, owner):
            print(turn_id)


def write(store: SqliteTurnStore, session_id: str, turn_id: str) -> None:
    """Claim a turn and append to it for ever; print each number once it is recorded."""
    store.claim(session_id, turn_id, new_owner())
    at = 0
    while True:
        at += 1
        print(store.append(session_id, turn_id, Text(text=f"{at}")), flush=True)


def decide(store: SqliteTurnStore, session_id: str, turn_id: str, *given: str) -> None:
    """Decide an interrupt, once the parent says so; print whether it counted."""
    interrupt, which = given
    print("ready", flush=True)
    sys.stdin.readline()
    decision = Allowed() if which == "yes" else Denied()
    try:
        store.resolve(
            session_id=session_id,
            turn_id=turn_id,
            run_id="run",
            request_id=which,
            actor=which,
            decisions=[ApprovalDecision(interrupt_id=interrupt, decision=decision)],
        )
    except BarryError as problem:
        print(problem.code)
    else:
        print("counted")


if __name__ == "__main__":
    verb = {"claim": claim, "write": write, "decide": decide}[sys.argv[1]]
    with SqliteTurnStore(folders()) as opened:
        verb(opened, *sys.argv[2:])
