"""``barry session list``, ``show``, ``events``, ``stop`` and ``interrupt``: what is on record."""

from __future__ import annotations

from typing import Annotated

import typer

from barry_cli.cli.arguments import no_tail
from barry_cli.cli.session_flags import Json


def list_(context: typer.Context, json: Json = False) -> None:
    """The sessions: those that live first, then newest first."""
    no_tail(context.obj)
    from barry_cli.base.paths import folders
    from barry_cli.cli.render import session_rows as rows
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.groundwork.living import all_sessions

    found = all_sessions(folders())
    if json:
        write_json(rows.sessions_document(found))
    else:
        write(rows.sessions(found))


def show(
    context: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION")],
    json: Json = False,
) -> None:
    """One session: where it runs or ran, what it was promised, how it and its turns ended."""
    no_tail(context.obj)
    from barry_cli.base.paths import folders
    from barry_cli.cli.render import session_rows as rows
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.groundwork.captured import captured_of
    from barry_cli.groundwork.living import lives, one_session
    from barry_cli.groundwork.turns import turns_of
    from barry_cli.inbox.record import messages_of

    home = folders()
    found = one_session(home, session)
    turns = turns_of(home, found.row.id)
    captured = captured_of(home, found.row)
    sent = messages_of(home, found.row, lives)
    if json:
        write_json({**rows.session_document(found, turns, sent), "recorded": captured})
    else:
        write(rows.session(found, turns, sent, captured))


def events(
    context: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION")],
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for more until the session has ended.")
    ] = False,
    after: Annotated[
        int, typer.Option("--after", metavar="N", min=0, help="Only events after this number.")
    ] = 0,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON document a line; failures in JSON, too.")
    ] = False,
) -> None:
    """What happened in a session, in order."""
    no_tail(context.obj)
    from barry_cli.base.paths import folders
    from barry_cli.cli.render.events import line, text
    from barry_cli.cli.render.output import write
    from barry_cli.cli.render.talk import Talk
    from barry_cli.groundwork.captured import nothing_of
    from barry_cli.groundwork.following import follow_events
    from barry_cli.groundwork.living import one_session

    home = folders()
    row = one_session(home, session).row
    if row.mode == "guest":  # said at once: it may be waited for until its end
        Talk().note(nothing_of(row))
    shown = after
    for stored in follow_events(home, row.id, after=after, follow=follow):
        write(line(stored) if json else text(stored))
        shown = stored.sequence
    if not shown and row.mode == "instrumented":
        Talk().note(nothing_of(one_session(home, row.id).row))


def interrupt(
    context: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION")],
    json: Json = False,
) -> None:
    """Cut the running turn of a session that Barry drives; it ends in good order."""
    no_tail(context.obj)
    from barry_cli.base.paths import folders
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.groundwork.living import interrupt_session

    stopped = interrupt_session(folders(), session)
    if json:
        write_json(
            {"schema": 1, "sessionId": stopped.id, "was": stopped.was, "ended": stopped.ended}
        )
    else:
        write(f"{stopped.id} {stopped.text}\n")
    raise typer.Exit(0 if stopped.ended else 1)


def stop(
    context: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION")],
    json: Json = False,
) -> None:
    """End a session that runs on this machine: asked first, then made to."""
    no_tail(context.obj)
    from barry_cli.base.paths import folders
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.groundwork.living import stop_session

    stopped = stop_session(folders(), session)
    if stopped.not_recorded is not None:
        from barry_cli.cli.render.talk import Talk

        Talk().warn(f"that it ended is not recorded: {stopped.not_recorded}")
    if json:
        write_json(
            {"schema": 1, "sessionId": stopped.id, "was": stopped.was, "ended": stopped.ended}
        )
    else:
        write(f"{stopped.id} {stopped.text}\n")
    raise typer.Exit(0 if stopped.ended else 1)
