"""Adapters for a person: what they can do, what they promise, what was wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from barry_cli.cli.render.columns import facts, printable
from barry_cli.contract.adapter import CALL_KINDS, Adapter, Mode
from barry_cli.contract.data import snapshot
from barry_cli.registry.binaries import install_hint

if TYPE_CHECKING:
    from barry_cli.registry.adapters import Added
    from barry_cli.registry.examine import Examined
    from barry_cli.registry.records import InstalledAdapter


def _promise(mode: Mode) -> str:
    promise = snapshot(mode.guarantees)
    return ", ".join(f"{name} {str(level).lower()}" for name, level in promise.items())


def _modes(
    modes: Sequence[tuple[str, Mode | None]], experimental: str | None
) -> list[tuple[str, str]]:
    pairs = []
    for name, mode in modes:
        if mode is None:
            pairs.append((name, "not today"))
            continue
        doubt = " (unverified: experimental)" if experimental else f" (shown on {mode.verified_on})"
        pairs.append((name, _promise(mode) + doubt))
    return pairs


def abilities(adapter: Adapter) -> str:
    """What an adapter will be able to do, said before it is recorded."""
    binary = adapter.requirements.binary
    pairs = [
        ("adapter", f"{adapter.id} ({adapter.label})"),
        ("runs", binary.command + (f" {binary.pin.version}" if binary.pin.version else "")),
        ("sees", ", ".join(adapter.requirements.environment) or "no variables of its own"),
        *_modes(
            [(name, mode) for name, mode in adapter.modes.items() if isinstance(mode, Mode)],
            adapter.experimental,
        ),
    ]
    if adapter.experimental:
        pairs.append(("experimental", adapter.experimental))
    return facts(pairs).rstrip("\n")


def added(result: Added) -> str:
    """What was recorded, and what that changed."""
    record = result.record
    if not result.replaced:
        return f"added {record.id} {record.version} ({record.checked} checks passed)\n"
    if result.before is None:
        return f"replaced the damaged record of {record.id} by {record.version}\n"
    changes = [_change(name, *both) for name, both in result.changes().items()]
    if not changes:
        return f"{record.id} {record.version} is recorded anew; nothing changed\n"
    return f"updated {record.id}\n" + "".join(f"  {change}\n" for change in changes)


def _change(name: str, before: object, now: object) -> str:
    """One changed field; long values are named, not shown."""
    texts = [json.dumps(value, ensure_ascii=False) for value in (before, now)]
    if max(map(len, texts)) > 60:
        return f"{name} changed"
    return printable(f"{name}: {texts[0]} -> {texts[1]}")


def added_document(result: Added) -> dict[str, Any]:
    """``{"schema": 1, "adapter": {...}, "replaced": bool, "changes": [{field, before, now}]}``."""
    return {
        "schema": 1,
        "adapter": snapshot(result.record),
        "replaced": result.replaced,
        "changes": [
            {"field": name, "before": before, "now": now}
            for name, (before, now) in result.changes().items()
        ],
    }


def record(found: InstalledAdapter, state: str, binary: str | None) -> str:
    """One adapter, whole."""
    needs = found.requirements
    pairs = [
        ("adapter", f"{found.id} ({found.label}) {found.version}"),
        ("state", state),
        ("package", f"{found.package_name} in {found.path}"),
        ("answers to", ", ".join((found.id, *found.aliases))),
        ("vendor", found.vendor or "none: it connects to vendors itself"),
        (
            "binary",
            (
                f"{needs.binary.command}, pinned to {needs.binary.pin.version} by "
                f"{needs.binary.pin.enforced_by}"
            ),
        ),
        ("installed by", install_hint(needs.binary)),
        ("platforms", ", ".join(needs.platforms) if needs.platforms else "any"),
        ("sees", ", ".join(needs.environment) or "no variables of its own"),
        ("default mode", found.default_mode),
        *_modes(list(found.modes.items()), found.experimental),
        ("native tools", ", ".join(found.native_tools)),
        ("capabilities", _flat(snapshot(found.capabilities))),
    ]
    for name, mode in found.modes.items():
        if mode is not None and mode.ruled:
            absent = [kind for kind in CALL_KINDS if kind not in mode.ruled]
            doubt = f"; not shown: {', '.join(absent)}" if absent else ""
            pairs.append((f"{name} rules on", ", ".join(mode.ruled) + doubt))
        if mode is not None:
            pairs.append((f"{name} shown by", f"{mode.evidence.check}: {mode.evidence.proves}"))
    if isinstance(found.options, dict):
        for name, schema in found.options.get("properties", {}).items():
            about = (
                schema.get("description") or schema.get("type") or ""
                if isinstance(schema, dict)
                else ""
            )
            pairs.append((f"option {name}", str(about)))
    if found.experimental:
        pairs.append(("experimental", found.experimental))
    if binary is not None:
        pairs.append(("other program", binary))
    return facts(pairs)


def _flat(values: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {'/'.join(map(str, value)) or 'none' if isinstance(value, list) else value}"
        for name, value in values.items()
    )


def record_document(found: InstalledAdapter, state: str, binary: str | None) -> dict[str, Any]:
    """``{"schema": 1, "adapter": {...}}``: the record, its state, and ``resolvedBinary`` if any."""
    document: dict[str, Any] = {**snapshot(found), "state": state}
    if binary is not None:
        document["resolvedBinary"] = binary
    return {"schema": 1, "adapter": document}


def checked(result: Examined) -> str:
    """Every problem, and how many checks looked."""
    lines = "".join(f"problem: {printable(problem)}\n" for problem in result.problems)
    count = len(result.problems)
    verdict = f"{count} problem{'s' if count != 1 else ''}" if count else "no problem"
    return f"{lines}{result.checked} checks, {verdict}\n"
