"""The base of bounds, traits and scopes: an unknown key names the nearest right one."""

from __future__ import annotations

from typing import Annotated, Any, NoReturn, Self, TypeVar

from pydantic import (
    AfterValidator,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError

from barry_cli.contract.data import Data
from barry_cli.policy.sentences import hint

_NULL = {"type": "null"}

Value = TypeVar("Value")


class FrozenDict(dict[str, Value]):
    """A table that nobody changes after it was read."""

    def _refuse(self, *args: object, **more: object) -> NoReturn:
        raise TypeError("this table is frozen: make a new one instead")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # unlike a dict's, its content stays
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict[Value]], tuple[dict[str, Value]]]:
        return FrozenDict, (dict(self),)


Table = Annotated[dict[str, Value], AfterValidator(FrozenDict)]


class Strict(Data):
    """Frozen data whose keys are the known ones, at every level."""

    @model_validator(mode="wrap")
    @classmethod
    def _name_the_nearest(cls, value: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(value)
        except ValidationError as error:
            lines = [cls._told(line) for line in error.errors(include_url=False)]
            raise ValidationError.from_exception_data(error.title, lines) from None

    @classmethod
    def _told(cls, line: ErrorDetails) -> InitErrorDetails:
        kind, place, said = line["type"], line["loc"], line["msg"]
        if kind == "extra_forbidden" and len(place) == 1:
            word = str(place[0])
            fields = cls.model_fields.items()
            known = [name if "_" in word else field.alias or name for name, field in fields]
            said = f"{word} is not a known key{hint(word, known)}"
        # A message of its own survives the levels above; its context stays what it was.
        context = {**line.get("ctx", {}), "said": said}
        told = PydanticCustomError(kind, "{said}", context)
        return {"type": told, "loc": place, "input": line["input"]}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Null is not a way to leave a key out, so no optional key allows it."""
        schema = handler.resolve_ref_schema(handler(core))
        needed = schema.get("required", ())
        for key, inner in schema.get("properties", {}).items():
            inner.pop("title", None)
            if key in needed:
                continue
            inner.pop("default", None)
            options = inner.get("anyOf", [])
            if _NULL in options:
                left = [option for option in options if option != _NULL]
                del inner["anyOf"]
                inner.update(left[0] if len(left) == 1 else {"anyOf": left})
        return schema
