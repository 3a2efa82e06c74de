"""The rules of an adapter's bag: its names are the harness's, its credentials can be found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from pydantic import ValidationError

from barry_cli.bags.manifest import BagManifest
from barry_cli.base.ids import nearest
from barry_cli.contract.adapter import Adapter
from barry_cli.policy.sentences import sentences
from barry_cli.registry.ledger import Ledger


def check_bag(
    ledger: Ledger,
    adapter: Adapter,
    bag: BagManifest | Mapping[str, Any] | None,
    native_tools: tuple[str, ...],
) -> None:
    """Check where the bag is said to be and, when it was read, what it declares."""
    folder: object = adapter.bag
    ledger.hold(
        folder is None or _inside(folder),
        f"bag {folder!r} is not a relative folder inside the adapter's package",
    )
    if bag is None:
        return
    manifest, complete = _manifest(ledger, bag)
    if manifest is None:
        return
    for place, tool in _named_tools(manifest, {adapter.id, *adapter.aliases}):
        guess = nearest(tool, native_tools)
        ledger.hold(
            tool in native_tools,
            f"bag: {place} names {tool!r}, which is not in native_tools"
            + (f"; did you mean {guess}?" if guess else ""),
        )
    for tool in native_tools if complete else ():
        ledger.hold(tool in manifest.tools, f"bag: tools has no row for the native tool {tool}")
    _formats(ledger, manifest, native_tools)


def _formats(ledger: Ledger, manifest: BagManifest, native_tools: tuple[str, ...]) -> None:
    """What a launch needs of each event, so that no launch is the first to find it missing."""
    some: dict[bool, list[str]] = {True: [], False: []}
    for name, form in manifest.formats.items():
        for tool in form.names.values():
            ledger.hold(
                tool in native_tools,
                f"bag: formats.{name}.names leads to {tool!r}, which is not in native_tools",
            )
        ruled = form.kind == "before-tool" or (form.kind == "ask" and "deny" in form.answers)
        some[ruled].append(name)
        if ruled:
            ledger.hold("deny" in form.answers, f"bag: formats.{name}.answers has no deny")
            for part in ("tool", "input"):
                ledger.hold(part in form.paths, f"bag: formats.{name}.paths has no {part}")
        message = form.answers.get("message")
        ledger.hold(
            message is None or message.exit == 0,
            f"bag: formats.{name}.answers.message leaves with an exit code, and only 0 is "
            "passed on",
        )
    for names in some.values():
        for name in names if len(names) > 1 else ():
            ledger.hold(
                "event" in manifest.formats[name].paths,
                f"bag: formats.{name}.paths has no event, and there are several to tell apart",
            )


def _inside(folder: object) -> bool:
    if not isinstance(folder, str) or not folder or "\0" in folder:
        return False
    path = PurePosixPath(folder)
    return not path.is_absolute() and ".." not in path.parts


def _manifest(
    ledger: Ledger, bag: BagManifest | Mapping[str, Any]
) -> tuple[BagManifest | None, bool]:
    """The manifest, and whether it is a whole one rather than a part given for its own sake."""
    if isinstance(bag, BagManifest):
        ledger.checked += 1
        return bag, True
    if not ledger.hold(
        isinstance(bag, Mapping), f"bag is a {type(bag).__name__}, not a bag manifest"
    ):
        return None, False
    try:
        ledger.checked += 1
        return BagManifest.model_validate({"name": "bag", **bag}), "tools" in bag
    except ValidationError as error:
        ledger.problems += sentences(error, BagManifest, under="bag")
        return None, False


def _named_tools(manifest: BagManifest, own: set[str]) -> Iterator[tuple[str, str]]:
    """Every native name of this harness that a manifest mentions, and where."""
    for tool in manifest.tools:
        yield "tools", tool
    for category, tools in manifest.categories.items():
        for tool in tools:
            yield f"categories.{category}", tool
    grants = (
        (f"{kind}.{name}.nativeTools", row.native_tools)
        for kind, table in (("traits", manifest.traits), ("bounds", manifest.bounds))
        for name, row in table.items()
    )
    carried = (
        (f"traits.{name}.bound.nativeTools", trait.bound.native_tools)
        for name, trait in manifest.traits.items()
        if trait.bound is not None
    )
    for place, table in (*grants, *carried):
        for harness, tools in (table or {}).items():
            for tool in tools if harness in own else ():
                yield f"{place}.{harness}", tool
