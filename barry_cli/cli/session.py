"""``barry session``: start harnesses, see what runs, go on, stop."""

from __future__ import annotations

from typing import Annotated

import typer

from barry_cli.cli.arguments import Tail, no_tail, options, requirements
from barry_cli.contract.levels import MODE_IDS, ModeId
from barry_cli.groundwork.request import LaunchRequest

app = typer.Typer(
    help="Start harnesses, see what runs, go on, stop.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="One JSON document; failures in JSON, too.")]
ModeFlag = Annotated[
    str | None,
    typer.Option(
        "--mode", metavar="guest|instrumented", help="Who rules on what the harness does."
    ),
]
ModelFlag = Annotated[
    str | None, typer.Option("--model", metavar="V/M", help="The model, as vendor/model.")
]
CwdFlag = Annotated[str | None, typer.Option("--cwd", metavar="D", help="The folder to start in.")]
RootFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--root", metavar="D", help="Another folder that the agent may reach; again for more."
    ),
]
EnvFlag = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME", help="A variable to pass on besides the usual ones."),
]
OptionFlag = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=JSON", help="A setting of the harness's adapter."),
]
PluginFlag = Annotated[
    list[str] | None,
    typer.Option("--plugin-dir", metavar="D", help="A folder of skills and commands to mount."),
]
DenyFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--deny-tool", metavar="TOOL", help="One of the harness's own tools to switch off."
    ),
]
BoundFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--bound", metavar="B", help="A bound besides those that apply: a name or a file."
    ),
]
TraitFlag = Annotated[
    list[str] | None,
    typer.Option("--trait", metavar="T", help="Grant what this trait grants, and nothing else."),
]
RelaxFlag = Annotated[
    bool, typer.Option("--relax", help="Let the harness load its own MCP servers, too.")
]
RequireFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--require", metavar="GUARANTEE=LEVEL", help="Refuse to start without this guarantee."
    ),
]
UnverifiedFlag = Annotated[
    bool,
    typer.Option("--allow-unverified-build", help="Start a build that nothing was shown on."),
]
DryRunFlag = Annotated[
    bool, typer.Option("--dry-run", help="Print the plan; nothing starts, nothing is recorded.")
]
SuperviseFlag = Annotated[
    bool, typer.Option("--supervise", help="Stay beside the harness even if nothing needs it.")
]


@app.command()
def launch(
    context: typer.Context,
    adapter_id: Annotated[str, typer.Argument(metavar="ID", help="An installed adapter.")],
    mode: ModeFlag = None,
    model: ModelFlag = None,
    cwd: CwdFlag = None,
    root: RootFlag = None,
    env: EnvFlag = None,
    option: OptionFlag = None,
    plugin_dir: PluginFlag = None,
    deny_tool: DenyFlag = None,
    bound: BoundFlag = None,
    trait: TraitFlag = None,
    relax: RelaxFlag = False,
    require: RequireFlag = None,
    allow_unverified_build: UnverifiedFlag = False,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume", metavar="[SESSION]", help="Go on with a session; alone: pick one."
        ),
    ] = None,
    last: Annotated[
        bool, typer.Option("--last", help="Go on with the harness's last conversation here.")
    ] = False,
    pick: Annotated[
        bool, typer.Option("--pick", help="Pick a conversation in the harness.")
    ] = False,
    dry_run: DryRunFlag = False,
    supervise: SuperviseFlag = False,
    json: Json = False,
) -> None:
    """Start a harness in its own terminal UI. What comes after -- goes to the harness as it is."""
    if not adapter_id:
        from barry_cli.base.problems import UsageProblem

        raise UsageProblem(
            "the id of the adapter is empty",
            hint="`barry adapter list` shows the installed ones",
        )
    request = LaunchRequest(
        adapter=adapter_id,
        mode=_mode(mode),
        cwd=cwd,
        model=model,
        roots=tuple(root or ()),
        env=tuple(env or ()),
        options=options(option or []),
        plugin_dirs=tuple(plugin_dir or ()),
        denied_tools=tuple(deny_tool or ()),
        bounds=tuple(bound or ()),
        traits=tuple(trait or ()),
        relax=relax,
        require=requirements(require or []),
        allow_unverified_build=allow_unverified_build,
        resume=resume,
        last=last,
        pick=pick,
        supervise=supervise,
        extra_args=_tail(context),
    )
    _launch(request, dry_run=dry_run, json=json)


@app.command()
def resume(
    context: typer.Context,
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="A session, or a unique prefix.")
    ],
    mode: ModeFlag = None,
    model: ModelFlag = None,
    root: RootFlag = None,
    env: EnvFlag = None,
    option: OptionFlag = None,
    plugin_dir: PluginFlag = None,
    deny_tool: DenyFlag = None,
    bound: BoundFlag = None,
    trait: TraitFlag = None,
    relax: RelaxFlag = False,
    require: RequireFlag = None,
    allow_unverified_build: UnverifiedFlag = False,
    dry_run: DryRunFlag = False,
    supervise: SuperviseFlag = False,
    json: Json = False,
) -> None:
    """Go on with a session: its harness, folder and settings; denials only add up."""
    from barry_cli.base.paths import folders
    from barry_cli.turns.store.sessions import Sessions

    row = Sessions(folders()).get(session)
    request = LaunchRequest(
        adapter=row.adapter,
        mode=_mode(mode),
        model=model,
        roots=tuple(root or ()),
        env=tuple(env or ()),
        options=options(option or []),
        plugin_dirs=tuple(plugin_dir or ()),
        denied_tools=tuple(deny_tool or ()),
        bounds=tuple(bound or ()),
        traits=tuple(trait or ()),
        relax=relax,
        require=requirements(require or []),
        allow_unverified_build=allow_unverified_build,
        resume=row.id,
        supervise=supervise,
        extra_args=_tail(context),
    )
    _launch(request, dry_run=dry_run, json=json)


def _launch(request: LaunchRequest, *, dry_run: bool, json: bool) -> None:
    import gc
    import os

    from barry_cli.base.paths import folders
    from barry_cli.base.waiting import result_of
    from barry_cli.cli.render.talk import Talk
    from barry_cli.launch.prepare import prepare
    from barry_cli.launch.start import require_terminal, start
    from barry_cli.registry.adapters import Adapters

    home = folders()
    registry = Adapters(home)
    if not dry_run:
        require_terminal(registry.resolve(request.adapter))
    prepared = result_of(lambda: prepare(request, home, registry, os.environ))
    try:
        if dry_run:
            from barry_cli.cli.render import plans
            from barry_cli.cli.render.output import write, write_json

            if json:
                write_json(plans.document(prepared))
            else:
                write(plans.text(prepared))
            return
        from barry_cli.terminal.exit import exit_status

        gc.enable()
        ended = start(prepared, home, Talk())
    finally:
        prepared.discard()
    raise typer.Exit(exit_status(ended))


@app.command("list")
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


@app.command()
def show(
    context: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION")],
    json: Json = False,
) -> None:
    """One session: where it runs or ran, what it was promised, how it ended."""
    no_tail(context.obj)
    from barry_cli.base.paths import folders
    from barry_cli.cli.render import session_rows as rows
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.groundwork.living import one_session

    found = one_session(folders(), session)
    if json:
        write_json(rows.session_document(found))
    else:
        write(rows.session(found))


@app.command()
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


def _mode(word: str | None) -> ModeId | None:
    from barry_cli.base.problems import UsageProblem

    for mode in MODE_IDS:
        if mode == word:
            return mode
    if word is None:
        return None
    raise UsageProblem(
        f"there is no mode {word}", hint="the modes of a launch: guest, instrumented"
    )


def _tail(context: typer.Context) -> tuple[str, ...]:
    return context.obj.words if isinstance(context.obj, Tail) else ()
