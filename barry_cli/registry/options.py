"""Harness-specific settings: whether a value fits their JSON Schema, said plainly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from barry_cli.base.json_schema import NotFollowed, shortened, violations

if TYPE_CHECKING:
    from jsonschema import ValidationError


def validate_options(schema: dict[str, Any] | bool, value: object) -> list[str]:
    """One sentence for each thing about the options that does not fit; empty when they fit."""
    try:
        errors = violations(schema, value)
    except NotFollowed as error:
        return [f"the adapter's own schema can't be followed: {error}"]
    return [sentence for error in errors for sentence in _sentences(error)]


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
        return [f"{called} must be one of {shortened(', '.join(str(each) for each in wanted))}"]
    if error.validator == "required" and isinstance(wanted, list):
        return [f"{shortened(error.message).replace(' is a required property', '')} is missing"]
    return [f"{called}: {shortened(error.message)}"]


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
    shown = shortened(f"{place}.{key}" if place else key)
    if guess:
        return f"{shown} is not an option; did you mean {guess}?"
    return f"{shown} is not an option" + (f"; the options: {', '.join(known)}" if known else "")
