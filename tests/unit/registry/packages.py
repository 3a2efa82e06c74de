"""Adapter packages made for one test each."""

from __future__ import annotations

from pathlib import Path

_INIT = """
from barry_cli.adapters import (
    Adapter, Binary, Evidence, Guarantees, HarnessCapabilities, Install, LaunchMode, LaunchPlan,
    Pin, PlanDraft, Requirements, define_adapter,
)

GUARANTEES = Guarantees(
    capture="none", delivery="none", gating="none", identity="none", interrupt=False,
    keeps_vendor_ui=True, steer=False,
)


async def plan(config):
    with PlanDraft("Toy", config, GUARANTEES) as draft:
        return draft.finish("toy")


adapter = define_adapter(Adapter(
    id={id!r},
    label="Toy",
    aliases={aliases!r},
    bag={bag!r},
    capabilities=HarnessCapabilities(
        endpoint="fixed", mcp_transports=(), skills_mount="none",
        system_prompt_format="unsupported", tool_denial="none", without_key="unauthenticated",
    ),
    requirements=Requirements(binary=Binary(
        command="toy", version_args=("--version",), version_pattern="([0-9.]+)",
        pin=Pin(version="1.0.0", enforced_by="nothing replaces it"),
        install=Install(fallback="made up"),
    )),
    native_tools=("Shell", "Read"),
    default_mode="guest",
    modes={{
        "guest": LaunchMode(
            guarantees=GUARANTEES, verified_on="1.0.0",
            evidence=Evidence(check="checks:guest", proves="that it starts"), plan=plan,
        ),
        "instrumented": None, "hosted": None,
    }},
    {more}
))
"""

_BAG = """
name = "toy"
[tools.Shell]
kind = "shell"
field = "command"
[tools.Read]
kind = "read"
field = "path"
[categories]
shell = ["Shell"]
file-reads = ["Read"]
"""


def write_package(
    folder: Path,
    id: str = "toy",
    *,
    version: str = "0.1.0",
    aliases: tuple[str, ...] = (),
    module: str = "",
    src: bool = False,
    before: str = "",
    after: str = "",
    more: str = "",
    bag: str | None = _BAG,
    dependencies: str = "[]",
) -> Path:
    """A valid package in ``folder``; ``before`` and ``after`` are code around its declaration."""
    module = module or f"barry_adapter_{id.replace('-', '_')}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "barry-adapter-{id}"\nversion = "{version}"\n'
        f"dependencies = {dependencies}\n"
        f'[project.entry-points."barry.adapters"]\n{id} = "{module}:adapter"\n'
    )
    package = folder / "src" / module if src else folder / module
    package.mkdir(parents=True, exist_ok=True)
    declared = _INIT.format(id=id, aliases=aliases, bag=None if bag is None else ".", more=more)
    (package / "__init__.py").write_text(f"{before}\n{declared}\n{after}\n")
    (package / "checks.py").write_text("async def guest(proof):\n    await proof.launch()\n")
    if bag is not None:
        (package / "bag.toml").write_text(bag)
    return folder


def package_of(folder: Path, id: str = "toy") -> Path:
    """The folder of the code of a package that ``write_package`` wrote."""
    return folder / f"barry_adapter_{id.replace('-', '_')}"
