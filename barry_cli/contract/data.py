"""The one base class of Barry's data: frozen, strict, camelCase outside, snake_case inside."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic.alias_generators import to_camel

_SCHEMA_SHAPE = "a JSON Schema is an object, true or false"


class Data(BaseModel):
    """Frozen data without behaviour; ``snapshot`` of one is what its file holds."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        extra="forbid",
        defer_build=True,
        arbitrary_types_allowed=True,
    )


def _schema(value: object) -> object:
    if not isinstance(value, dict | bool):
        raise ValueError(_SCHEMA_SHAPE)
    return value


JsonSchema = Annotated[dict[str, Any] | bool, BeforeValidator(_schema)]
"""A JSON Schema (2020-12), as the object that it is in JSON."""


def snapshot(data: Data) -> dict[str, Any]:
    """What a file or a ``--json`` document holds: camelCase keys, absent where None."""
    return data.model_dump(by_alias=True, mode="json", exclude_none=True)
