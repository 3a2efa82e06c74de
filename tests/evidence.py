"""What each harness was shown to guarantee: run anew, and written down as ``docs/harnesses.md``.

``python -m tests.evidence`` writes the page from the adapters and the last run;
``python -m tests.evidence run [ID ...]`` runs the adapters' own checks on the real programs first.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from barry_cli.base.paths import folders
from barry_cli.cli.render.verified import document
from barry_cli.contract.adapter import CALL_KINDS, Adapter, LaunchMode, Mode
from barry_cli.contract.levels import MODE_IDS
from barry_cli.registry.adapters import Adapters
from barry_cli.registry.shipped import shipped_ids
from barry_cli.verify.installed import verify

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / ".harnesses" / "node_modules" / ".bin"
EVIDENCE = ROOT / "docs" / "evidence.json"
PAGE = ROOT / "docs" / "harnesses.md"

HEAD = """\
# Harnesses

What each harness was shown to guarantee, mode by mode. A row is what the adapter declares *and*
what its own check showed on the real program, in a home of its own, against a scripted model: `not
shown` says that the last run did not show it, whatever is declared. `barry adapter verify ID` runs
the same check on your machine.

This page is made from the adapters and the last run (`make evidence`); nothing in it is written by
hand. The words are explained in [adapters.md](adapters.md#guarantees).
"""
RULED = """\
## Calls ruled on in instrumented mode

For each kind of call: under a bound that denies it, it had no effect and the agent read Barry's
sentence; under one that allows it, it had its effect. A kind that is `not shown` is taken back
under a bound, or the launch's gating is lowered and says so. `subagent` means the calls of the
agents that it starts.
"""
LAST = """\
## The last run

A run is one machine, one day: on another build or system a guarantee is unverified until it is
shown there.
"""

Rows = list[dict[str, Any]]


async def adapters() -> dict[str, Adapter]:
    """The shipped adapters, loaded as an installed one is."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["BARRY_HOME"] = home
        registry = Adapters(folders())
        for adapter_id in shipped_ids():
            await registry.add(adapter_id)
        return {name: await registry.load(name) for name in shipped_ids()}


async def run(ids: Sequence[str]) -> Rows:
    """The checks of these adapters, or of all, on the pinned programs."""
    os.environ["PATH"] = f"{PROGRAMS}:{os.environ['PATH']}"
    cache = ROOT / ".harnesses" / "tmp"
    cache.mkdir(parents=True, exist_ok=True)
    found: Rows = []
    # Not below /tmp: some harnesses behave otherwise there.
    with tempfile.TemporaryDirectory(dir=cache) as home:
        os.environ["BARRY_HOME"] = home
        registry = Adapters(folders())
        for adapter_id in ids or shipped_ids():
            await registry.add(adapter_id)
            seen = await verify(
                registry, folders(), adapter_id, (), os.environ,
                waiting=lambda text: print(text, file=sys.stderr),
            )  # fmt: skip
            found += document(seen)["checks"]
    return found


def kept() -> Rows:
    """The last run, as it was written down."""
    rows: Rows = json.loads(EVIDENCE.read_text("utf-8"))["checks"]
    return rows


def keep(rows: Rows) -> None:
    """Write a run down; what it did not run stays as it was."""
    before = kept() if EVIDENCE.exists() else []
    new = {(row["adapter"], row["mode"]) for row in rows}
    whole = [row for row in before if (row["adapter"], row["mode"]) not in new] + rows
    order = {mode: at for at, mode in enumerate(MODE_IDS)}
    whole.sort(key=lambda row: (row["adapter"], order[row["mode"]]))
    text = json.dumps({"schema": 1, "checks": whole}, indent=2, ensure_ascii=False)
    EVIDENCE.write_text(text + "\n", encoding="utf-8")


def page(known: dict[str, Adapter], rows: Rows) -> str:
    """The page's whole text."""
    ran = {(row["adapter"], row["mode"]): row for row in rows}
    return "\n".join(
        [
            HEAD,
            *table(_promises(known, ran)),
            "",
            RULED,
            *table(_kinds(known, ran)),
            "",
            LAST,
            *table(_runs(known, ran)),
            "",
        ]
    )


def table(rows: Iterator[Sequence[str]]) -> Iterator[str]:
    """A Markdown table, its first row the head."""
    for number, row in enumerate(rows):
        yield f"| {' | '.join(row)} |"
        if not number:
            yield "|" + "---|" * len(row)


Ran = dict[tuple[str, str], dict[str, Any]]


def _modes(known: dict[str, Adapter]) -> Iterator[tuple[Adapter, str, Mode | None]]:
    for name in sorted(known):
        for mode_id in MODE_IDS:
            yield known[name], mode_id, known[name].modes[mode_id]


def _shown(ran: Ran, adapter: Adapter, mode_id: str, mode: Mode) -> bool:
    """Whether the last run showed this very promise, on the build that it is declared for."""
    row = ran.get((adapter.id, mode_id))
    return (
        row is not None
        and row["shown"]
        and row["build"] == mode.verified_on
        and row["proves"] == mode.evidence.proves
    )


def _promises(known: dict[str, Adapter], ran: Ran) -> Iterator[Sequence[str]]:
    yield ("harness", "mode", "capture", "delivery", "gating", "identity", "interrupt", "steer")
    for adapter, mode_id, mode in _modes(known):
        if mode is None:
            yield (f"`{adapter.id}`", mode_id, *["not offered"] * 6)
        elif not _shown(ran, adapter, mode_id, mode):
            yield (f"`{adapter.id}`", mode_id, *["not shown"] * 6)
        else:
            promise = mode.guarantees
            levels = (promise.capture, promise.delivery, promise.gating, promise.identity)
            flags = ("yes" if each else "no" for each in (promise.interrupt, promise.steer))
            yield (f"`{adapter.id}`", mode_id, *levels, *flags)


def _kinds(known: dict[str, Adapter], ran: Ran) -> Iterator[Sequence[str]]:
    yield ("harness", *CALL_KINDS)
    for adapter, mode_id, mode in _modes(known):
        if mode_id == "instrumented" and isinstance(mode, LaunchMode):
            held = mode.ruled if _shown(ran, adapter, mode_id, mode) else ()
            cells = ("shown" if kind in held else "not shown" for kind in CALL_KINDS)
            yield (f"`{adapter.id}`", *cells)


def _runs(known: dict[str, Adapter], ran: Ran) -> Iterator[Sequence[str]]:
    yield ("harness", "mode", "build", "platform", "came to", "what the check shows")
    for adapter, mode_id, mode in _modes(known):
        if mode is not None:
            row = ran.get((adapter.id, mode_id), {})
            came = "shown" if _shown(ran, adapter, mode_id, mode) else "not shown"
            build, platform = row.get("build") or mode.verified_on, row.get("platform") or "-"
            proves = mode.evidence.proves.replace("|", "\\|")
            yield (f"`{adapter.id}`", mode_id, build, platform, came, proves)


def main(words: Sequence[str]) -> int:
    """Run what was asked for, and write the page. 1 when something was not shown."""
    failed: Rows = []
    if words[:1] == ["run"]:
        rows = asyncio.run(run(words[1:]))
        keep(rows)
        failed = [row for row in rows if not row["shown"]]
    PAGE.write_text(page(asyncio.run(adapters()), kept()), encoding="utf-8")
    for row in failed:
        print(f"{row['adapter']} {row['mode']}: not shown: {row['reason']}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
