"""Data as canonical JSON that reads back as what was written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import ValidationError

from barry_cli.base.canonical import canonical_json
from barry_cli.contract.data import Data
from barry_cli.turns.store.stored import Damaged

Kind = TypeVar("Kind", bound=Data)


def document_of(data: Data) -> dict[str, Any]:
    """The camelCase object of a datum: absent where None, unless the field has to be there.

    What is inside an ``Any`` field stays as it is, so that ``canonical_json`` sees it.
    """
    found = data.model_dump(by_alias=True, exclude_none=True)
    for name in _required(type(data)):
        found.setdefault(name, None)
    return found


@cache
def _required(kind: type[Data]) -> tuple[str, ...]:
    return tuple(
        field.alias or name for name, field in kind.model_fields.items() if field.is_required()
    )


def text_of(data: Data | Mapping[str, Any]) -> str:
    """The canonical text of a datum. Raises NotCanonical."""
    return canonical_json(document_of(data) if isinstance(data, Data) else data)


def datum_of(kind: type[Kind], value: object) -> Kind:
    """A datum of this kind from what was stored. Raises Damaged."""
    try:
        return kind.model_validate(value)
    except ValidationError:
        raise Damaged("a record in it has lost its form") from None
