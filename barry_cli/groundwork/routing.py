"""Where a model of another vendor is reached, or why it can't be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from barry_cli.base.problems import Refused, UsageProblem
from barry_cli.contract.adapter import Adapter
from barry_cli.contract.models import Endpoint, split_model
from barry_cli.groundwork.surroundings import as_found

if TYPE_CHECKING:
    from barry_cli.registry.adapters import Adapters


async def route(
    adapter: Adapter, model: str | None, registry: Adapters, env: Mapping[str, str]
) -> Endpoint | None:
    """The endpoint for a model of another vendor; None where the harness's own settings do.

    Raises UsageProblem for a model that isn't ``vendor/model``, and Refused when the harness
    can't be pointed elsewhere or would send the user's own login there.
    """
    if model is None:
        return None
    try:
        vendor, name = split_model(model)
    except ValueError as error:
        raise UsageProblem(str(error), hint=_example(adapter)) from error
    if adapter.vendor is None or adapter.vendor == vendor:
        return None
    if adapter.capabilities.endpoint == "fixed":
        raise Refused(
            f"{adapter.label} reaches only {adapter.vendor}, so it can't use {model}",
            hint=_example(adapter),
            details={"adapterId": adapter.id, "model": model},
        )
    with as_found():
        loaded = await registry.load_vendor_code()
    factory = loaded.factories.get(vendor)
    broken = loaded.why_not(vendor)
    try:
        with as_found():
            endpoint = factory(name, env) if factory is not None else None
    except (Exception, SystemExit) as error:  # somebody else's code: its failure is told as theirs
        endpoint, broken = None, [f"{type(error).__name__}: {error}"]
    if endpoint is None:
        raise Refused(
            f"no installed adapter says where {vendor}'s models are reached"
            + (f" ({broken[0]})" if broken else ""),
            hint=f"install an adapter that carries {vendor}, or use {adapter.vendor}'s models",
            details={"adapterId": adapter.id, "model": model},
        )
    check_endpoint(adapter, endpoint)
    return endpoint


def check_endpoint(adapter: Adapter, endpoint: Endpoint) -> None:
    """Refuse an endpoint that the harness can't use safely."""
    if adapter.capabilities.endpoint == "fixed":
        raise Refused(
            f"{adapter.label} can't be pointed at {endpoint.url}",
            hint=_example(adapter),
            details={"adapterId": adapter.id},
        )
    key = endpoint.key.get_secret_value() if endpoint.key is not None else ""
    if not key and adapter.capabilities.without_key == "subscription-oauth":
        raise Refused(
            f"{endpoint.url} comes without a key, and {adapter.label} would then send it your own "
            "login",
            hint="give the endpoint a key, even a made-up one where it wants none",
            details={"adapterId": adapter.id, "url": endpoint.url},
        )


def _example(adapter: Adapter) -> str:
    if adapter.vendor is None:
        return f"`barry adapter models {adapter.id}` lists models"
    return f"name one of its vendor's models, as {adapter.vendor}/MODEL"
