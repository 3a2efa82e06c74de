"""What a driven harness is told when it asks: the one ruling, under the bound in force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.ruling.rule import rule
from barry_cli.turns.permissions import refuse_denied_tools

if TYPE_CHECKING:
    from barry_cli.base.paths import Folders
    from barry_cli.policy.schema import Bound
    from barry_cli.registry.records import InstalledAdapter

OnRuling = Callable[[PermissionRequest, "Allowed | Denied", str], None]
"""(call, decision, the sentence for a person; empty when it was allowed)."""


class Ruler:
    """Rules on the calls of one session, and tells who watches."""

    def __init__(
        self,
        bound: Bound | None,
        record: InstalledAdapter,
        cwd: str,
        folders: Folders,
        *,
        denied: Sequence[str] = (),
    ) -> None:
        """``denied``: tools that are off. Even without a bound Barry's own files are kept."""
        manifest = record.bag.manifest if record.bag is not None else None
        self._policy = compile_policy(
            bound,
            root=cwd,
            harness=record.id,
            tools=manifest.tools if manifest is not None else {},
            floor=floor_patterns(folders, manifest.settings if manifest is not None else ()),
        )
        self._by_name = refuse_denied_tools(tuple(denied))
        self._cwd = cwd
        self.watch: OnRuling | None = None

    async def __call__(self, request: PermissionRequest) -> Allowed | Denied:
        """The decision on one call: the agent's sentence is the reason of a denial."""
        decision = await self._by_name(request)
        sentence = decision.reason or "" if isinstance(decision, Denied) else ""
        if isinstance(decision, Allowed):
            given = request.input if isinstance(request.input, dict) else {"input": request.input}
            verdict = rule(self._policy, request.tool, given, self._cwd)
            if not verdict.allowed:
                decision, sentence = Denied(reason=verdict.agent), verdict.human
        if self.watch is not None:
            self.watch(request, decision, sentence)
        return decision
