"""``barry session prune``: forget sessions that ended long ago."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from barry_cli.cli.arguments import no_tail

if TYPE_CHECKING:
    from datetime import datetime

    from barry_cli.base.paths import Folders


def prune(
    context: typer.Context,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than",
            metavar="AGE",
            help="Those that ended longer ago: 30d, 12h; else [session] retention says.",
        ),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", metavar="N", help="Keep the N newest, whatever their age."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would go; nothing is removed.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON document; failures in JSON, too.")
    ] = False,
) -> None:
    """Forget sessions that have ended, and what is on record of them. The harness keeps its own."""
    no_tail(context.obj)
    from barry_cli.base.paths import folders
    from barry_cli.base.problems import UsageProblem
    from barry_cli.cli.render import pruned as shown
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.groundwork.living import lives
    from barry_cli.turns.store.retention import prune as forget

    if keep is not None and keep < 0:
        raise UsageProblem(f"--keep {keep} is no number of sessions", hint="give 0 or more")
    home = folders()
    before = _before(home, older_than)
    if before is None and keep is None:
        raise UsageProblem(
            "nothing says which sessions are old enough",
            hint="pass --older-than 30d or --keep 100, or set [session] retention in "
            f"{home.settings}",
        )
    found = forget(home, before=before, keep=keep or 0, lives=lives, dry_run=dry_run)
    if json:
        write_json(shown.document(found, dry_run=dry_run))
    else:
        write(shown.text(found, dry_run=dry_run))


def _before(home: Folders, older_than: str | None) -> datetime | None:
    """The time before which a session has to have ended."""
    from datetime import UTC, datetime

    from barry_cli.base.durations import duration
    from barry_cli.base.problems import UsageProblem
    from barry_cli.base.settings import read_settings

    if older_than is None:
        age = read_settings(home).session_retention
    else:
        try:
            age = duration(older_than)
        except ValueError as error:
            raise UsageProblem(f"--older-than: {error}", hint="write it like 30d or 12h") from error
    return None if age is None else datetime.now(UTC) - age
