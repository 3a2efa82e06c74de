"""Bounds for a person and as JSON: those that there are, and what applies in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from barry_cli.cli.render.columns import columns, printable
from barry_cli.contract.data import snapshot

if TYPE_CHECKING:
    from barry_cli.cli.bound_facts import Listed, Native
    from barry_cli.policy.lookup import Effective, Source
    from barry_cli.policy.schema import Bound

_GATING = {
    "none": "nothing is held",
    "static": "tools are switched off at the start; nobody rules on single calls",
    "hooks": "hooks rule on single calls",
    "per-call": "Barry rules on every call",
}

_WHY = {
    "always": "your settings",
    "project": "the project",
    "asked": "asked for",
    "trait": "a trait",
    "resumed": "resumed",
}


def rules(bound: Bound) -> Iterator[tuple[str, str | None]]:
    """Every rule of a bound with its field; None stands for a list that is there and empty."""
    for field, value in _flat(snapshot(bound)):
        if field in ("name", "description"):
            continue
        if isinstance(value, list):
            yield from ((field, rule) for rule in value)
            if not value:
                yield field, None
        else:
            yield field, str(value)


def _flat(table: dict[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{under}{key}.")
        else:
            yield f"{under}{key}", value


def listed(found: Sequence[Listed]) -> str:
    """The bounds and traits that have a name."""
    rows = [
        (each.name, each.kind, each.whose, "; ".join(each.problems) or each.description)
        for each in found
    ]
    return columns(("NAME", "KIND", "FROM", "WHAT"), rows)


def listed_document(found: Sequence[Listed]) -> dict[str, Any]:
    """``{"schema": 1, "bounds": [...], "traits": [...]}``."""
    document: dict[str, Any] = {"schema": 1, "bounds": [], "traits": []}
    for each in found:
        document[f"{each.kind}s"].append(
            {
                "name": each.name,
                "from": each.whose,
                "place": each.place,
                "description": each.description,
                "problems": list(each.problems),
            }
        )
    return document


def effective(found: Effective, cwd: str, native: Native | None) -> str:
    """What applies in a folder, rule by rule, each with where it comes from."""
    if not found.sources:
        text = f"no bound applies in {printable(cwd)}\n"
        return text if native is None else text + _native(native)
    lines = [f"in {printable(cwd)}\n"]
    lines += [f"  {printable(_told(source))}\n" for source in found.sources]
    if found.traits:
        names = ", ".join(trait.name for trait in found.traits)
        lines.append(f"granted by traits alone: {printable(names)}\n")
    lines += [f"note: {printable(note)}\n" for note in found.notes]
    lines.append("\n")
    lines.append(_table(found) if found.bound is not None else "they restrict nothing\n")
    return "".join(lines) + ("" if native is None else _native(native))


def _table(found: Effective) -> str:
    rows = []
    before = ""
    for each in _rules_with_sources(found):
        shown = "(nothing)" if each["written"] is None else each["written"]
        field = "" if each["field"] == before else each["field"]
        rows.append((field, shown, ", ".join(each["from"])))
        before = each["field"]
    return columns(("FIELD", "RULE", "FROM"), rows)


def _told(source: Source) -> str:
    told = f"{source.label} ({_WHY[source.why]})"
    about = source.written.description
    return f"{told}: {about}" if about else told


def _rules_with_sources(found: Effective) -> Iterator[dict[str, Any]]:
    if found.bound is None:
        return
    for field, rule in rules(found.bound):
        said = found.said_by(field, rule or "")
        labels = [source.label for source, _ in said]
        if not said:  # what is no list: enforce
            labels = [
                source.label for source in found.sources if (field, rule) in rules(source.bound)
            ]
        written = {words for _, words in said}
        own = written.pop() if len(written) == 1 and rule is not None else rule
        yield {"field": field, "rule": rule, "written": own, "from": labels}


def effective_document(found: Effective, cwd: str, native: Native | None) -> dict[str, Any]:
    """``{"schema": 1, "effective": {...}}``."""
    document: dict[str, Any] = {
        "cwd": cwd,
        "bound": None if found.bound is None else snapshot(found.bound),
        "sources": [
            {
                "why": source.why,
                "label": source.label,
                "place": source.place,
                "bound": snapshot(source.written),
            }
            for source in found.sources
        ],
        "rules": list(_rules_with_sources(found)),
        "traits": [trait.name for trait in found.traits],
        "notes": list(found.notes),
    }
    if native is not None:
        document["native"] = _native_facts(native)
    return {"schema": 1, "effective": document}


def _native_facts(native: Native) -> dict[str, Any]:
    held = native.held
    return {
        "harness": native.harness,
        "mode": native.mode,
        "gating": native.gating,
        "denied": list(held.denied),
        "takenBack": dict(held.taken_back),
        "conflicts": dict(held.conflicts),
        "uncontrolled": dict(held.uncontrolled),
        "operatorOverride": held.operator_override,
        "refused": list(native.refused),
        "lowered": list(native.lowered),
        "beyond": list(held.beyond),
        "notes": list(held.notes),
    }


def _native(native: Native) -> str:
    """What becomes of the harness's own tools."""
    held = native.held
    lines = [f"\n{native.harness} in {native.mode} mode ({_GATING[native.gating]})"]
    lines += [f"  switched off: {tool}" for tool in held.denied]
    lines += [
        f"  switched off: {tool} (taken back by {why})" for tool, why in held.taken_back.items()
    ]
    lines += [
        f"  stays, whatever is denied: {tool} ({why})" for tool, why in held.uncontrolled.items()
    ]
    lines += [f"  a launch is refused: {each}" for each in native.refused]
    lines += [f"  a launch is refused: {tool}, {why}" for tool, why in held.conflicts.items()]
    lines += [f"  not held: {each}" for each in (*native.lowered, *held.beyond)]
    if held.operator_override:
        lines.append(f"  got round by: {held.operator_override}")
    lines += [f"  note: {note}" for note in held.notes]
    if len(lines) == 1:
        lines.append("  every tool of its own stays")
    return "".join(f"{printable(line) if line[0] != chr(10) else line}\n" for line in lines)


def checked(problems: Sequence[str], warnings: Sequence[str]) -> str:
    """What a file's validation came to."""
    lines = [f"problem: {printable(each)}\n" for each in problems]
    lines += [f"warning: {printable(each)}\n" for each in warnings]
    count = len(problems)
    verdict = f"{count} problem{'s' if count != 1 else ''}" if count else "it is a bound"
    return "".join([*lines, f"{verdict}\n"])


def as_toml(bound: Bound) -> str:
    """A bound as its file."""
    import tomli_w

    return tomli_w.dumps(snapshot(bound), multiline_strings=False)
