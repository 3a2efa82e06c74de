"""Pointing pi at an endpoint: a provider of our own, so that nobody's settings speak for it.

A vendor's provider would not do: pi takes a key from the user's ``auth.json`` first, and the
user's ``models.json`` can move its address.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from barry_cli.adapters import BarryError, PlanDraft
from barry_cli.sessions import split_model

if TYPE_CHECKING:
    from barry_cli.sessions import Endpoint

PROVIDER = "barry"
EXTENSION = Path(__file__).parent / "route.js"

# Barry's name of an API -> pi's, and what pi expects after the base address.
_APIS = {
    "anthropic": ("anthropic-messages", ""),
    "openai": ("openai-completions", ""),
    "openai-chat": ("openai-completions", ""),
    "openai-responses": ("openai-responses", ""),
    "gemini": ("google-generative-ai", "/v1beta"),
    "google": ("google-generative-ai", "/v1beta"),
}


def route(draft: PlanDraft, endpoint: Endpoint, model: str | None) -> None:
    """Have pi send this model's requests, and the key, to the endpoint and nowhere else.

    Raises BarryError for what pi can't be given.
    """
    if model is None:
        raise BarryError(
            f"pi can be pointed at {endpoint.url} only together with a model",
            hint="name one with --model VENDOR/MODEL",
        )
    if endpoint.api not in _APIS:
        raise BarryError(
            f"pi does not speak the API {endpoint.api!r} of {endpoint.url}",
            hint=f"it speaks {', '.join(_APIS)}",
        )
    key = endpoint.key.get_secret_value() if endpoint.key is not None else ""
    if key.startswith("!"):
        raise BarryError(
            f"the key for {endpoint.url} begins with '!', which pi reads as a command to run",
            hint="give the endpoint another key",
        )
    _, name = split_model(model)
    api, tail = _APIS[endpoint.api]
    address = endpoint.url.rstrip("/")
    provider = {
        "name": PROVIDER,
        "baseUrl": address if address.endswith(tail) else address + tail,
        "api": api,
        "apiKey": "BARRY_PI_KEY",
        "models": [
            {
                "id": name,
                "name": name,
                "reasoning": False,
                "input": ["text", "image"],
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
                "contextWindow": 128_000,
                "maxTokens": 16_384,
            }
        ],
    }
    draft.env["BARRY_PI_ROUTE"] = json.dumps(provider)
    # pi refuses a provider without any key; an endpoint that wants none ignores this one.
    draft.env["BARRY_PI_KEY"] = key or "none"
    if key:
        draft.secrets.append(key)
    draft.args += ["--extension", str(EXTENSION), "--provider", PROVIDER, "--model", name]
