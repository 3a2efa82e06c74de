"""Pointing opencode at an endpoint, out of reach of the user's and the project's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from barry_adapter_opencode.settings import for_variable, plain, variable
from barry_cli.adapters import BarryError, PlanDraft
from barry_cli.sessions import split_model

if TYPE_CHECKING:
    from barry_cli.sessions import Endpoint

PROVIDER = "barry"

# Barry's name of an API -> the client that opencode carries for it, and what that client expects
# at the end of the address.
_APIS = {
    "anthropic": ("@ai-sdk/anthropic", "/v1"),
    "openai": ("@ai-sdk/openai-compatible", ""),
    "openai-chat": ("@ai-sdk/openai-compatible", ""),
    "openai-responses": ("@ai-sdk/openai", ""),
    "gemini": ("@ai-sdk/google", "/v1beta"),
    "google": ("@ai-sdk/google", "/v1beta"),
}

# Variables by which people route a vendor's requests: vendor, address, key, end of the address.
_ROUTED = (
    ("anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "/v1"),
    ("openai", "OPENAI_BASE_URL", "OPENAI_API_KEY", ""),
    ("google", "GOOGLE_GENERATIVE_AI_BASE_URL", "GOOGLE_GENERATIVE_AI_API_KEY", "/v1beta"),
)


def route(
    draft: PlanDraft, endpoint: Endpoint, model: str | None, small: str | None
) -> dict[str, Any]:
    """Settings that send this model's requests, and the key, to the endpoint.

    The provider is one of our own: a vendor's would take the user's login first. Raises
    BarryError for what opencode can't be given.
    """
    if model is None:
        raise BarryError(
            f"opencode can be pointed at {endpoint.url} only together with a model",
            hint="name one with --model VENDOR/MODEL",
        )
    if endpoint.api not in _APIS:
        raise BarryError(
            f"opencode does not speak the API {endpoint.api!r} of {endpoint.url}",
            hint=f"it speaks {', '.join(_APIS)}",
        )
    package, tail = _APIS[endpoint.api]
    address = _address(endpoint.url, tail)
    vendor, name = split_model(model)
    names = [name]
    small_model = f"{PROVIDER}/{name}"
    if small is not None:
        small_vendor, small_name = split_model(small)
        if small_vendor == vendor:
            names.append(small_name)
            small_model = f"{PROVIDER}/{small_name}"
        else:
            small_model = small
    key = endpoint.key.get_secret_value() if endpoint.key is not None else ""
    if key:
        draft.secrets.append(key)
    # The clients refuse to start without any key; an endpoint that wants none ignores this one.
    draft.env["BARRY_OPENCODE_KEY"] = for_variable(key or "none")
    limits = _limits(draft)
    models = {
        plain(each): {
            "name": plain(each),
            "tool_call": True,
            "provider": {"npm": package, "api": plain(address)},
            **limits,
        }
        for each in names
    }
    draft.args += ["--model", f"{PROVIDER}/{name}"]
    return {
        "model": plain(f"{PROVIDER}/{name}"),
        "small_model": plain(small_model),
        "provider": {
            PROVIDER: {
                "npm": package,
                "name": "Barry",
                "options": {
                    "baseURL": plain(address),
                    "apiKey": variable("BARRY_OPENCODE_KEY"),
                },
                "models": models,
            }
        },
    }


def inherited_routes(draft: PlanDraft) -> dict[str, Any]:
    """Settings that repeat the addresses and keys of the launch's own environment, which the
    settings of a project could else replace.
    """
    providers: dict[str, Any] = {}
    for vendor, address_name, key_name, tail in _ROUTED:
        address = draft.inherited(address_name)
        if address is None:
            continue
        options = {"baseURL": plain(_address(address, tail))}
        key = draft.inherited(key_name)
        if key is not None:
            copy = f"BARRY_OPENCODE_{vendor.upper()}_KEY"
            draft.env[copy] = for_variable(key)
            draft.secrets.append(key)
            options["apiKey"] = variable(copy)
        providers[vendor] = {"options": options}
    return {"provider": providers} if providers else {}


def _limits(draft: PlanDraft) -> dict[str, Any]:
    """What the user says of a model that opencode doesn't know; else it never compacts."""
    options = draft.config.options or {}
    context, output = options.get("contextWindow"), options.get("outputLimit")
    if context is None and output is None:
        return {}
    return {"limit": {"context": context or 0, "output": output or 0}}


def _address(url: str, tail: str) -> str:
    address = url.rstrip("/")
    return address if address.endswith(tail) else address + tail
