"""Which conversation a launch goes on with, and where it lives."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from barry_cli.base.problems import ConversationLost, SessionNotFound, UsageProblem
from barry_cli.contract.adapter import Adapter
from barry_cli.contract.session import Resume
from barry_cli.launch.request import LaunchRequest
from barry_cli.turns.store.sessions import SessionRow, Sessions


@dataclass(frozen=True, slots=True)
class Continued:
    """The conversation to go on with, if any."""

    resume: Resume | None = None
    session: SessionRow | None = None
    """The session of ours that it belongs to."""


def recorded(request: LaunchRequest, adapter_id: str, sessions: Sessions) -> SessionRow | None:
    """The session of ours that ``--resume`` names; None when it names none of ours.

    Raises UsageProblem when it is another adapter's.
    """
    if not request.resume:
        return None
    try:
        row = sessions.get(request.resume)
    except SessionNotFound as problem:
        if "sessions" in problem.details:  # a prefix of several: say so rather than guess
            raise
        return None
    if row.adapter != adapter_id:
        raise UsageProblem(
            f"session {row.id} is a session of {row.adapter}, not of {adapter_id}",
            hint=f"`barry session resume {row.id}` goes on with it",
            details={"sessionId": row.id, "adapterId": row.adapter},
        )
    return row


def find_conversation(
    request: LaunchRequest,
    adapter: Adapter,
    row: SessionRow | None,
    cwd: str,
    env: Mapping[str, str],
) -> Continued:
    """What the plan is told to resume, checked against the harness's own record where it can be.

    Raises ConversationLost when the record is gone, belongs to another folder, or never had a
    conversation.
    """
    asked = sum((request.resume is not None, request.last, request.pick))
    if asked > 1:
        raise UsageProblem(
            "--resume, --last and --pick each name a conversation", hint="give one of them"
        )
    if request.last:
        return Continued(Resume(last=True))
    if request.pick or request.resume == "":
        return Continued(Resume(picker=True))
    if request.resume is None:
        return Continued()
    if row is not None and row.harness_session_id is None:
        raise ConversationLost(
            f"session {row.id} has no conversation to go on with: {adapter.label} never named one",
            hint="start a new session, or use --pick to choose in the harness",
            details={"sessionId": row.id},
        )
    conversation = row.harness_session_id if row is not None else request.resume
    assert conversation is not None
    if not all(letter.isalnum() or letter in "_-" for letter in conversation):
        raise UsageProblem(
            f"{conversation!r} is no id of a session or conversation",
            hint="`barry session list` shows the sessions",
        )
    _check_record(adapter, conversation, row, cwd, env)
    return Continued(Resume(harness_session_id=conversation), row)


def _check_record(
    adapter: Adapter,
    conversation: str,
    row: SessionRow | None,
    cwd: str,
    env: Mapping[str, str],
) -> None:
    if adapter.transcript is None:
        return
    if adapter.transcript.find(conversation, cwd, env) is not None:
        return
    name = f"session {row.id}" if row is not None else f"conversation {conversation}"
    raise ConversationLost(
        f"{adapter.label} has no record of {name} in {cwd}: it was deleted, "
        "belongs to another folder, or never had a first message",
        hint="run it from the folder it was started in (or give --cwd), start a new session, "
        "or use --pick to choose in the harness",
        details={"conversation": conversation, "cwd": cwd},
    )


def place(request: LaunchRequest, row: SessionRow | None) -> tuple[str, str | None]:
    """The folder to start in, and a note when it is not where the user stands.

    A resumed session goes back to its own folder; asking for another one is refused, because the
    harness keeps conversations by folder.
    """
    try:
        here = os.getcwd()
    except OSError as error:
        if request.cwd is None and row is None:
            raise UsageProblem(
                "the folder you are in no longer exists", hint="cd to one that does, or give --cwd"
            ) from error
        here = "/"
    asked = os.path.abspath(os.path.join(here, request.cwd)) if request.cwd is not None else None
    if row is None:
        cwd = asked or here
    elif asked is not None and os.path.realpath(asked) != os.path.realpath(row.cwd):
        raise ConversationLost(
            f"session {row.id} belongs to {row.cwd}, and can't go on in {asked}",
            hint="leave out --cwd: it is resumed where it was started",
            details={"sessionId": row.id, "cwd": row.cwd},
        )
    else:
        cwd = row.cwd
    if not os.path.isdir(cwd):
        raise UsageProblem(f"the folder {cwd} does not exist", hint="give --cwd a folder that does")
    if not os.access(cwd, os.X_OK):
        raise UsageProblem(f"the folder {cwd} can't be entered", hint="mend its permissions")
    note = f"in {cwd}, where it was started" if row is not None and cwd != here else None
    return cwd, note
