"""The one problem that planning ends with."""

from __future__ import annotations

from barry_cli.adapters import BarryError


class LaunchRefused(BarryError):
    """A launch that Codex would not carry out as asked; refused before anything ran."""

    code = "refused"
    exit_code = 2
