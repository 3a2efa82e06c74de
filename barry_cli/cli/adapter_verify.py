"""``barry adapter verify``: an adapter's own checks, on this machine's program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from barry_cli.cli.arguments import no_tail

if TYPE_CHECKING:
    from barry_cli.contract.levels import ModeId


def verify(
    context: typer.Context,
    adapter_id: Annotated[str, typer.Argument(metavar="ID")],
    mode: Annotated[
        list[str] | None,
        typer.Option("--mode", metavar="M", help="Only this mode; again for more."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON document; failures in JSON, too.")
    ] = False,
) -> None:
    """Show what an adapter promises, on the program that is installed here: 0 when all held."""
    no_tail(context.obj)
    import asyncio
    import os
    import sys

    from barry_cli.base.paths import folders
    from barry_cli.cli.render import verified as render
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.cli.render.talk import Talk
    from barry_cli.registry.adapters import Adapters
    from barry_cli.verify.installed import verify as run

    home = folders()
    waiting = Talk().note if sys.stderr.isatty() and not json else lambda text: None
    modes = [_mode(word) for word in mode or ()]
    found = asyncio.run(run(Adapters(home), home, adapter_id, modes, os.environ, waiting=waiting))
    if json:
        write_json(render.document(found))
    else:
        write(render.text(found))
    raise typer.Exit(0 if all(each.proven.shown for each in found) else 1)


def _mode(word: str) -> ModeId:
    from barry_cli.base.problems import UsageProblem
    from barry_cli.contract.levels import MODE_IDS

    for mode in MODE_IDS:
        if mode == word:
            return mode
    raise UsageProblem(f"there is no mode {word}", hint=f"the modes: {', '.join(MODE_IDS)}")
