"""What a doctor says about one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do about it unless it is well."""

    group: str
    """The machine, or an adapter's id."""
    name: str
    status: Literal["ok", "warn", "broken"]
    """``broken``: a launch can't succeed; ``warn``: it can, with less than it could have."""
    text: str
    fix: str | None = None
    """Present unless the status is ok."""


@dataclass(frozen=True, slots=True)
class Group:
    """Makes the findings of one group."""

    name: str

    def ok(self, name: str, text: str) -> Finding:
        return Finding(self.name, name, "ok", text)

    def warn(self, name: str, text: str, fix: str) -> Finding:
        return Finding(self.name, name, "warn", text, fix)

    def broken(self, name: str, text: str, fix: str) -> Finding:
        return Finding(self.name, name, "broken", text, fix)
