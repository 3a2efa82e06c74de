"""``barry session send``: a message into a session that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from barry_cli.cli.session_flags import Json

if TYPE_CHECKING:
    from barry_cli.inbox.sender import Goal


def send(
    context: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION")],
    message: Annotated[
        str | None,
        typer.Argument(metavar="MESSAGE|-", help="What is said; - reads it from stdin."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--from", metavar="NAME", help="Who you say you are; told as a claim."),
    ] = None,
    steer: Annotated[
        bool, typer.Option("--steer", help="Into the running turn, where the harness can.")
    ] = False,
    wait: Annotated[
        str | None,
        typer.Option(
            "--wait", metavar="written|consumed", help="Wait until the message got so far."
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="S",
            help="Wait at most so many seconds (exit 124); the message stays.",
        ),
    ] = None,
    message_id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="ID", help="The message's own id: sent again, it is one message."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Send a message to a session that runs. What comes after -- is the message as it is."""
    import os

    from barry_cli.base.paths import folders
    from barry_cli.cli.render import messages as shown
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.groundwork.living import lives
    from barry_cli.inbox import sender
    from barry_cli.turns.store.sessions import Sessions

    goal, seconds = _goal(wait, timeout)
    content = _content(context.obj, message)
    home = folders()
    row = Sessions(home).get(session)
    sent = sender.send(
        home,
        row,
        content,
        lives=lives,
        id=message_id,
        name=name,
        steer=steer,
        identity=_identity(os.environ.get("BARRY_SESSION"), os.environ.get("BARRY_TOKEN")),
    )
    if goal is None:
        text, document, code = shown.sent(row.id, sent)
    else:
        waited = sender.wait(home, row.id, sent.message_id, goal, seconds, lives=lives)
        text, document, code = shown.waited(waited)
    if json:
        write_json(document)
    else:
        write(text)
    if code == 124:
        from barry_cli.cli.render.talk import Talk

        Talk().note(f"not {goal} within {seconds:g} s; the message stays")
    raise typer.Exit(code)


def _identity(session: str | None, token: str | None) -> tuple[str, str] | None:
    return (session, token) if session and token else None


def _goal(word: str | None, timeout: float | None) -> tuple[Goal | None, float | None]:
    """What is waited for, and how long. Raises UsageProblem."""
    from barry_cli.base.problems import UsageProblem
    from barry_cli.inbox.sender import GOALS

    if timeout is not None:
        if word is None:
            raise UsageProblem(
                "--timeout says how long to wait, and nothing says for what",
                hint="add --wait consumed or --wait written",
            )
        if not 0 < timeout < 10_000_000:
            raise UsageProblem(
                f"--timeout {timeout:g} is no time", hint="give seconds above 0 and below 10000000"
            )
    if word is None:
        return None, None
    for goal in GOALS:
        if goal == word:
            return goal, timeout
    raise UsageProblem(
        f"--wait {word} is nothing that a message gets to", hint="give written or consumed"
    )


def _content(tail: object, message: str | None) -> str:
    """The message: an argument, what comes after --, or stdin. Raises UsageProblem."""
    from barry_cli.base.problems import UsageProblem
    from barry_cli.cli.arguments import Tail, no_tail

    after = tail.words if isinstance(tail, Tail) else ()
    if message is None and len(after) == 1:
        return after[0]
    no_tail(tail)
    if message is None:
        raise UsageProblem(
            "there is no message",
            hint='give it as an argument: barry session send SESSION "..."; - reads it from stdin',
        )
    return _stdin() if message == "-" else message


def _stdin() -> str:
    """All of stdin, byte for byte, up to what a message may hold. Raises UsageProblem."""
    import sys

    from barry_cli.base.problems import UsageProblem
    from barry_cli.inbox.messages import LARGEST

    if sys.stdin is None:
        raise UsageProblem("standard input is closed", hint="give the message as an argument")
    try:
        found = sys.stdin.buffer.read(LARGEST + 1)
    except OSError as error:
        raise UsageProblem(
            f"stdin can't be read: {error.strerror or error}", hint="give the message otherwise"
        ) from error
    if len(found) > LARGEST:
        from barry_cli.inbox.problems import MessageTooLarge

        raise MessageTooLarge(
            f"the message on stdin has more than {LARGEST} bytes, and that is the most",
            hint="put it into a file, and send where that is",
            details={"most": LARGEST},
        )
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageProblem("the message on stdin is not UTF-8", hint="convert it first") from error
