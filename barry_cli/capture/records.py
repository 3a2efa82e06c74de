"""OTLP log records in JSON, flattened: what a harness reports, before an adapter maps it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Record = dict[str, Any]

_DEPTH = 20


def log_records(document: object) -> Iterator[Record]:
    """The records of an export request: ``name``, ``body``, ``attributes``; malformed ones are
    passed over.

    ``name`` is the event's name, else the attribute ``event.name``, else the body where it is text.
    """
    for resource in _list(document, "resourceLogs"):
        for scope in _list(resource, "scopeLogs"):
            for each in _list(scope, "logRecords"):
                if isinstance(each, dict):
                    yield _record(each)


def points(document: object) -> int:
    """How many metrics or spans an export request holds."""
    return sum(
        len(_list(scope, inner))
        for outer, middle, inner in (
            ("resourceMetrics", "scopeMetrics", "metrics"),
            ("resourceSpans", "scopeSpans", "spans"),
        )
        for resource in _list(document, outer)
        for scope in _list(resource, middle)
    )


def _record(found: dict[str, Any]) -> Record:
    body = _value(found.get("body"), _DEPTH)
    attributes = _pairs(found.get("attributes"), _DEPTH)
    for name in (found.get("eventName"), attributes.get("event.name"), body):
        if isinstance(name, str) and name:
            return {"name": name, "body": body, "attributes": attributes}
    return {"name": "", "body": body, "attributes": attributes}


def _pairs(found: object, depth: int) -> Record:
    pairs = found if isinstance(found, list) else []
    return {
        pair["key"]: _value(pair.get("value"), depth)
        for pair in pairs
        if isinstance(pair, dict) and isinstance(pair.get("key"), str)
    }


def _value(found: object, depth: int) -> Any:
    """The plain value of OTLP's ``AnyValue``; 64-bit integers come as texts."""
    if not isinstance(found, dict) or depth <= 0:
        return None
    for kind, value in found.items():
        if kind in ("stringValue", "bytesValue") and isinstance(value, str):
            return value
        if kind == "boolValue" and isinstance(value, bool):
            return value
        if kind == "intValue":
            return _integer(value)
        if kind == "doubleValue" and isinstance(value, int | float):
            return value
        if kind == "arrayValue":
            return [_value(each, depth - 1) for each in _list(value, "values")]
        if kind == "kvlistValue" and isinstance(value, dict):
            return _pairs(value.get("values"), depth - 1)
    return None


def _integer(value: object) -> int | None:
    if isinstance(value, int):
        return value
    if not isinstance(value, str) or len(value) > 20:
        return None
    try:
        return int(value)
    except ValueError:
        return None


def _list(found: object, name: str) -> list[Any]:
    inner = found.get(name) if isinstance(found, dict) else None
    return inner if isinstance(inner, list) else []
