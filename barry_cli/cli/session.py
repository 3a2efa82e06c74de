"""``barry session``: start harnesses, see what runs, go on, stop."""

from __future__ import annotations

import typer

from barry_cli.cli.session_export import export
from barry_cli.cli.session_launch import launch
from barry_cli.cli.session_prune import prune
from barry_cli.cli.session_record import events, interrupt, list_, show, stop
from barry_cli.cli.session_resume import fork, resume
from barry_cli.cli.session_send import send
from barry_cli.cli.session_start import start

app = typer.Typer(
    help="Start harnesses, see what runs, go on, stop.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

app.command()(launch)
app.command()(start)
app.command()(resume)
app.command()(fork)
app.command("list")(list_)
app.command()(show)
app.command()(events)
app.command()(send)
app.command()(export)
app.command()(interrupt)
app.command()(stop)
app.command()(prune)
