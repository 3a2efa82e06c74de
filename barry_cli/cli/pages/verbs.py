"""``barry completion`` and ``barry man``: what an install that links no files still can show."""

from __future__ import annotations

from typing import Annotated

import typer

from barry_cli.cli.arguments import no_tail


def completion(
    context: typer.Context,
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print the completion file of a shell."""
    no_tail(context.obj)
    from barry_cli.base.problems import UsageProblem
    from barry_cli.cli.pages.completion import SHELLS
    from barry_cli.cli.pages.completion import completion as make
    from barry_cli.cli.pages.tree import tree
    from barry_cli.cli.render.output import write

    if shell not in SHELLS:
        raise UsageProblem(
            f"there is no completion for {shell}", hint=f"the shells: {', '.join(SHELLS)}"
        )
    write(make(shell, tree(context.find_root().command)))


def man(
    context: typer.Context,
    page: Annotated[
        str, typer.Argument(metavar="[PAGE]", help="barry, barry-session ...")
    ] = "barry",
) -> None:
    """Print a manual page; `barry man barry-session | man -l -` shows it."""
    no_tail(context.obj)
    from barry_cli import __version__
    from barry_cli.base.problems import UsageProblem
    from barry_cli.cli.pages.man import pages
    from barry_cli.cli.pages.tree import tree
    from barry_cli.cli.render.output import write

    found = pages(tree(context.find_root().command), __version__)
    name = page.removesuffix(".1")
    text = found.get(f"{name}.1") or found.get(f"barry-{name}.1")
    if text is None:
        raise UsageProblem(
            f"there is no page {page}",
            hint=f"the pages: {', '.join(each.removesuffix('.1') for each in found)}",
        )
    write(text)
