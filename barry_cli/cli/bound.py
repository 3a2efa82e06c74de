"""``barry bound``: what a policy says, before, beside and after a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from barry_cli.cli.arguments import Tail, no_tail

if TYPE_CHECKING:
    from barry_cli.cli.bound_rulings import Rulings

app = typer.Typer(
    help="Try a policy, see what applies, look at what it would have denied.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="One JSON document; failures in JSON, too.")]
BoundFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--bound", metavar="B", help="A bound besides those that apply: a name or a file."
    ),
]
TraitFlag = Annotated[
    list[str] | None,
    typer.Option("--trait", metavar="T", help="A trait; its restrictions apply as well."),
]
HarnessFlag = Annotated[
    str | None,
    typer.Option("--harness", metavar="ID", help="An installed adapter: whose tools are meant."),
]
CwdFlag = Annotated[
    str | None, typer.Option("--cwd", metavar="D", help="The folder that it is asked for.")
]
CommandFlag = Annotated[
    str | None, typer.Option("--command", metavar="STR", help="A command line, as one text.")
]
ToolFlag = Annotated[
    str | None, typer.Option("--tool", metavar="NAME", help="One of the harness's tools.")
]
InputFlag = Annotated[
    str | None, typer.Option("--input", metavar="JSON", help="What the tool is called with.")
]


@app.command()
def check(
    context: typer.Context,
    bound: BoundFlag = None,
    trait: TraitFlag = None,
    harness: HarnessFlag = None,
    cwd: CwdFlag = None,
    command: CommandFlag = None,
    tool: ToolFlag = None,
    input: InputFlag = None,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Rule on each line of standard input (NDJSON).")
    ] = False,
    json: Json = False,
) -> None:
    """Rule on one call: the words after --, a command line, or a tool. Exit 1 if it is denied."""
    from barry_cli.cli.bound_calls import one
    from barry_cli.cli.bound_rulings import Rulings

    tail = _tail(context)
    if stdin:
        _refuse_others(tail, command, tool, input)
        ruled = Rulings.for_folder(cwd, bound or [], trait or [], harness)
        raise typer.Exit(_stream(ruled))
    asked = one(tail, command, tool, input)
    ruled = Rulings.for_folder(cwd, bound or [], trait or [], harness)
    verdict = ruled.answer(asked)
    from barry_cli.cli.render.output import write
    from barry_cli.policy.ruling import told

    write(told.document(verdict) if json else told.text(verdict))
    ruled.keep(cwd)
    raise typer.Exit(0 if verdict.allowed else 1)


@app.command()
def explain(
    context: typer.Context,
    bound: BoundFlag = None,
    trait: TraitFlag = None,
    harness: HarnessFlag = None,
    cwd: CwdFlag = None,
    command: CommandFlag = None,
    tool: ToolFlag = None,
    input: InputFlag = None,
    json: Json = False,
) -> None:
    """Why a call is denied or allowed: what was seen in it, which rule, and what may be done."""
    from barry_cli.cli.bound_calls import one
    from barry_cli.cli.bound_explain import explained
    from barry_cli.cli.bound_rulings import Rulings
    from barry_cli.cli.render import explanations
    from barry_cli.cli.render.output import write, write_json

    asked = one(_tail(context), command, tool, input)
    found = explained(Rulings.for_folder(cwd, bound or [], trait or [], harness), asked)
    if json:
        write_json(explanations.document(found))
    else:
        write(explanations.text(found))
    raise typer.Exit(0 if found.verdict.allowed else 1)


@app.command()
def show(
    context: typer.Context,
    bound: BoundFlag = None,
    trait: TraitFlag = None,
    harness: HarnessFlag = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", metavar="MODE", help="With --harness: guest, instrumented, hosted."),
    ] = None,
    cwd: CwdFlag = None,
    json: Json = False,
) -> None:
    """What applies in a folder: every rule, where it comes from, and what a harness makes of it."""
    no_tail(context.obj)
    from barry_cli.base.paths import folders
    from barry_cli.base.problems import UsageProblem
    from barry_cli.cli import bound_facts as facts
    from barry_cli.cli.render import bounds as render
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.registry.adapters import Adapters

    if mode is not None and harness is None:
        raise UsageProblem("--mode belongs to --harness", hint="give --harness ID as well")
    home, place = folders(), facts.folder(cwd)
    registry = Adapters(home)
    whose = None if harness is None else registry.resolve(harness)
    found = facts.applying(home, registry.rows(), place, bound or [], trait or [], whose)
    native = None if whose is None else facts.native(registry, whose, mode, found)
    if json:
        write_json(render.effective_document(found, place, native))
    else:
        write(render.effective(found, place, native))


@app.command("list")
def list_(context: typer.Context, json: Json = False) -> None:
    """The bounds and traits that have a name: yours, those of adapters, those that Barry ships."""
    no_tail(context.obj)
    from barry_cli.base.paths import folders
    from barry_cli.cli.bound_facts import named
    from barry_cli.cli.render import bounds as render
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.registry.store import read_rows

    home = folders()
    found = named(home, read_rows(home))
    if json:
        write_json(render.listed_document(found))
    else:
        write(render.listed(found))


@app.command()
def validate(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A .toml or .json file.")],
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 for what is probably not meant, too.")
    ] = False,
    json: Json = False,
) -> None:
    """Name every problem of a bound file, and what is probably not meant. Exit 1 for a problem."""
    no_tail(context.obj)
    from barry_cli.cli.bound_files import validated
    from barry_cli.cli.render import bounds as render
    from barry_cli.cli.render.output import write, write_json

    problems, warnings = validated(file)
    if json:
        write_json({"schema": 1, "problems": problems, "warnings": warnings})
    else:
        write(render.checked(problems, warnings))
    raise typer.Exit(1 if problems or (strict and warnings) else 0)


@app.command()
def merge(
    context: typer.Context,
    bound: Annotated[list[str], typer.Argument(metavar="B...", help="Names or files.")],
    json: Json = False,
) -> None:
    """Write bounds as one, which denies whatever any of them denies."""
    no_tail(context.obj)
    from barry_cli.cli.bound_files import merged
    from barry_cli.cli.render import bounds as render
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.cli.render.talk import Talk
    from barry_cli.contract.data import snapshot

    joined, notes = merged(bound)
    if json:
        write_json({"schema": 1, "bound": snapshot(joined), "notes": notes})
        return
    for note in notes:
        Talk().note(note)
    write(render.as_toml(joined))


@app.command()
def schema(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="It is JSON in any case.")] = False,
) -> None:
    """The JSON Schema of bound files, for an editor."""
    no_tail(context.obj)
    from barry_cli.cli.render.output import write_json
    from barry_cli.policy.json_schema import bound_json_schema

    write_json(bound_json_schema())


@app.command()
def audit(
    context: typer.Context,
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="A folder: its past conversations. A file, or -: commands, one a line, or NDJSON.",
        ),
    ],
    bound: BoundFlag = None,
    trait: TraitFlag = None,
    harness: HarnessFlag = None,
    cwd: CwdFlag = None,
    json: Json = False,
) -> None:
    """What would have been denied of what was done already. Exit 1 if anything would."""
    no_tail(context.obj)
    from barry_cli.cli.bound_audit import audited
    from barry_cli.cli.render import audits as render
    from barry_cli.cli.render.output import write, write_json
    from barry_cli.cli.render.progress import Progress

    found = audited(path, bound or [], trait or [], harness, cwd, Progress)
    if json:
        write_json(render.document(found))
    else:
        write(render.text(found))
    raise typer.Exit(1 if found.denied or found.undecidable else 0)


def _stream(ruled: Rulings) -> int:
    """Answer standard input line by line; gives the exit code."""
    import sys

    from barry_cli.base.problems import BarryError, UsageProblem
    from barry_cli.cli.bound_calls import Unreadable, asked_lines
    from barry_cli.cli.render import verdicts
    from barry_cli.cli.render.output import write

    if sys.stdin is None:
        raise UsageProblem("standard input is closed", hint="give it lines of JSON")
    denied = unread = False
    for number, asked in asked_lines(sys.stdin):
        if isinstance(asked, Unreadable):
            unread = True
            write(verdicts.unreadable_line(number, str(asked)))
            continue
        try:
            verdict = ruled.answer(asked)
        except BarryError as problem:  # the other lines are answered all the same
            unread = True
            write(verdicts.unreadable_line(number, str(problem), asked.id))
            continue
        denied = denied or not verdict.allowed
        write(verdicts.line(number, asked.id, verdict))
    return 2 if unread else 1 if denied else 0


def _refuse_others(tail: tuple[str, ...], *others: str | None) -> None:
    from barry_cli.base.problems import UsageProblem

    if tail or any(other is not None for other in others):
        raise UsageProblem(
            "--stdin takes its questions from standard input alone",
            hint="leave out --, --command, --tool and --input",
        )


def _tail(context: typer.Context) -> tuple[str, ...]:
    return context.obj.words if isinstance(context.obj, Tail) else ()
