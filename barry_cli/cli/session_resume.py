"""``barry session resume`` and ``fork``: a conversation goes on, as it was driven before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from barry_cli.cli.arguments import no_tail, options, requirements
from barry_cli.cli.session_flags import (
    BoundFlag,
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
from barry_cli.cli.session_launch import launch_request, mode_of, tail_of
from barry_cli.cli.session_start import (
    FileFlag,
    PromptArgument,
    SchemaFlag,
    TimeoutFlag,
    TurnsFlag,
    read_schema,
    run_turn,
    seconds,
)
from barry_cli.groundwork.request import LaunchRequest

if TYPE_CHECKING:
    from barry_cli.turns.store.sessions import SessionRow


def resume(
    context: typer.Context,
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="A session, or a unique prefix.")
    ],
    prompt: PromptArgument = None,
    file: FileFlag = None,
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
    schema: SchemaFlag = None,
    max_turns: TurnsFlag = None,
    timeout: TimeoutFlag = None,
    json: Json = False,
) -> None:
    """Go on with a session: its harness, folder and settings; denials only add up.

    One that Barry drove goes on with a prompt; one with a terminal UI takes none.
    """
    row = _row(session)
    request = LaunchRequest(
        adapter=row.adapter,
        mode=mode_of(mode),
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
        extra_args=tail_of(context),
    )
    if row.mode == "hosted" and mode is None:
        _refuse(row, "--dry-run and --supervise are for launches", dry_run or supervise)
        no_tail(context.obj)
        _turn(
            request,
            prompt,
            file,
            schema=schema,
            max_turns=max_turns,
            timeout=timeout,
            json=json,
        )
        return
    asked = (prompt, file, schema, max_turns, timeout)
    _refuse(row, "a prompt and what belongs to one", any(each is not None for each in asked))
    launch_request(request, dry_run=dry_run, json=json)


def fork(
    context: typer.Context,
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="A session, or a unique prefix.")
    ],
    prompt: PromptArgument = None,
    file: FileFlag = None,
    model: ModelFlag = None,
    deny_tool: DenyFlag = None,
    bound: BoundFlag = None,
    allow_unverified_build: UnverifiedFlag = False,
    schema: SchemaFlag = None,
    max_turns: TurnsFlag = None,
    timeout: TimeoutFlag = None,
    json: Json = False,
) -> None:
    """Go on with a copy of a session's conversation; the session itself stays as it is."""
    no_tail(context.obj)
    row = _row(session)
    request = LaunchRequest(
        adapter=row.adapter,
        model=model,
        denied_tools=tuple(deny_tool or ()),
        bounds=tuple(bound or ()),
        allow_unverified_build=allow_unverified_build,
        resume=row.id,
    )
    _turn(
        request,
        prompt,
        file,
        fork=True,
        schema=schema,
        max_turns=max_turns,
        timeout=timeout,
        json=json,
    )


def _row(session: str) -> SessionRow:
    from barry_cli.base.paths import folders
    from barry_cli.turns.store.sessions import Sessions

    return Sessions(folders()).get(session)


def _turn(
    request: LaunchRequest,
    prompt: str | None,
    file: str | None,
    *,
    fork: bool = False,
    schema: str | None,
    max_turns: int | None,
    timeout: float | None,
    json: bool,
) -> None:
    from barry_cli.host.request import RunRequest

    run = RunRequest(
        start=request,
        prompt="",
        fork=fork,
        schema=read_schema(schema),
        max_turns=max_turns,
        timeout_seconds=seconds(timeout),
    )
    run_turn(run, prompt, file, json=json)


def _refuse(row: SessionRow, what: str, given: bool) -> None:
    from barry_cli.base.problems import UsageProblem

    if given:
        driven = "is driven by Barry" if row.mode == "hosted" else "has a terminal UI"
        raise UsageProblem(
            f"session {row.id} {driven}, and {what} can't be had with it",
            hint="leave it out, or start a new session",
        )
