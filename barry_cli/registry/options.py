"""Harness-specific settings: their JSON Schema, and whether a value fits it (2020-12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import ValidationError

_SHOWN = 160
_DATA_KEYWORDS = frozenset({"const", "default", "enum", "examples"})
_NAMED_KEYWORDS = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})


def schema_problems(schema: object) -> list[str]:
    """What keeps a value from being a JSON Schema that options can be checked against."""
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
        return list(dict.fromkeys(_lost_references(schema)))
    except SchemaError as error:
        place = ".".join(str(step) for step in error.path)
        return [f"{place + ': ' if place else ''}{_short(error.message)}"]
    except RecursionError:
        return ["it is nested too deeply"]


def validate_options(schema: dict[str, Any] | bool, value: object) -> list[str]:
    """One sentence for each thing about the options that does not fit; empty when they fit."""
    from jsonschema import Draft202012Validator
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    # An empty registry: a reference to somewhere else is never fetched.
    validator = Draft202012Validator(schema, registry=Registry())
    try:
        errors = sorted(validator.iter_errors(value), key=_path)
    except (Unresolvable, RecursionError) as error:
        return [f"the adapter's own schema can't be followed: {_short(str(error))}"]
    return [sentence for error in errors for sentence in _sentences(error)]


def _path(error: ValidationError) -> list[str]:
    return [str(step) for step in error.path]


def _lost_references(schema: object) -> Iterator[str]:
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    registry = Registry().with_resource("", DRAFT202012.create_resource(schema))
    resolver = registry.resolver()
    for reference in _references(schema):
        if not reference.startswith("#"):
            yield f"it refers to {_short(reference)}: only references within it are followed"
            continue
        try:
            resolver.lookup(reference)
        except (Unresolvable, ValueError, LookupError):
            yield f"it refers to {_short(reference)}, which isn't there"


def _references(schema: object, *, named: bool = False) -> Iterator[str]:
    """Every reference in a schema; ``named``: the keys of this table are names, not keywords."""
    if isinstance(schema, list):
        for inner in schema:
            yield from _references(inner)
    elif isinstance(schema, dict):
        for key, inner in schema.items():
            if not named and key in ("$ref", "$dynamicRef") and isinstance(inner, str):
                yield inner
            elif named or key not in _DATA_KEYWORDS:
                yield from _references(inner, named=not named and key in _NAMED_KEYWORDS)


def _sentences(error: ValidationError) -> list[str]:
    place = ".".join(str(step) for step in error.path)
    called = place or "the options"
    wanted = error.validator_value
    if error.validator == "additionalProperties" and wanted is False:
        return [_unknown(place, key, error.schema) for key in _unexpected(error)]
    if error.validator == "type":
        kinds = wanted if isinstance(wanted, list) else [wanted]
        return [f"{called} must be of type {' or '.join(str(kind) for kind in kinds)}"]
    if error.validator == "enum" and isinstance(wanted, list):
        return [f"{called} must be one of {_short(', '.join(str(each) for each in wanted))}"]
    if error.validator == "required" and isinstance(wanted, list):
        return [f"{_short(error.message).replace(' is a required property', '')} is missing"]
    return [f"{called}: {_short(error.message)}"]


def _unexpected(error: ValidationError) -> list[str]:
    import re

    known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
    patterns = error.schema.get("patternProperties", {}) if isinstance(error.schema, dict) else {}
    return [
        str(key)
        for key in error.instance
        if key not in known and not any(re.search(pattern, str(key)) for pattern in patterns)
    ]


def _unknown(place: str, key: str, schema: object) -> str:
    from barry_cli.base.ids import nearest

    known = list(schema.get("properties", {})) if isinstance(schema, dict) else []
    guess = nearest(key, known)
    shown = _short(f"{place}.{key}" if place else key)
    if guess:
        return f"{shown} is not an option; did you mean {guess}?"
    return f"{shown} is not an option" + (f"; the options: {', '.join(known)}" if known else "")


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
