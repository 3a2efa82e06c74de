"""``barry adapter``: which harnesses Barry knows."""

from __future__ import annotations

from typing import Annotated

import typer

from barry_cli.cli.adapter_verify import verify
from barry_cli.cli.arguments import no_tail

app = typer.Typer(help="Which harnesses Barry knows.", no_args_is_help=True, rich_markup_mode=None)

Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]


@app.command()
def add(
    context: typer.Context,
    package: Annotated[
        str, typer.Argument(metavar="PATH|NAME", help="A package's folder, or a shipped adapter.")
    ],
    no_vet: Annotated[
        bool, typer.Option("--no-vet", help="Record it even if it can't run on this machine.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    json: Json = False,
) -> None:
    """Check an adapter package and record it; of an adapter already there, the new version."""
    no_tail(context.obj)
    import asyncio
    import sys

    from barry_cli.base.problems import AdapterRefused, Refused
    from barry_cli.cli.render import adapters as render
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.cli.render.talk import Talk, confirm, say, somebody_there
    from barry_cli.contract.adapter import Adapter
    from barry_cli.registry.adapters import Adapters, AddOptions
    from barry_cli.registry.package import find_package
    from barry_cli.registry.vet import vet

    registry = Adapters()
    talk = Talk()

    async def approve(adapter: Adapter) -> list[str]:
        if not json:
            say(render.abilities(adapter))
        if not no_vet:
            verdict = await vet(adapter, waiting=talk.note if sys.stderr.isatty() else None)
            for warning in verdict.warnings:
                talk.warn(warning)
            if verdict.problems:
                leave = "pass --no-vet to add it as it is"
                hint = f"{verdict.fix}; or {leave}" if verdict.fix else leave
                raise AdapterRefused(adapter.id, verdict.problems, hint=hint)
        foreign = find_package(package).source == "path"
        if (
            foreign
            and not yes
            and somebody_there()
            and not confirm(
                f"Add it? Its code will run with your rights at every launch of {adapter.id}."
            )
        ):
            raise Refused(f"{adapter.id} is not added: you did not say yes")
        return []

    added = asyncio.run(registry.add_with_changes(package, AddOptions(vet=approve)))
    if json:
        write_json(render.added_document(added))
    else:
        write(render.added(added))


@app.command("list")
def list_(context: typer.Context, json: Json = False) -> None:
    """The installed adapters, and whether their code is still what was recorded."""
    no_tail(context.obj)
    from barry_cli.cli.render import adapter_rows as rows
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.registry.adapters import Adapters

    registry = Adapters()
    found = [(row, registry.state(row)) for row in registry.rows()]
    if json:
        write_json(rows.adapters_document(found))
    else:
        write(rows.adapters(found))


@app.command()
def show(
    context: typer.Context,
    adapter_id: Annotated[str, typer.Argument(metavar="ID")],
    json: Json = False,
) -> None:
    """One adapter: what it can do, what it promises in each mode, and what shows it."""
    no_tail(context.obj)
    from barry_cli.base.waiting import result_of
    from barry_cli.cli.render import adapters as render
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.groundwork.models import other_program
    from barry_cli.registry.adapters import Adapters

    registry = Adapters()
    record = registry.record(adapter_id)
    state = registry.state(record)
    binary = result_of(lambda: other_program(registry, record.id)) if state == "ok" else None
    if json:
        write_json(render.record_document(record, state, binary))
    else:
        write(render.record(record, state, binary))


@app.command()
def check(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A package's folder.")],
    json: Json = False,
) -> None:
    """Every problem of an adapter package, all at once; nothing is recorded."""
    no_tail(context.obj)
    import asyncio

    from barry_cli.cli.render import adapters as render
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.registry.adapters import Adapters

    result = asyncio.run(Adapters().inspect(path))
    if json:
        write_json({"schema": 1, "checked": result.checked, "problems": list(result.problems)})
    else:
        write(render.checked(result))
    raise typer.Exit(1 if result.problems else 0)


app.command()(verify)


@app.command()
def doctor(
    context: typer.Context,
    adapter_id: Annotated[str | None, typer.Argument(metavar="[ID]")] = None,
    json: Json = False,
) -> None:
    """Whether the installed adapters can run on this machine, and what to do where they can't."""
    no_tail(context.obj)
    from barry_cli.base.problems import AdapterNotInstalled
    from barry_cli.cli.doctor import report
    from barry_cli.registry.adapters import Adapters
    from barry_cli.registry.shipped import shipped_ids

    ids = None
    if adapter_id is not None:
        registry = Adapters()
        try:
            ids = [registry.record(adapter_id).id]
        except AdapterNotInstalled:
            if adapter_id not in shipped_ids():
                raise
            ids = [adapter_id]  # what Barry ships can be looked at before it is added
    report(json=json, ids=ids, machine=False)


@app.command()
def models(
    context: typer.Context,
    adapter_id: Annotated[str, typer.Argument(metavar="ID")],
    json: Json = False,
) -> None:
    """The models that an adapter's harness can use, as far as it can say."""
    no_tail(context.obj)
    import asyncio
    import os

    from barry_cli.cli.render.columns import printable
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.groundwork.models import usable_models
    from barry_cli.registry.adapters import Adapters

    names = asyncio.run(usable_models(adapter_id, Adapters(), os.environ))
    if json:
        write_json({"schema": 1, "models": names})
    else:
        write("".join(f"{printable(name)}\n" for name in names))


@app.command()
def remove(
    context: typer.Context,
    adapter_id: Annotated[str, typer.Argument(metavar="ID")],
    json: Json = False,
) -> None:
    """Forget an adapter. Its package and its sessions stay where they are."""
    no_tail(context.obj)
    from barry_cli.cli.render.columns import printable
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.registry.adapters import Adapters

    registry = Adapters()
    if not registry.remove(adapter_id):
        raise registry.not_there(adapter_id)  # what forgets something does not guess
    if json:
        write_json({"schema": 1, "removed": adapter_id})
    else:
        write(f"removed {printable(adapter_id)}\n")
