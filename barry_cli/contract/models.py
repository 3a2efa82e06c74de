"""Models, the vendors that serve them, and where requests go (seeds 000 and 001)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pydantic import SecretStr

from barry_cli.contract.data import Data
from barry_cli.contract.requirements import OfferedModel


class Endpoint(Data):
    """Where to send requests instead of the harness's own vendor, and with what key."""

    url: str
    api: str
    """The API that it speaks: the id of the vendor whose API it serves or imitates."""
    key: SecretStr | None = None
    structured_output: Literal["native", "prompted"] | None = None
    """Whether it enforces a schema; None where nobody measured."""


class TokenUsage(Data):
    """Tokens of a turn or a message. Not complete: a lower bound."""

    input: int
    output: int
    cached: int = 0
    cache_write: int = 0
    reasoning: int | None = None
    complete: bool = True


class Vendor(Data):
    """A vendor's row in a catalog: readable without running anybody's code."""

    id: str
    label: str
    models: tuple[OfferedModel, ...] = ()


VendorFactory = Callable[[str, Mapping[str, str]], "Endpoint | None"]
"""(model name without its vendor, environment) -> where to reach it, or None if it can't say."""

VendorFactories = dict[str, VendorFactory]
"""Vendor id -> what makes its endpoints."""


@dataclass(frozen=True, kw_only=True)
class VendorCode:
    """Vendor rows, and the code that reaches them, that an adapter ships."""

    vendors: tuple[Vendor, ...] = ()
    factories: Mapping[str, VendorFactory] = field(default_factory=dict)


class Models(Protocol):
    """Who knows where a model is reached."""

    def endpoint(self, model: str) -> Endpoint | None:
        """The endpoint of ``vendor/model``, or None when the harness's own settings do."""
        ...


def split_model(model: str) -> tuple[str, str]:
    """``vendor/model`` as its two parts. Raises ValueError when it isn't of that form."""
    vendor, slash, name = model.partition("/")
    if not (vendor and slash and name):
        raise ValueError(f"a model is written vendor/model, and {model!r} is not")
    return vendor, name
