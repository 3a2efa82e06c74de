"""The list of models, in the shape that each kind of client expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from barry_cli.verify.models.shapes import Json


def catalogue(names: Sequence[str], path: str, headers: Mapping[str, str]) -> Json:
    """The models, or the one that the path names. `headers` has lower-case names."""
    path = path.partition("?")[0].rstrip("/")
    one = path.rpartition("/models/")[2] if "/models/" in path else ""
    wanted = (one,) if one else names
    if "/v1beta" in path:
        entries: list[Json] = [
            {
                "name": f"models/{name}",
                "displayName": name,
                "inputTokenLimit": 200_000,
                "outputTokenLimit": 32_000,
                "supportedGenerationMethods": ["generateContent", "countTokens"],
            }
            for name in wanted
        ]
        return entries[0] if one else {"models": entries}
    if "anthropic-version" in headers:
        entries = [
            {
                "type": "model",
                "id": name,
                "display_name": name,
                "created_at": "2026-01-01T00:00:00Z",
            }
            for name in wanted
        ]
        ends = {"first_id": wanted[0], "last_id": wanted[-1]} if wanted else {}
        return entries[0] if one else {"data": entries, "has_more": False, **ends}
    entries = [
        {"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "script"}
        for name in wanted
    ]
    return entries[0] if one else {"object": "list", "data": entries}
