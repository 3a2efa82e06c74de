"""``barry session start``: one turn of a harness that Barry drives."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from barry_cli.cli.arguments import no_tail, options, requirements
from barry_cli.cli.session_flags import (
    BoundFlag,
    CwdFlag,
    DenyFlag,
    EnvFlag,
    Json,
    ModelFlag,
    OptionFlag,
    PluginFlag,
    RelaxFlag,
    RequireFlag,
    RootFlag,
    TraitFlag,
    UnverifiedFlag,
)
from barry_cli.groundwork.request import LaunchRequest

if TYPE_CHECKING:
    from barry_cli.contract.data import JsonSchema
    from barry_cli.host.request import RunRequest

_LONGEST = 10_000_000  # seconds; some 115 days

PromptArgument = Annotated[
    str | None,
    typer.Argument(metavar="[PROMPT|-]", help="What is asked; - or nothing reads it from stdin."),
]
FileFlag = Annotated[
    str | None, typer.Option("--file", metavar="F", help="Read the prompt from this file.")
]
SchemaFlag = Annotated[
    str | None,
    typer.Option(
        "--schema", metavar="FILE", help="A JSON Schema: the answer is data that fits it."
    ),
]
TurnsFlag = Annotated[
    int | None,
    typer.Option("--max-turns", metavar="N", min=1, help="How often the agent may go round."),
]
TimeoutFlag = Annotated[
    float | None,
    typer.Option("--timeout", metavar="S", help="End the turn after so many seconds (exit 124)."),
]


def start(
    context: typer.Context,
    adapter_id: Annotated[str, typer.Argument(metavar="ID", help="An installed adapter.")],
    prompt: PromptArgument = None,
    file: FileFlag = None,
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
        typer.Option("--resume", metavar="SESSION", help="Go on with this session."),
    ] = None,
    fork: Annotated[
        str | None,
        typer.Option("--fork", metavar="SESSION", help="Go on with a copy of this session."),
    ] = None,
    schema: SchemaFlag = None,
    max_turns: TurnsFlag = None,
    timeout: TimeoutFlag = None,
    fallback: Annotated[
        str | None,
        typer.Option(
            "--fallback",
            metavar="ID,...",
            help="What is tried next on quota or outage: same prompt, same folder.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Run one turn without a terminal UI: the answer on stdout, with --json every event."""
    no_tail(context.obj)
    from barry_cli.base.problems import UsageProblem
    from barry_cli.host.request import RunRequest

    if resume is not None and fork is not None:
        raise UsageProblem("--resume and --fork each name a session", hint="give one of them")
    request = RunRequest(
        start=LaunchRequest(
            adapter=adapter_id,
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
            resume=resume if fork is None else fork,
        ),
        prompt="",
        fork=fork is not None,
        schema=read_schema(schema),
        max_turns=max_turns,
        timeout_seconds=seconds(timeout),
        fallback=_ids(fallback),
    )
    run_turn(request, prompt, file, json=json)


def run_turn(request: RunRequest, prompt: str | None, file: str | None, *, json: bool) -> None:
    """Run a turn and tell its end. Raises what preparing it raises, and TurnFailed."""
    import asyncio
    import gc
    import os

    from barry_cli.base.paths import folders
    from barry_cli.cli.render.live import JsonStream, LiveView, TurnFailed
    from barry_cli.cli.render.talk import Talk
    from barry_cli.host.fallback import Chain
    from barry_cli.registry.adapters import Adapters

    home = folders()
    talk = Talk()
    request = replace(request, prompt=read_prompt(prompt, file))
    view = JsonStream(talk) if json else LiveView(talk, structured=request.schema is not None)

    async def whole() -> None:
        chain = await Chain.prepare(request, home, Adapters(home), os.environ)
        gc.freeze()  # what was loaded stays
        gc.enable()
        end = await chain.run(home, view, talk)
        view.ended(end)
        if end.exit_code != 0:
            raise TurnFailed(end)

    asyncio.run(whole())


def read_prompt(prompt: str | None, file: str | None) -> str:
    """What is asked, from the argument, a file or stdin. Raises UsageProblem when it is empty."""
    from barry_cli.base.problems import UsageProblem

    if file is not None:
        if prompt is not None:
            raise UsageProblem("the prompt is given twice, here and in --file", hint="leave one")
        text = _text_of(file, "--file")
    elif prompt is not None and prompt != "-":
        text = prompt
    elif prompt is None and sys.stdin is not None and sys.stdin.isatty():
        raise UsageProblem(
            "there is no prompt", hint='give it as an argument: barry session start ID "..."'
        )
    else:
        text = _stdin()
    if not text.strip():
        raise UsageProblem("the prompt is empty", hint="say what is to be done")
    return text


def _stdin() -> str:
    from barry_cli.base.problems import UsageProblem

    if sys.stdin is None:
        raise UsageProblem("standard input is closed", hint="give the prompt as an argument")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageProblem("the prompt on stdin is not UTF-8", hint="convert it first") from error
    except OSError as error:
        raise UsageProblem(
            f"stdin can't be read: {error.strerror or error}", hint="give the prompt otherwise"
        ) from error


def _text_of(path: str, flag: str) -> str:
    from pathlib import Path

    from barry_cli.base.problems import UsageProblem

    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageProblem(
            f"{flag} {path} can't be read: {why or error}", hint=f"give {flag} a text file"
        ) from error


def read_schema(path: str | None) -> JsonSchema | None:
    """The schema in a file. Raises UsageProblem."""
    if path is None:
        return None
    from barry_cli.base.canonical import NotCanonical, read_json
    from barry_cli.base.json_schema import schema_problems
    from barry_cli.base.problems import UsageProblem

    try:
        value = read_json(_text_of(path, "--schema"))
    except NotCanonical as error:
        raise UsageProblem(
            f"--schema {path} can't be read: {error}", hint="it holds one JSON Schema"
        ) from error
    if not isinstance(value, dict | bool):
        raise UsageProblem(f"--schema {path} is no JSON Schema", hint="a schema is an object")
    if problems := schema_problems(value):
        raise UsageProblem(
            f"--schema {path} can't be used: {problems[0]}",
            hint="it must be a JSON Schema (2020-12) that refers to nothing outside itself",
        )
    return value


def seconds(timeout: float | None) -> float | None:
    """A time limit as it was given. Raises UsageProblem."""
    from barry_cli.base.problems import UsageProblem

    if timeout is not None and not 0 < timeout < _LONGEST:
        raise UsageProblem(
            f"--timeout {timeout:g} is no time", hint=f"give seconds above 0 and below {_LONGEST}"
        )
    return timeout


def _ids(fallback: str | None) -> tuple[str, ...]:
    from barry_cli.base.problems import UsageProblem

    if fallback is None:
        return ()
    ids = tuple(word.strip() for word in fallback.split(","))
    if not all(ids):
        raise UsageProblem(
            f"--fallback {fallback!r} holds an empty id", hint="write it like --fallback a,b"
        )
    return ids
