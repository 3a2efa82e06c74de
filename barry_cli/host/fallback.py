"""The next harness, when one is out of quota or out of order: the same prompt, the same folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from barry_cli.base.paths import Folders
from barry_cli.base.problems import BarryError, UsageProblem
from barry_cli.host.prepare import PreparedRun, prepare
from barry_cli.host.request import RunRequest
from barry_cli.host.run import RunEnd, run
from barry_cli.host.watcher import Watcher

if TYPE_CHECKING:
    from barry_cli.contract.talk import Reporter
    from barry_cli.registry.adapters import Adapters


@dataclass(frozen=True)
class Chain:
    """What is tried, in this order; every one was found fit before the first began."""

    runs: tuple[PreparedRun, ...]

    @classmethod
    async def prepare(
        cls,
        request: RunRequest,
        folders: Folders,
        registry: Adapters,
        base_env: Mapping[str, str],
    ) -> Chain:
        """Prepare the harness asked for and those that may take its place.

        Raises what ``prepare`` raises for any of them; then nothing was started.
        """
        goes_on = request.start.resume is not None
        if request.fallback and goes_on:
            raise UsageProblem(
                "another harness can't go on with a conversation of this one",
                hint="leave out --fallback, or start a new session",
            )
        runs = [await prepare(request, folders, registry, base_env)]
        for adapter_id in request.fallback:
            # Models and settings are a harness's own.
            start = replace(request.start, adapter=adapter_id, model=None, options={})
            try:
                runs.append(
                    await prepare(replace(request, start=start), folders, registry, base_env)
                )
            except BarryError as problem:
                problem.details = {**problem.details, "fallback": adapter_id}
                raise
        ids = [each.adapter.id for each in runs]
        for number, adapter_id in enumerate(ids):
            if adapter_id in ids[:number]:
                raise UsageProblem(
                    f"{adapter_id} stands twice in what is to be tried",
                    hint="name each harness once",
                )
        return cls(tuple(runs))

    async def run(self, folders: Folders, watcher: Watcher, reporter: Reporter) -> RunEnd:
        """Run the first, and the next where one is out; the end of the last that was tried."""
        ends: list[RunEnd] = []
        for number, prepared in enumerate(self.runs):
            end = await run(prepared, folders, watcher)
            ends.append(end)
            if not end.is_out:
                return end
            if number + 1 < len(self.runs):
                following = self.runs[number + 1].adapter.label
                reporter.warn(f"{prepared.adapter.label}: {end.error}")
                reporter.note(f"the same is asked of {following}")
        resets = [end.reset_at for end in ends]
        if len(ends) > 1 and all(resets):
            return replace(ends[-1], reset_at=min(each for each in resets if each))
        return ends[-1]
