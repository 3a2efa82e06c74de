"""The models that a harness can be asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from barry_cli.base.problems import BarryError, Refused
from barry_cli.groundwork.surroundings import as_found

if TYPE_CHECKING:
    from barry_cli.contract.adapter import Adapter
    from barry_cli.registry.adapters import Adapters

LIST_SECONDS = 60.0
"""How long a harness may take to say which models an account can use."""


async def usable_models(
    adapter_id: str, registry: Adapters, base_env: Mapping[str, str]
) -> list[str]:
    """``vendor/model`` names: what the account can use where the harness says, else what it offers,
    else what its vendor's row lists.

    Raises Refused when nobody can say, or the harness fails to.
    """
    with as_found():
        adapter = await registry.load(registry.resolve(adapter_id))
    if adapter.list_models is not None:
        return await _told_by_the_harness(adapter, adapter.list_models, base_env)
    if adapter.offered_models is not None:
        return [model.id for model in adapter.offered_models]
    rows = [vendor for vendor in registry.vendor_rows() if vendor.id == adapter.vendor]
    found = [
        f"{vendor.id}/{model.id.removeprefix(f'{vendor.id}/')}"
        for vendor in rows
        for model in vendor.models
    ]
    if found:
        return found
    lists = f", and no installed adapter lists {adapter.vendor}'s" if adapter.vendor else ""
    raise Refused(
        f"{adapter.label} can't list its models{lists}",
        hint=f"name one yourself, as --model {adapter.vendor or 'VENDOR'}/MODEL",
        details={"adapterId": adapter.id},
    )


async def _told_by_the_harness(
    adapter: Adapter,
    list_models: Callable[[Mapping[str, str]], Awaitable[list[str]]],
    base_env: Mapping[str, str],
) -> list[str]:
    import asyncio

    from barry_cli.base.secrets import looks_secret, redact
    from barry_cli.groundwork.environment import cut

    env = cut(base_env, also=adapter.requirements.environment).values
    try:
        with as_found():
            async with asyncio.timeout(LIST_SECONDS):
                names = list(await list_models(env))
        if not all(isinstance(name, str) for name in names):
            raise TypeError("it gave something else than names")
        return names
    except BarryError:
        raise
    except TimeoutError:
        problem = f"no answer in {LIST_SECONDS:g} s"
    except (Exception, SystemExit) as error:
        hidden = [value for name, value in env.items() if looks_secret(name)]
        problem = redact(str(error) or type(error).__name__, hidden)
    raise Refused(
        f"{adapter.label} could not list its models: {problem}",
        hint=f"`barry adapter doctor {adapter.id}` looks closer",
        details={"adapterId": adapter.id},
    )


async def other_program(registry: Adapters, adapter_id: str) -> str | None:
    """The executable that an adapter names besides its harness, if it names one.

    Raises Refused when the adapter fails to.
    """
    with as_found():
        adapter = await registry.load(adapter_id)
    if adapter.resolve_binary is None:
        return None
    try:
        with as_found():
            answer = adapter.resolve_binary()
            return str(answer if isinstance(answer, str) else await answer)
    except (Exception, SystemExit) as error:
        raise Refused(
            f"the adapter {adapter_id} failed to name its program: {error}",
            hint="this is a fault of the adapter; an update may mend it",
        ) from error
