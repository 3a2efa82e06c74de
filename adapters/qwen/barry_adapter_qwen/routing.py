"""Where requests go and with what key, so that no settings file can say otherwise.

Qwen Code takes address and key of a model first from its settings' ``modelProviders``, then from
the environment, then from ``security.auth``. A ``.env`` file, and ``env`` in the settings, count
only where the environment has no variable of that name, not even an empty one.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from barry_adapter_qwen.declared import APIS, LABEL, LOGINS, VENDORS, LaunchRefused
from barry_adapter_qwen.settings import Settings, of_folder, of_user, variables_of_folder
from barry_adapter_qwen.system import merged
from barry_cli.adapters import PlanDraft

if TYPE_CHECKING:
    from barry_cli.sessions import Endpoint

KEY = "BARRY_QWEN_KEY"
"""Carries an endpoint's key: a name of our own, which no settings of the user's refer to."""

# The address that a login takes from the environment.
_BASE_URLS = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}

# Some of them by having it run code of the folder's.
_ROUTES = (
    "*_BASE_URL",
    "BARRY_*",
    "GOOGLE_CLOUD_UNIVERSE_DOMAIN",
    "GOOGLE_GENAI_*",
    "DYLD_*",
    "LD_*",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "QWEN_CODE_SYSTEM_*",
    "SSL_CERT_*",
    "*_PROXY",
    "*_proxy",
)


def route(draft: PlanDraft) -> dict[str, Any]:
    """Settle model, endpoint and key; gives the system settings that this needs.

    Raises LaunchRefused for what Qwen Code can't be given safely.
    """
    config = draft.config
    folder, user = of_folder(config.cwd, config.env), of_user(config.env)
    _pin(draft, user)
    own = _without_proxy(draft, folder, user)
    endpoint = config.endpoint
    if endpoint is not None:
        return merged(own, _to(endpoint, draft))
    _model(draft)
    return merged(own, _as_carried(draft, folder, user))


def _to(endpoint: Endpoint, draft: PlanDraft) -> dict[str, Any]:
    key = endpoint.key.get_secret_value() if endpoint.key is not None else ""
    login = APIS.get(endpoint.api)
    model = draft.config.model
    if login is None:
        raise LaunchRefused(
            f"{LABEL} does not speak the API {endpoint.api!r} of {endpoint.url}",
            hint=f"it speaks {', '.join(APIS)}",
        )
    if not key:
        raise LaunchRefused(
            f"{endpoint.url} comes without a key, and {LABEL} would then send it a key of yours",
            hint="give the endpoint a key, even a made-up one where it wants none",
        )
    if model is None:
        raise LaunchRefused(
            f"{LABEL} can be pointed at {endpoint.url} only together with a model",
            hint="name one with --model VENDOR/MODEL",
        )
    names = [_split(model)[1]]
    small = draft.config.small_model
    if small is not None and _split(small)[1] not in names:
        names.append(_split(small)[1])
    draft.args += [f"--auth-type={login}", f"--model={names[0]}"]
    draft.env[KEY] = key
    draft.secrets.append(key)
    served = [{"id": name, "name": name, "baseUrl": endpoint.url, "envKey": KEY} for name in names]
    return {
        # An empty list takes the place of the user's and the folder's; a missing one would not.
        "modelProviders": {**{each: [] for each in LOGINS}, login: served},
        "security": {"auth": {"selectedType": login, "baseUrl": "", "apiKey": ""}},
        **({"fastModel": names[-1]} if small is not None else {}),
    }


def _model(draft: PlanDraft) -> None:
    if draft.config.model is None:
        return
    vendor, name = _split(draft.config.model)
    if vendor in VENDORS:
        draft.args.append(f"--auth-type={VENDORS[vendor]}")
    draft.args.append(f"--model={name}")


def _as_carried(draft: PlanDraft, folder: Settings, user: Settings) -> dict[str, Any]:
    """What keeps to the user's own settings, and where the environment speaks, to that."""
    own: dict[str, Any] = {}
    small = draft.config.small_model
    if small is not None:
        own["fastModel"] = _split(small)[1]
        draft.warn(f"{LABEL} uses {small} only if its own settings list that model")
    served = user.table("modelProviders")
    shut = [
        login for login, name in _BASE_URLS.items() if draft.inherited(name) and served.get(login)
    ]
    for login in shut:
        draft.warn(
            f"{user.path} lists addresses of its own under modelProviders.{login}: this launch "
            f"keeps to {_BASE_URLS[login]} of your environment"
        )
    if folder.at("modelProviders"):
        _tell(draft, folder, "modelProviders")
    if shut or folder.at("modelProviders"):
        kept = {login: [] if login in shut else served.get(login) or [] for login in LOGINS}
        own["modelProviders"] = kept
    mine = {**_login_carried(draft), **user.table("security", "auth")}
    auth = {
        name: mine.get(name, "")
        for name in ("baseUrl", "selectedType")
        if name in folder.table("security", "auth") and (name == "baseUrl" or name in mine)
    }
    if auth:
        own["security"] = {"auth": auth}
        _tell(draft, folder, ", ".join(f"security.auth.{name}" for name in auth))
    return own


def _login_carried(draft: PlanDraft) -> dict[str, str]:
    """The login for which the environment names an address."""
    for login, name in _BASE_URLS.items():
        if draft.inherited(name):
            return {"selectedType": login}
    return {}


def _without_proxy(draft: PlanDraft, folder: Settings, user: Settings) -> dict[str, Any]:
    if not folder.at("proxy"):
        return {}
    _tell(draft, folder, "proxy")
    return {"proxy": user.at("proxy") or ""}


def _pin(draft: PlanDraft, user: Settings) -> None:
    """Leave the folder's variables no say in where requests go."""
    config = draft.config
    mine = user.table("env")
    found = {
        name: path
        for name, path in variables_of_folder(config.cwd, config.env).items()
        if any(fnmatchcase(name, pattern) for pattern in _ROUTES)
    }
    for name in found:
        if config.env.get(name) is None:
            value = mine.get(name)
            draft.env[name] = value if isinstance(value, str) else ""
    for path in sorted(set(found.values())):
        names = ", ".join(sorted(name for name, where in found.items() if where == path))
        draft.warn(
            f"{path} sets {names}, which says where requests go: this launch keeps to your own "
            "settings and environment"
        )


def _tell(draft: PlanDraft, folder: Settings, what: str) -> None:
    draft.warn(
        f"{folder.path} sets {what}, which says where requests go: this launch keeps to your own "
        "settings and environment"
    )


def _split(model: str) -> tuple[str, str]:
    vendor, _, name = model.partition("/")
    if not (vendor and name):
        raise LaunchRefused(
            f"a model is written vendor/model, and {model!r} is not",
            hint="name one as VENDOR/MODEL, for instance qwen/qwen3-coder-plus",
        )
    return vendor, name
