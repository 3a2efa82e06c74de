"""Which tools perform which network actions, by their bare names.

Barry's own, git's, and the URL tools that the tool tables of the shipped adapters list: those
tables are read here, so that no harness is named in this code.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from typing import Any

from barry_cli.base.problems import StoreProblem

_OWN: dict[str, tuple[str, ...]] = {
    # Two tools have this name: Barry's guarded one, which reads a URL, and git's.
    "fetch": ("git:fetch", "http:read"),
    "clone": ("git:fetch",),
    "pull": ("git:fetch",),
    "push": ("git:push",),
}

_OWN_URLS = {"clone": "url", "fetch": "url"}

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _tables() -> Iterator[dict[str, Any]]:
    """The tool tables of the shipped adapters, as their files hold them."""
    for folder in _bag_folders():
        path = os.path.join(folder, "bag.toml")
        if not os.path.isfile(path):
            continue
        try:
            with open(path, "rb") as file:
                yield tomllib.load(file).get("tools", {})
        except (OSError, ValueError) as error:
            # Without the table a denied action would leave its tools.
            raise StoreProblem(
                f"the tool table {path} can't be read: {error}", hint="install Barry again"
            ) from None


def _bag_folders() -> list[str]:
    # In a wheel the adapters are files inside this package, in a source tree they stand beside it.
    for root in (os.path.join(_HERE, "_shipped"), os.path.join(os.path.dirname(_HERE), "adapters")):
        if os.path.isfile(os.path.join(root, "demo", "pyproject.toml")):
            return sorted(
                os.path.join(root, adapter, package)
                for adapter in os.listdir(root)
                if os.path.isdir(os.path.join(root, adapter))
                for package in os.listdir(os.path.join(root, adapter))
            )
    return []


def _collect() -> tuple[dict[str, list[str]], dict[str, str]]:
    actions = {tool: list(tags) for tool, tags in _OWN.items()}
    urls = dict(_OWN_URLS)
    for table in _tables():
        for tool, row in table.items():
            if not isinstance(row, dict) or row.get("kind") != "url":
                continue
            tags = actions.setdefault(tool, [])
            tags += [tag for tag in ("http:read",) if tag not in tags]
            if isinstance(row.get("field"), str):
                urls.setdefault(tool, row["field"])
    return actions, urls


_ACTIONS, _URLS = _collect()

NETWORK_TOOL_ACTIONS: dict[str, list[str]] = _ACTIONS
"""Tool -> the network actions that it performs."""

NETWORK_TOOL_URL_PARAMS: dict[str, str] = _URLS
"""Tool -> its parameter that holds the URL which rules on hosts apply to."""
