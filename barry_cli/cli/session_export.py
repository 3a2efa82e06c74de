"""``barry session export``: a conversation, to take it elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from barry_cli.cli.arguments import no_tail


def export(
    context: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION")],
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="F", help="Write to this new file, for you alone."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Failures in JSON, too.")] = False,
) -> None:
    """A session's conversation, a line of JSON an event; the values of secrets are masked."""
    no_tail(context.obj)
    import asyncio
    import os
    from json import dumps

    from barry_cli.base.paths import folders
    from barry_cli.cli.render.output import write
    from barry_cli.cli.render.talk import Talk
    from barry_cli.groundwork.exporting import exported
    from barry_cli.registry.adapters import Adapters

    home = folders()
    found = asyncio.run(exported(home, Adapters(home), session, os.environ))
    text = "".join(dumps(event) + "\n" for event in found)
    if output is None:
        write(text)
        return
    _keep(output, text)
    Talk().note(f"{len(found)} events in {output}")


def _keep(path: str, text: str) -> None:
    """Write a file that wasn't there. Raises UsageProblem."""
    import os

    from barry_cli.base.problems import UsageProblem

    try:
        # Exclusive: what is there already is nobody's to overwrite.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UsageProblem(
            f"{path} can't be written: {error.strerror or error}",
            hint="give --output a new file in a folder that you may write to",
        ) from error
