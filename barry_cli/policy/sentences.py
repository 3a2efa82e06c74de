"""What validation found, said in sentences that name the place and the nearest right key."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Union, get_args, get_origin

from pydantic import BaseModel

from barry_cli.base.ids import nearest

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

RULE = "barry_rule"
"""The type of an error whose message is a whole sentence already."""

_SHOWN = 60

_PLAIN = {
    "dict_type": "must be a table",
    "list_type": "must be a list",
    "model_attributes_type": "must be a table",
    "model_type": "must be a table",
    "string_too_short": "must not be empty",
    "string_type": "must be a text",
    "tuple_type": "must be a list",
}


def sentences(
    error: ValidationError, model: type[BaseModel], *, under: str = "", by_name: bool = False
) -> list[str]:
    """One sentence per error, in the order of the document.

    ``under`` is put before every place; ``by_name`` spells fields as Python does.
    """
    return [_sentence(detail, model, under, by_name) for detail in error.errors(include_url=False)]


def _sentence(detail: ErrorDetails, model: type[BaseModel], under: str, by_name: bool) -> str:
    if detail["type"] == RULE:
        return detail["msg"]
    place, holder = _place(detail["loc"], model, under, by_name)
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return f"{place} is missing"
    if kind == "extra_forbidden":
        return f"{place} is not a known key{hint(str(detail['loc'][-1]), _keys(holder, by_name))}"
    if kind == "literal_error":
        expected = str(context.get("expected", ""))
        words = expected.replace(" or ", ", ").replace("'", "").split(", ")
        guess = nearest(str(detail["input"])[:200], words)
        asked = f"; did you mean {guess}?" if guess else ""
        return f"{place} is {_shown(detail['input'])}, and must be {expected}{asked}"
    if kind == "value_error":
        return f"{place}: {context.get('error', detail['msg'])}"
    if plain := _PLAIN.get(kind):
        return f"{place} {plain}"
    message = detail["msg"]
    if message.startswith("Input should"):
        return f"{place} should{message.removeprefix('Input should')}"
    return f"{place}: {message[:1].lower()}{message[1:]}"


def _place(
    steps: tuple[int | str, ...], model: type[BaseModel], under: str, by_name: bool
) -> tuple[str, object]:
    """The place as text, and the kind of the thing that holds its last step."""
    text = under
    kind: object = model
    holder: object = model
    for step in steps:
        if step == "[key]":
            continue
        holder, (name, kind) = kind, _inside(kind, step)
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += ("." if text else "") + (name if by_name else str(step))
    return text or "the document", holder


def _inside(kind: object, step: int | str) -> tuple[str, object]:
    """A step's name in Python, and the kind of what it leads to, object where that is unknown."""
    found: object = object
    for option in _options(kind):
        arguments = get_args(option)
        if isinstance(option, type) and issubclass(option, BaseModel):
            for name, field in option.model_fields.items():
                if step in (name, field.alias):
                    return name, field.annotation or BaseModel
        elif isinstance(step, int) and arguments:
            found = arguments[0]
        elif isinstance(step, str) and get_origin(option) is dict:
            found = arguments[1]
    return str(step), found


def _options(kind: object) -> Iterator[object]:
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _options(get_args(kind)[0])
    elif origin in (Union, types.UnionType):
        for option in get_args(kind):
            yield from _options(option)
    else:
        yield kind


def _keys(kind: object, by_name: bool) -> list[str]:
    return [
        name if by_name else field.alias or name
        for option in _options(kind)
        if isinstance(option, type) and issubclass(option, BaseModel)
        for name, field in option.model_fields.items()
    ]


def hint(word: str, known: list[str]) -> str:
    """How a sentence about an unknown word ends: with the nearest right one, or with all."""
    # Two spellings of one name differ in case and underscores before they differ in letters.
    plain: Mapping[str, str] = {key.replace("_", "").lower(): key for key in known}
    guess = plain.get(word.replace("_", "").replace("-", "").lower()) or nearest(word, known)
    if guess:
        return f"; did you mean {guess}?"
    return f"; known here: {', '.join(known)}" if known else ""


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # a stranger's repr may do anything
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
