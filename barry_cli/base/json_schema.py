"""JSON Schemas (2020-12): whether one is one, and what doesn't fit it. Nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import ValidationError

_SHOWN = 160
_DATA_KEYWORDS = frozenset({"const", "default", "enum", "examples"})
_NAMED_KEYWORDS = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})


class NotFollowed(ValueError):
    """A schema refers to what isn't there, or is nested too deeply to be followed."""


def schema_problems(schema: object) -> list[str]:
    """What keeps a value from being a JSON Schema that values can be checked against."""
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
        return list(dict.fromkeys(_lost_references(schema)))
    except SchemaError as error:
        place = ".".join(str(step) for step in error.path)
        return [f"{place + ': ' if place else ''}{shortened(error.message)}"]
    except RecursionError:
        return ["it is nested too deeply"]


def violations(schema: dict[str, Any] | bool, value: object) -> list[ValidationError]:
    """What of a value doesn't fit, in the order of its paths. Raises NotFollowed."""
    from jsonschema import Draft202012Validator
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    # An empty registry: a reference to somewhere else is never fetched.
    validator = Draft202012Validator(schema, registry=Registry())
    try:
        return sorted(validator.iter_errors(value), key=lambda error: [str(s) for s in error.path])
    except (Unresolvable, RecursionError) as error:
        raise NotFollowed(shortened(str(error))) from None


def shortened(text: str) -> str:
    """A text of at most 160 characters."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _lost_references(schema: object) -> Iterator[str]:
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    registry = Registry().with_resource("", DRAFT202012.create_resource(schema))
    resolver = registry.resolver()
    for reference in _references(schema):
        if not reference.startswith("#"):
            yield f"it refers to {shortened(reference)}: only references within it are followed"
            continue
        try:
            resolver.lookup(reference)
        except (Unresolvable, ValueError, LookupError):
            yield f"it refers to {shortened(reference)}, which isn't there"


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
