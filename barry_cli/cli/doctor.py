"""``barry doctor``: what works on this machine, and what to do where something doesn't."""

from __future__ import annotations

from typing import Annotated

import typer

from barry_cli.cli.arguments import no_tail


def doctor(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Look at the machine and every installed harness. Exit 1 if anything is broken."""
    no_tail(context.obj)
    report(json=json, ids=None, machine=True)


def report(*, json: bool, ids: list[str] | None, machine: bool) -> None:
    """Show findings as they come, or all of them as JSON; exits 1 when one is broken."""
    import asyncio
    import os

    from barry_cli.base.paths import folders
    from barry_cli.base.problems import StoreProblem
    from barry_cli.cli.render import findings as render
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.registry.doctor import Finding, examine
    from barry_cli.registry.machine import no_folders

    async def run() -> list[Finding]:
        seen = []
        view = render.View()
        try:
            findings = examine(folders(), ids, os.environ, machine=machine)
        except StoreProblem as problem:
            findings = no_folders(problem)
        async for finding in findings:
            seen.append(finding)
            if not json:
                write(view.line(finding))
        return seen

    seen = asyncio.run(run())
    if json:
        write_json(render.document(seen))
    else:
        write(render.summary(seen))
    raise typer.Exit(1 if any(finding.status == "broken" for finding in seen) else 0)
