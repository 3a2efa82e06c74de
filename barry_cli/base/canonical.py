"""Canonical JSON (RFC 8785): one text for one value, so that equal values have equal hashes.

What would silently change between a write and a read is refused, with its JSON path.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

from barry_cli.base.problems import Refused

LIMIT = 2**53
"""The largest integer that every reader of JSON gets back as it was."""

DEPTH = 200
"""How deep a value may nest."""


class NotCanonical(Refused, ValueError):
    """A value that JSON can't carry unchanged. ``path`` is where it stands: ``$.items[0]``."""

    code = "not-canonical"

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        super().__init__(f"{path} {problem}", details={"path": path})


def canonical_json(value: object) -> str:
    """The canonical text: no spaces, keys in the order of their UTF-16 units, one form per number.

    Raises NotCanonical for NaN, infinities, integers beyond 2^53, lone surrogates, keys that are
    no strings, cycles and unknown types.
    """
    written: list[str] = []
    _write(value, "$", written.append, [])
    return "".join(written)


def canonical_hash(value: object) -> str:
    """SHA-256 of the canonical text, in hex. Raises NotCanonical."""
    import hashlib

    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text that has one meaning only.

    Raises NotCanonical for a text that isn't JSON, for a key that stands twice in one object, and
    for what ``canonical_json`` refuses.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise NotCanonical("$", f"isn't JSON: {error}") from None
    canonical_json(value)
    return value


class _Doubled(dict[str, Any]):
    """An object in which a key stood twice; only a walk from the top knows its path."""

    key = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    doubled, seen = _Doubled(found), set[str]()
    for key, _ in pairs:
        if key in seen:
            doubled.key = key
        seen.add(key)
    return doubled


def _write(value: object, path: str, put: Any, above: list[int]) -> None:
    kind = type(value)
    if value is None:
        put("null")
    elif kind is bool:
        put("true" if value else "false")
    elif kind is str:
        put(_text(str(value), path))
    elif kind is int:
        put(_integer(value, path))
    elif kind is float:
        put(_number(value, path))
    elif isinstance(value, (dict, list, tuple, Mapping)):  # the commonest first
        if id(value) in above:
            raise NotCanonical(path, "contains itself")
        if len(above) >= DEPTH:
            raise NotCanonical(path, f"nests deeper than {DEPTH} levels")
        above.append(id(value))
        if isinstance(value, Mapping):
            _write_object(value, path, put, above)
        else:
            put("[")
            for index, inner in enumerate(value):
                put("," if index else "")
                _write(inner, f"{path}[{index}]", put, above)
            put("]")
        above.pop()
    else:
        raise NotCanonical(path, f"is a {kind.__name__}, which JSON has no form for")


def _write_object(value: Mapping[Any, object], path: str, put: Any, above: list[int]) -> None:
    if isinstance(value, _Doubled):
        raise NotCanonical(path, f"has the key {_shown(value.key)} twice")
    members = []
    for key in value:
        if type(key) is not str:
            raise NotCanonical(path, f"has a key that is a {type(key).__name__}, not a text")
        members.append((key, _text(key, path)))
    put("{")
    if all(key.isascii() for key, _ in members):
        members.sort()
    else:
        members.sort(key=lambda each: _units(each[0]))
    for index, (key, name) in enumerate(members):
        put(f"{',' if index else ''}{name}:")
        inner = value[key]
        if type(inner) is str and inner.isascii():  # the commonest by far, and never refused
            put(encode_basestring(inner))
        else:
            _write(inner, _step(path, key), put, above)
    put("}")


def _units(key: str) -> bytes:
    return key.encode("utf-16-be")


def _step(path: str, key: str) -> str:
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{_shown(key)}]"


def _shown(key: str) -> str:
    return json.dumps(key if len(key) <= 60 else key[:57] + "...")


def _text(text: str, path: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise NotCanonical(
                path, "holds half of a surrogate pair, which UTF-8 can't carry"
            ) from None
    return encode_basestring(text)  # what json.dumps would give, without making an encoder


def _integer(value: Any, path: str) -> str:
    if abs(value) > LIMIT:
        raise NotCanonical(path, "is an integer beyond 2^53: write it as a text")
    return str(value)


def _number(value: Any, path: str) -> str:
    """A float as ECMAScript writes it."""
    if not math.isfinite(value):
        raise NotCanonical(path, f"is {value}, which JSON has no form for")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the power of point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        if abs(value) > LIMIT:
            raise NotCanonical(path, "would be read as an integer beyond 2^53: write it as a text")
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{point - 1:+d}"
    return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + power
