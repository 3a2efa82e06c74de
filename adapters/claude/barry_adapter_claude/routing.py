"""Where requests go and with what key, so that no settings file can say otherwise.

An endpoint that Barry chose is all or nothing: Claude Code is told that its host routes it, and
then takes nothing about endpoints, keys, helpers, models and proxies from any settings file.
What the environment carries is the user's own: it is held against the files, and only the
folder's files lose their say altogether.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from barry_adapter_claude.declared import LABEL, VENDOR
from barry_adapter_claude.settings import SettingsFiles, Variables
from barry_cli.adapters import PlanDraft, Refused

if TYPE_CHECKING:
    from barry_cli.sessions import Endpoint

BASE_URL = "ANTHROPIC_BASE_URL"
BEARER = "ANTHROPIC_AUTH_TOKEN"
MANAGED = "CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST"

LOGINS = ("ANTHROPIC_API_KEY", BEARER, "CLAUDE_CODE_OAUTH_TOKEN")
"""At most one of them may speak."""

_SECRETS = (
    *LOGINS,
    "ANTHROPIC_*_API_KEY",
    "ANTHROPIC_*_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "AWS_BEARER_TOKEN_BEDROCK",
)
_VENDORS = (
    BASE_URL,
    "ANTHROPIC_*_BASE_URL",
    "ANTHROPIC_UNIX_SOCKET",
    "CLAUDE_CODE_SKIP_*_AUTH",
    "CLAUDE_CODE_USE_*",
    *_SECRETS,
)
_WIRES = (
    "*_PROXY",
    "*_proxy",
    "NODE_EXTRA_CA_CERTS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "SSL_CERT_*",
)


def route(draft: PlanDraft, files: SettingsFiles, held: dict[str, str]) -> None:
    """Settle endpoint and key. What must stand against the settings files goes into ``held``.

    Raises Refused for an endpoint that can't be used safely.
    """
    endpoint = draft.config.endpoint
    if endpoint is not None:
        _to(endpoint, draft)
    else:
        _out_of_a_managed_session(draft)
        _as_carried(draft, files, held)


def _to(endpoint: Endpoint, draft: PlanDraft) -> None:
    key = endpoint.key.get_secret_value() if endpoint.key is not None else ""
    if endpoint.api != VENDOR:
        raise Refused(
            f"{LABEL} does not speak the API {endpoint.api!r} of {endpoint.url}",
            hint=f"it speaks {VENDOR}'s alone",
        )
    if not key:
        raise Refused(
            f"{endpoint.url} comes without a key, and {LABEL} would then send it your own login",
            hint="give the endpoint a key, even a made-up one where it wants none",
        )
    for name, value in draft.config.env.items():
        if value is not None and _any(name, _VENDORS):
            draft.env[name] = None
    draft.env[BASE_URL] = endpoint.url
    # A bearer token is used without the question whether to trust a new key; answering that one
    # with no would send the user's own login instead.
    draft.env[BEARER] = key
    draft.env[MANAGED] = "1"
    draft.secrets.append(key)


def _out_of_a_managed_session(draft: PlanDraft) -> None:
    """A shell below a session that its host routes has the address and not the key."""
    if not draft.inherited(MANAGED):
        return
    draft.env[MANAGED] = None
    if draft.inherited(BASE_URL) and not any(map(draft.inherited, LOGINS)):
        draft.env[BASE_URL] = None
        draft.warn(
            f"{BASE_URL} belongs to the session that this terminal runs in, and its key is not "
            "here: it is left out, or your own login would be sent there"
        )


def _as_carried(draft: PlanDraft, files: SettingsFiles, held: dict[str, str]) -> None:
    carried = {
        name: value
        for name, value in draft.config.env.items()
        if value and draft.env.get(name, value) is not None and routes(name)
    }
    users = files.user_values()
    held.update(carried)
    for found in files.folder:
        for name in filter(routes, found.env):
            held.setdefault(name, users.get(name, ""))
    if BASE_URL in carried and any(name in carried for name in LOGINS):
        # Another login of the user's is not for the address that the environment names.
        held.update({name: "" for name in LOGINS if name in users and name not in carried})
    _tell(draft, files.user, held, "your environment")
    _tell(draft, files.folder, held, "your own settings and environment")


def _tell(draft: PlanDraft, files: list[Variables], held: dict[str, str], keeps: str) -> None:
    for found in files:
        other = sorted(
            name
            for name, value in found.env.items()
            if routes(name) and name in held and held[name] != value
        )
        if other:
            draft.warn(
                f"{found.path} sets {', '.join(other)}, which says where requests go: this "
                f"launch keeps to {keeps}"
            )


def routes(name: str) -> bool:
    """Whether a variable says where requests go, or with what key."""
    return _any(name, _VENDORS) or _any(name, _WIRES)


def is_secret(name: str, value: str) -> bool:
    """Whether a value may stand in no command line; an address with a user name in it is one."""
    return bool(value) and (_any(name, _SECRETS) or "HEADERS" in name or "@" in value)


def _any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
