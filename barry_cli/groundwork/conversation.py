"""Which conversation a launch goes on with, and where it lives."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from barry_cli.base.problems import ConversationLost, Refused, SessionNotFound, UsageProblem
from barry_cli.contract.adapter import Adapter
from barry_cli.contract.session import Resume
from barry_cli.groundwork.request import LaunchRequest
from barry_cli.groundwork.surroundings import as_found
from barry_cli.turns.store.sessions import SessionRow, Sessions


@dataclass(frozen=True, slots=True)
class Continued:
    """The conversation to go on with, if any."""

    resume: Resume | None = None
    session: SessionRow | None = None
    """The session of ours that it belongs to."""


def recorded(
    request: LaunchRequest, adapter_id: str, sessions: Sessions, aliases: Sequence[str] = ()
) -> SessionRow | None:
    """The session of ours that ``--resume`` names; None when it names none of ours.

    ``aliases``: former ids of the adapter, which older sessions were recorded under.
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
    if row.adapter != adapter_id and row.adapter not in aliases:
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
    try:
        with as_found():
            found = adapter.transcript.find(conversation, cwd, env)
    except (Exception, SystemExit) as error:  # somebody else's code: its failure is told as theirs
        raise Refused(
            f"the adapter {adapter.id} failed to look for {conversation}: "
            f"{type(error).__name__}: {error}",
            hint="this is a fault of the adapter; an update may mend it",
            details={"adapterId": adapter.id, "conversation": conversation},
        ) from error
    if found is not None:
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
    asked = None if request.cwd is None else absolute(request.cwd, "--cwd")
    if row is None:
        cwd = asked or absolute(".", "--cwd")
    elif asked is not None and os.path.realpath(asked) != os.path.realpath(row.cwd):
        raise ConversationLost(
            f"session {row.id} belongs to {row.cwd}, and can't go on in {asked}",
            hint="leave out --cwd: it is resumed where it was started",
            details={"sessionId": row.id, "cwd": row.cwd},
        )
    else:
        cwd = row.cwd
    if not os.path.isdir(cwd):
        if row is not None:
            raise ConversationLost(
                f"session {row.id} was started in {cwd}, and that folder is gone",
                hint="put the folder back, or start a new session",
                details={"sessionId": row.id, "cwd": cwd},
            )
        if os.path.lexists(cwd):
            raise UsageProblem(f"{cwd} is not a folder", hint="give --cwd one that is")
        raise UsageProblem(f"the folder {cwd} does not exist", hint="give --cwd a folder that does")
    if not os.access(cwd, os.X_OK):
        raise UsageProblem(f"the folder {cwd} can't be entered", hint="mend its permissions")
    try:
        cwd.encode()
    except UnicodeEncodeError as error:
        raise UsageProblem(
            f"the name of the folder {cwd} is not UTF-8, and can't be recorded",
            hint="rename it, or start in another folder",
        ) from error
    note = f"in {cwd}, where it was started" if row is not None and cwd != _here() else None
    return cwd, note


def absolute(path: str, flag: str) -> str:
    """A path that the user gave, made absolute from where they stand.

    Raises UsageProblem for an empty one, and for a relative one where that folder is gone.
    """
    if not path:
        raise UsageProblem(f"{flag} is empty", hint=f"give {flag} a folder")
    path = os.path.expanduser(path)
    if os.path.isabs(path):
        return os.path.normpath(path)
    here = _here()
    if here is None:
        raise UsageProblem(
            "the folder you are in no longer exists",
            hint=f"cd to one that does, or give {flag} an absolute path",
        )
    return os.path.normpath(os.path.join(here, path))


def _here() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None
