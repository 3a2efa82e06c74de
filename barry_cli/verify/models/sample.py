"""The smallest plausible value for a JSON Schema: harnesses ask side questions in that form."""

from __future__ import annotations

from typing import Any

from barry_cli.verify.models.reading import mapping, string
from barry_cli.verify.models.shapes import Json

_DEPTH = 12  # a schema that refers to itself ends here


def sample(schema: Json) -> Any:
    """A minimal value for the schema: the required members (all, if it names none), first choices.

    Numbers are 1 where that is allowed: scores and counts often start there, unsaid.
    """
    return _sample(schema, schema, _DEPTH)


def fits(value: Any, schema: Json) -> bool:
    """Whether a value looks meant for the schema: right type and every required member there."""
    kind = _kind(schema)
    if kind == "object":
        return isinstance(value, dict) and all(name in value for name in _required(schema))
    if kind == "array":
        return isinstance(value, list)
    return kind == "" or not isinstance(value, dict | list)


def _sample(schema: Json, root: Json, depth: int) -> Any:
    if depth == 0:
        return None
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return options[0]
    if "$ref" in schema:
        return _sample(_resolve(string(schema["$ref"]), root), root, depth - 1)
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, list) and branches:
            return _sample(mapping(branches[0]), root, depth - 1)
    parts = schema.get("allOf")
    if isinstance(parts, list) and parts:
        values = [_sample(mapping(part), root, depth - 1) for part in parts]
        objects = [value for value in values if isinstance(value, dict)]
        merged = {name: value for found in objects for name, value in found.items()}
        return merged if objects else values[0]
    return _plain(schema, root, depth)


def _plain(schema: Json, root: Json, depth: int) -> Any:
    kind = _kind(schema)
    if kind == "object":
        properties = mapping(schema.get("properties"))
        names = _required(schema) if "required" in schema else list(properties)
        return {name: _sample(mapping(properties.get(name)), root, depth - 1) for name in names}
    if kind == "array":
        count = min(_number(schema.get("minItems")), 100)
        return [_sample(mapping(schema.get("items")), root, depth - 1) for _ in range(count)]
    if kind in ("integer", "number"):
        return _number(schema.get("minimum", min(1, _number(schema.get("maximum", 1)))))
    if kind == "boolean":
        return False
    if kind == "null":
        return None
    return "ok".ljust(min(_number(schema.get("minLength")), 1000), ".")


def _kind(schema: Json) -> str:
    """The type in lower case (one API writes it in capitals); of several, the first."""
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if string(name).lower() != "null"), "null")
    if not isinstance(kind, str):
        return "object" if "properties" in schema else ""
    return kind.lower()


def _required(schema: Json) -> list[str]:
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _number(value: Any) -> int:
    """A lower limit as a whole number at or above it; 0 when there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    try:
        whole = int(value)
    except (OverflowError, ValueError):
        return 0
    return whole if whole >= value else whole + 1


def _resolve(reference: str, root: Json) -> Json:
    """The part of the root that a `#/...` reference names."""
    found: Any = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        if name:
            found = mapping(found).get(name.replace("~1", "/").replace("~0", "~"))
    return mapping(found)
