"""The flags that several verbs of ``barry session`` share."""

from __future__ import annotations

from typing import Annotated

import typer

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
