"""Rulings under what applies in a folder: found once, compiled once for each harness."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from barry_cli.base.ids import nearest
from barry_cli.base.paths import Folders, folders
from barry_cli.base.problems import Refused
from barry_cli.cli.bound_calls import Asked
from barry_cli.cli.bound_facts import applying, folder
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.lookup import Effective
from barry_cli.policy.named import OURS, bag_settings, bag_table
from barry_cli.policy.ruling.command import is_restricted
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.rule import rule, rule_command
from barry_cli.policy.ruling.tool_names import identities
from barry_cli.policy.ruling.tools import row_of
from barry_cli.policy.ruling.verdict import Verdict
from barry_cli.registry.rows import present_row
from barry_cli.registry.store import Row, read_rows

MOST_NAMED = 12
"""Tools that a hint names."""


class NoBound(Refused):
    """Nothing restricts what is asked about, so there is nothing to rule by."""

    code = "no-bound"


class ToolUnknown(Refused):
    """Nothing says what calls of this tool do, and what applies depends on it."""

    code = "tool-unknown"


class Rulings:
    """What applies in a folder, and what it says about calls."""

    def __init__(
        self,
        home: Folders,
        cwd: str,
        bounds: Sequence[str],
        traits: Sequence[str],
        harness: str | None,
    ) -> None:
        self.cwd = cwd
        self._began_ns = time.time_ns()
        self._home = home
        self._rows = read_rows(home)
        self._bounds = bounds
        self._traits = traits
        self._typed = harness
        self._harness = None if harness is None else self._id(harness)
        self._effective: dict[str | None, Effective] = {}
        self._policies: dict[str | None, Policy] = {}
        self._folders: dict[str, str] = {}
        if not self.effective.sources:
            raise NoBound(
                f"no bound applies in {cwd}",
                hint="name one with --bound (`barry bound list` has names), or write "
                ".barry/bound.toml",
                details={"cwd": cwd},
            )

    @classmethod
    def for_folder(
        cls, cwd: str | None, bounds: Sequence[str], traits: Sequence[str], harness: str | None
    ) -> Rulings:
        """Raises NoBound where nothing applies, and what looking for bounds raises."""
        return cls(folders(), folder(cwd), bounds, traits, harness)

    @property
    def effective(self) -> Effective:
        """What applies, under the harness that was asked for."""
        return self._applying(self._harness)

    def rule(self, asked: Asked) -> Verdict:
        """The ruling on one thing."""
        cwd = self.cwd_of(asked)
        if asked.tool is None:
            policy = self._policy(self._harness_of(asked))
            return rule_command(policy, asked.command or "", cwd)
        given = dict(asked.input or {})
        verdicts = [
            rule(self._policy(harness), asked.tool, given, cwd)
            for harness in self._harnesses_of(asked)
        ]
        return next((each for each in verdicts if not each.allowed), verdicts[0])

    def answer(self, asked: Asked) -> Verdict:
        """The ruling on one thing, where it can be told. Raises ToolUnknown.

        A tool that no tool table lists is ruled by its name. Where that allows it, and command
        lines, files or hosts are restricted, nobody knows whether a call of it comes under a rule.
        """
        verdict = self.rule(asked)
        if asked.tool is None or not verdict.allowed:
            return verdict
        for harness in self._harnesses_of(asked):
            policy = self._policy(harness)
            if is_restricted(policy) and not _is_known(policy, asked.tool):
                raise self._unknown(asked.tool, harness)
        if any(namespace == OURS for namespace, _ in identities(asked.tool, "")):
            from barry_cli.policy.guards import guarded_verdict

            policy = self._policy(self._harness_of(asked))
            return guarded_verdict(policy, asked.tool, asked.input, self.cwd_of(asked))
        return verdict

    def _unknown(self, tool: str, harness: str | None) -> ToolUnknown:
        rows = [present_row(self._rows, harness)] if harness is not None else list(self._rows)
        listed = sorted({name for row in rows for name in bag_table(row, "tools")})
        spelt = {name.casefold(): name for name in listed}
        close = nearest(tool.casefold(), spelt)
        has = {str(name).casefold() for row in rows for name in row.get("nativeTools") or ()}
        whose = harness or "no installed harness"
        if tool.casefold() in has:
            what = f"the tool table of {whose} says nothing of its tool {tool}"
        elif harness is not None:
            what = f"{harness} has no tool {tool}"
        else:
            what = f"{whose} has a tool {tool}"
        some = ", ".join(listed[:MOST_NAMED]) + (", ..." if len(listed) > MOST_NAMED else "")
        hint = f"did you mean {spelt[close]}?" if close else f"known: {some or 'none'}."
        return ToolUnknown(
            f"{what}: what its calls do isn't known, and what applies restricts that, so it can't "
            "be ruled on",
            hint=f"{hint} To deny it whatever it does, name it in deniedTools",
            details={"tool": tool, "harness": harness, "known": listed},
        )

    def keep(self, cwd: str | None) -> None:
        """Keep the policy for the next check that asks for the same. ``cwd``: as it was typed."""
        from barry_cli.policy.cache import keep
        from barry_cli.policy.record import Question

        # What traits come to is not among what the door knows.
        if self._traits:
            return
        try:
            asked = Question(tuple(self._bounds), self._typed, cwd, os.getcwd())
        except OSError:  # the folder that the caller stands in is gone
            return
        keep(
            asked,
            self._policy(self._harness),
            cwd=self.cwd,
            looked_at=self.effective.looked_at,
            began_ns=self._began_ns,
        )

    def cwd_of(self, asked: Asked) -> str:
        """The folder that a call runs in: its own, from where what applies was looked up."""
        if asked.cwd is None:
            return self.cwd
        return os.path.join(self.cwd, os.path.expanduser(asked.cwd))

    def command_of(self, asked: Asked) -> str | None:
        """The command line of a call, where that is what it is."""
        if asked.tool is None:
            return asked.command
        for harness in self._harnesses_of(asked):
            row = self._policy(harness).tools.get(asked.tool)
            for name in row[1] if row is not None and row[0] == "shell" else ():
                found = (asked.input or {}).get(name)
                if isinstance(found, str):
                    return found
        return None

    def _harness_of(self, asked: Asked) -> str | None:
        return self._harness if asked.harness is None else self._id(asked.harness)

    def _harnesses_of(self, asked: Asked) -> list[str | None]:
        """Whose call it is; where nobody says, everyone's whose tool has this name and input."""
        one = self._harness_of(asked)
        if one is not None or asked.tool is None:
            return [one]
        named = {
            row["id"]: table[tool]
            for row in self._rows
            for table in (bag_table(row, "tools"),)
            for tool in table
            if tool.casefold() == asked.tool.casefold()
        }
        fitting = [name for name, table in named.items() if _fits(table, asked.input or {})]
        return [*(fitting or named)] or [None]

    def _id(self, harness: str) -> str:
        known: str = present_row(self._rows, harness)["id"]
        return known

    def _applying(self, harness: str | None) -> Effective:
        if harness not in self._effective:
            self._effective[harness] = applying(
                self._home, self._rows, self.cwd, self._bounds, self._traits, harness
            )
        return self._effective[harness]

    def _policy(self, harness: str | None) -> Policy:
        if harness not in self._policies:
            self._policies[harness] = policy_for(
                self._applying(harness), self._home, self._rows, self.cwd, harness
            )
        return self._policies[harness]


def _is_known(policy: Policy, tool: str) -> bool:
    """A tool table lists it, or it is one of those whose name says what it does."""
    if row_of(policy, tool) is not None:
        return True
    from barry_cli.policy.network_tools import NETWORK_TOOL_ACTIONS

    known = {name.casefold() for name in NETWORK_TOOL_ACTIONS}
    return any(namespace == OURS or name in known for namespace, name in identities(tool, ""))


def _fits(row: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether a tool's input has the fields that its row in the table names."""
    field = row.get("field") or ()
    return all(name in given for name in ([field] if isinstance(field, str) else field))


def policy_for(
    effective: Effective, home: Folders, rows: Sequence[Row], cwd: str, harness: str | None
) -> Policy:
    """What applies, compiled for one harness, or for command lines alone."""
    tools = {}
    settings: Sequence[str] = ()
    if harness is not None:
        from barry_cli.bags.manifest import ToolRow

        row = present_row(list(rows), harness)
        settings = bag_settings(row)
        table = bag_table(row, "tools")
        tools = {
            name: ToolRow.model_validate(row, by_alias=True, by_name=False)
            for name, row in table.items()
        }
    return compile_policy(
        effective.bound,
        root=cwd,
        harness=harness or "",
        tools=tools,
        floor=floor_patterns(home, settings),
    )
