"""Where requests go and with what key, so that no settings file can say otherwise.

Gemini CLI takes a variable from a ``.env`` file only where the environment has none of that name,
not even an empty one. Its settings name the kind of login, and can send a model's requests to
another address altogether.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from barry_adapter_gemini.declared import APIS, LABEL, LaunchRefused
from barry_adapter_gemini.settings import (
    Settings,
    has_key,
    of_user,
    variables_of_folder,
)
from barry_cli.adapters import PlanDraft

if TYPE_CHECKING:
    from barry_cli.sessions import Endpoint

BASE_URL = "GOOGLE_GEMINI_BASE_URL"
KEY = "GEMINI_API_KEY"
BY_KEY = "gemini-api-key"

# Some of them by having it run code of the folder's.
_ROUTES = (
    "*_BASE_URL",
    "GEMINI_API_KEY_AUTH_MECHANISM",
    "GEMINI_CLI_CUSTOM_HEADERS",
    "GEMINI_CLI_HOME",
    "GEMINI_CLI_SYSTEM_*",
    "GOOGLE_CLOUD_UNIVERSE_DOMAIN",
    "GOOGLE_GENAI_*",
    "DYLD_*",
    "LD_*",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "SSL_CERT_*",
    "*_PROXY",
    "*_proxy",
)

# Of the user's own variables, these would still speak beside an endpoint's.
_BESIDE = (
    "GEMINI_API_KEY_AUTH_MECHANISM",
    "GEMINI_CLI_CUSTOM_HEADERS",
    "GOOGLE_GENAI_*",
    "GOOGLE_VERTEX_BASE_URL",
)


def route(draft: PlanDraft, folder: Settings) -> dict[str, Any]:
    """Settle endpoint and key; gives the system settings that this needs.

    ``folder``: the settings of the folder that count.

    Raises LaunchRefused for an endpoint that can't be used safely, and for a folder whose
    settings would send the user's key elsewhere.
    """
    config = draft.config
    user = of_user(config.env)
    endpoint = config.endpoint
    routed = endpoint is not None or bool(draft.inherited(BASE_URL))
    _refuse_addresses(folder, "your key")
    if routed:
        _refuse_addresses(user, "requests")
    if endpoint is not None:
        _to(endpoint, draft)
    _pin(draft)
    return _login(draft, folder, user) if routed else {}


def needs_login(
    draft: PlanDraft, own: dict[str, Any], folder: Settings, *, arranged: bool, asks: bool = True
) -> None:
    """Refuse a routed launch that the settings would lead elsewhere; warn where a person decides.

    ``asks``: where nobody has chosen a kind of login, it asks for one.

    Raises LaunchRefused.
    """
    wanted = own.get("security")
    if wanted is None or arranged:
        return
    config = draft.config
    chosen = [
        found
        for found in (folder, of_user(config.env))
        if found.at("security", "auth", "selectedType") is not None
    ]
    if not chosen:
        if not asks:
            return
        draft.warn(
            f'{LABEL} will ask how to log in: with "Use Gemini API Key" it keeps to the endpoint '
            "and key of this launch"
        )
        return
    kind = chosen[0].at("security", "auth", "selectedType")
    raise LaunchRefused(
        f"{chosen[0].path} makes {LABEL} log in by {kind}, and then it would not keep to the "
        "endpoint and key of this launch",
        hint=f"set security.auth.selectedType to {BY_KEY} there, or leave it out",
    )


def _to(endpoint: Endpoint, draft: PlanDraft) -> None:
    key = endpoint.key.get_secret_value() if endpoint.key is not None else ""
    if endpoint.api not in APIS:
        raise LaunchRefused(
            f"{LABEL} does not speak the API {endpoint.api!r} of {endpoint.url}",
            hint=f"it speaks {APIS[0]}'s alone",
        )
    if not key:
        raise LaunchRefused(
            f"{endpoint.url} comes without a key, and {LABEL} would then send it a key of yours",
            hint="give the endpoint a key, even a made-up one where it wants none",
        )
    for name, value in draft.config.env.items():
        if value and _any(name, _BESIDE):
            draft.env[name] = ""
    draft.env[BASE_URL] = endpoint.url
    draft.env[KEY] = key
    draft.secrets.append(key)


def _pin(draft: PlanDraft) -> None:
    """Leave the folder's ``.env`` no say in where requests go."""
    found = variables_of_folder(draft.config.cwd, draft.config.env)
    if found is None:
        return
    path, names = found
    carried = {**draft.config.env, **draft.env}
    named = sorted(name for name in names if _any(name, _ROUTES))
    for name in named:
        if carried.get(name) is None:
            draft.env[name] = ""
    if named:
        draft.warn(
            f"{path} sets {', '.join(named)}, which says where requests go: this launch keeps to "
            "your own environment"
        )


def _login(draft: PlanDraft, folder: Settings, user: Settings) -> dict[str, Any]:
    """The kind of login that a routed launch needs, where the settings choose another."""
    others = folder.at("security", "auth", "selectedType")
    own = user.at("security", "auth", "selectedType")
    wanted = {"security": {"auth": {"selectedType": BY_KEY}}}
    if draft.config.endpoint is not None:
        return {} if (others or own) == BY_KEY else wanted
    if own not in (None, BY_KEY):
        draft.warn(
            f"{user.path} makes {LABEL} log in by {own}: {BASE_URL} of your environment is then "
            "not used"
        )
        return {}
    return {} if others in (None, BY_KEY) else wanted


def _refuse_addresses(settings: Settings, what: str) -> None:
    if has_key(settings.at("modelConfigs"), "httpOptions"):
        raise LaunchRefused(
            f"{settings.path} has httpOptions under modelConfigs, which can send {what} to "
            "another address than this launch's",
            hint="take httpOptions out of it, or move the file aside",
        )


def _any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
