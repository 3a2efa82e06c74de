"""The environment of an agent's processes, and the secrets in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from barry_cli.base.secrets import looks_secret
from barry_cli.contract.session import SessionConfig
from barry_cli.headless.faults import AgentFault

_SHORTEST = 8  # a shorter secret may well stand in an argument by chance


def refuse_clashes(*owners: tuple[str, Iterable[str]]) -> None:
    """Raises AgentFault (``configuration``) for a variable that two of them set: neither wins."""
    seen: dict[str, str] = {}
    for owner, names in owners:
        for name in names:
            if name in seen:
                raise AgentFault(
                    "configuration",
                    f"{name} is set by {seen[name]} and by {owner}",
                    hint=f"set {name} in one place",
                )
            seen[name] = owner


def environment(
    base: Mapping[str, str | None], *layers: Mapping[str, str | None]
) -> dict[str, str]:
    """What a process starts with: later layers win, and None takes a name out."""
    merged: dict[str, str | None] = dict(base)
    for layer in layers:
        merged.update(layer)
    return {name: value for name, value in merged.items() if value is not None}


def secrets_of(config: SessionConfig, *layers: Mapping[str, str | None]) -> tuple[str, ...]:
    """Every value that no error and no argument may show.

    Of the session's environment those whose names say so, of the layers all: they were granted.
    """
    found = [value for name, value in config.env.items() if value and looks_secret(name)]
    found += [value for layer in layers for value in layer.values() if value]
    if config.endpoint is not None and config.endpoint.key is not None:
        found.append(config.endpoint.key.get_secret_value())
    return tuple(dict.fromkeys(found))


def refuse_secrets_in(argv: Sequence[str], secrets: Iterable[str], name: str) -> None:
    """Raises AgentFault (``configuration``): everybody on a machine may read its command lines."""
    if any(len(secret) >= _SHORTEST and secret in word for secret in secrets for word in argv):
        raise AgentFault(
            "configuration",
            f"the command for {name} holds a secret among its arguments, where others can read it",
            hint="correct the adapter: a secret goes into the environment or to stdin",
        )
