"""The secrets that a session was granted, and no others (seed 004's Variables)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import SecretStr

from barry_cli.headless.faults import AgentFault


@dataclass(frozen=True, kw_only=True)
class Grant:
    """One secret for one variable. Its value is given, in the keyring, or in the environment."""

    variable: str
    value: SecretStr | None = None
    keyring: tuple[str, str] | None = None
    """(service, user) in the system's keyring."""
    expires_at: datetime | None = None
    """With an offset."""
    rejected: bool = False
    """Withdrawn, ambiguous or refused by whoever keeps it."""


class Variables(Mapping[str, str]):
    """Variables by name, each read when it is asked for.

    Without any grant they are the host's environment. With one or more they are the granted names
    alone, and a grant that was rejected or has expired is an error: the host's value never takes
    its place. The values are in no text that this object makes of itself.
    """

    def __init__(self, host: Mapping[str, str | None], grants: Sequence[Grant] = ()) -> None:
        self._host = {name: value for name, value in host.items() if value}
        self._grants: dict[str, Grant] = {}
        for grant in grants:
            if grant.variable in self._grants:
                raise AgentFault(
                    "configuration",
                    f"{grant.variable} is granted twice",
                    hint="keep one of the two grants",
                )
            self._grants[grant.variable] = grant

    def __getitem__(self, name: str) -> str:
        """Raises AgentFault (``configuration``), which is a KeyError too, when there is none."""
        if not self._grants:
            value = self._host.get(name)
            return value if value is not None else _missing(name, "is not set")
        grant = self._grants.get(name)
        if grant is None:
            return _missing(name, "is not among what this session was granted")
        if grant.rejected:
            raise _unusable(name, "was rejected")
        if grant.expires_at is not None and grant.expires_at <= datetime.now(UTC):
            raise _unusable(name, "has expired")
        if grant.value is not None:
            return grant.value.get_secret_value() or _missing(name, "is empty")
        if grant.keyring is not None:
            return _from_keyring(name, *grant.keyring)
        value = self._host.get(name)
        return value if value is not None else _missing(name, "is not set")

    def __iter__(self) -> Iterator[str]:
        return iter(self._grants or self._host)

    def __len__(self) -> int:
        return len(self._grants or self._host)

    def __repr__(self) -> str:
        return f"Variables({', '.join(sorted(self))})"


class MissingVariable(AgentFault, KeyError):
    """A KeyError as well, so that ``get`` and ``in`` work as everywhere."""

    __str__ = AgentFault.__str__


def _missing(name: str, why: str) -> str:
    raise MissingVariable(
        "configuration", f"the agent needs {name}, and it {why}", hint=f"set {name}, or grant it"
    )


def _unusable(name: str, why: str) -> AgentFault:
    return AgentFault(
        "configuration",
        f"the grant of {name} {why}; the value of this machine's environment is not used instead",
        hint="renew the grant, or take it away to use this machine's own",
    )


def _from_keyring(name: str, service: str, user: str) -> str:
    try:
        import keyring
    except ImportError:
        raise AgentFault(
            "configuration",
            f"{name} is kept in the system's keyring, and the package keyring is not installed",
            hint="pip install 'barry-cli[keyring]', or grant the value in another way",
        ) from None
    try:
        value = keyring.get_password(service, user)
    except Exception as error:  # every backend has errors of its own
        raise _unusable(name, f"can't be read from the keyring ({type(error).__name__})") from None
    return value or _missing(name, f"is not in the keyring (service {service}, user {user})")
