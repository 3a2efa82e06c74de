"""The models that a harness can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from barry_cli.base.problems import BarryError, Refused

if TYPE_CHECKING:
    from barry_cli.registry.adapters import Adapters


async def usable_models(
    adapter_id: str, registry: Adapters, base_env: Mapping[str, str]
) -> list[str]:
    """``vendor/model`` names: what the account can use where the harness says, else what it offers,
    else what its vendor's row lists.

    Raises Refused when nobody can say, or the harness fails to.
    """
    from barry_cli.launch.environment import cut

    record = registry.record(adapter_id)
    adapter = await registry.load(record.id)
    if adapter.list_models is not None:
        env = cut(base_env, also=record.requirements.environment).values
        try:
            return list(await adapter.list_models(env))
        except BarryError:
            raise
        except Exception as error:
            raise Refused(
                f"{adapter.label} could not list its models: {error}",
                hint=f"`barry adapter doctor {adapter.id}` looks closer",
            ) from error
    if adapter.offered_models is not None:
        return [model.id for model in adapter.offered_models]
    rows = [vendor for vendor in registry.vendor_rows() if vendor.id == adapter.vendor]
    found = [f"{vendor.id}/{model.id}" for vendor in rows for model in vendor.models]
    if found:
        return found
    others = f", and no installed adapter lists {adapter.vendor}'s" if adapter.vendor else ""
    raise Refused(
        f"{adapter.label} can't list its models{others}",
        hint=f"name one yourself, as --model {adapter.vendor or 'VENDOR'}/MODEL",
        details={"adapterId": adapter.id},
    )


async def other_program(registry: Adapters, adapter_id: str) -> str | None:
    """The executable that an adapter names besides its harness, if it names one.

    Raises Refused when the adapter fails to.
    """
    adapter = await registry.load(adapter_id)
    if adapter.resolve_binary is None:
        return None
    try:
        answer = adapter.resolve_binary()
        return str(answer if isinstance(answer, str) else await answer)
    except Exception as error:
        raise Refused(
            f"the adapter {adapter_id} failed to name its program: {error}",
            hint="this is a fault of the adapter; an update may mend it",
        ) from error
