"""What one turn is asked for (seed 004's AgentInput)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from barry_cli.contract.data import JsonSchema
from barry_cli.contract.session import SessionConfig
from barry_cli.headless.capabilities import PermissionPolicy
from barry_cli.headless.faults import AgentFault

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*\Z")


@dataclass(frozen=True, slots=True)
class Continuation:
    """The conversation that goes on. Its id is safe as an argument: it can't be an option.

    Raises AgentFault (``session``) for an id that no harness gives.
    """

    id: str
    fork: bool = False
    """Go on with a copy, under another id."""

    def __post_init__(self) -> None:
        if len(self.id) > 200 or _ID.match(self.id) is None:
            raise AgentFault(
                "session",
                "conversation_lost: an id of a conversation has letters, digits, '_' and '-' only",
                hint="`barry session list` shows the ids",
            )


@dataclass(frozen=True, kw_only=True)
class AgentInput:
    """One turn. Everything that the session was asked for is in ``config``."""

    text: str
    config: SessionConfig
    continuation: Continuation | None = None
    live: bool = False
    """stdin carries the dialogue and stays open; else the command says what stdin holds."""
    output_schema: JsonSchema | None = None
    policy: PermissionPolicy = field(default_factory=PermissionPolicy)
    """Its lists are in ``allowed_tools`` and ``denied_tools`` already."""
    home: str | None = None
    """The session's private folder with what ``configuration`` and ``credentials`` planned; None
    when they planned no file. It is gone after the session."""

    @property
    def cwd(self) -> str:
        """The folder that the agent works in, as the harness sees it."""
        return self.config.cwd

    @property
    def model(self) -> str | None:
        """The model asked for, ``vendor/model``."""
        return self.config.model

    @property
    def system_prompt(self) -> str | None:
        """Added to the harness's own, never in its place. Given on every turn."""
        return self.config.system_prompt

    @property
    def options(self) -> Any:
        """Harness-specific settings, valid against ``Adapter.options``."""
        return self.config.options

    @property
    def denied_tools(self) -> tuple[str, ...]:
        """Every denial, the session's and the policy's."""
        return tuple(dict.fromkeys([*(self.config.denied_tools or ()), *self.policy.denied_tools]))

    @property
    def allowed_tools(self) -> tuple[str, ...] | None:
        """What both allow, less what is denied; None when neither names any.

        Never hand this on without ``denied_tools``: an allowance alone widens a policy.
        """
        lists = [
            tuple(each)
            for each in (self.config.allowed_native_tools, self.policy.allowed_tools)
            if each is not None
        ]
        if not lists:
            return None
        denied = {tool.casefold() for tool in self.denied_tools}
        kept = [{tool.casefold() for tool in each} for each in lists]
        return tuple(
            dict.fromkeys(
                tool
                for tool in lists[0]
                if tool.casefold() not in denied and all(tool.casefold() in each for each in kept)
            )
        )
