"""``barry session launch``: a person drives, in the harness's own terminal UI."""

from __future__ import annotations

from typing import Annotated

import typer

from barry_cli.cli.arguments import Tail, options, requirements
from barry_cli.cli.session_flags import (
    BoundFlag,
    CwdFlag,
    DenyFlag,
    DryRunFlag,
    EnvFlag,
    Json,
    ModeFlag,
    ModelFlag,
    OptionFlag,
    PluginFlag,
    RelaxFlag,
    RequireFlag,
    RootFlag,
    SuperviseFlag,
    TraitFlag,
    UnverifiedFlag,
)
from barry_cli.contract.levels import MODE_IDS, ModeId
from barry_cli.groundwork.request import LaunchRequest


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
        mode=mode_of(mode),
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
        extra_args=tail_of(context),
    )
    launch_request(request, dry_run=dry_run, json=json)


def launch_request(request: LaunchRequest, *, dry_run: bool, json: bool) -> None:
    """Launch, or show what a launch would be. Ends this process with the harness's status."""
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
        require_terminal(registry.resolve(request.adapter), registry)
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


def mode_of(word: str | None) -> ModeId | None:
    """A mode as it was named. Raises UsageProblem."""
    from barry_cli.base.problems import UsageProblem

    for mode in MODE_IDS:
        if mode == word:
            return mode
    if word is None:
        return None
    raise UsageProblem(
        f"there is no mode {word}", hint="the modes of a launch: guest, instrumented"
    )


def tail_of(context: typer.Context) -> tuple[str, ...]:
    """What came after ``--``."""
    return context.obj.words if isinstance(context.obj, Tail) else ()
