"""Runs that are compared: side by side in turns, so that a busy moment hits all alike."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

ROUNDS = 17


@dataclass(frozen=True)
class Figure:
    """One thing that was measured, in milliseconds."""

    least: float
    median: float


def race(
    runs: Mapping[str, Callable[[], float]], rounds: int = ROUNDS, warm: int = 2
) -> dict[str, Figure]:
    """Each run in turn, round after round; what each gives is milliseconds."""
    seen: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(warm + rounds):
        for name, run in runs.items():
            took = run()
            if turn >= warm:
                seen[name].append(took)
    return {name: Figure(min(took), statistics.median(took)) for name, took in seen.items()}


def command(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: int | None = None,
    stdout: int | None = None,
) -> Callable[[], float]:
    """A program from its start to its end. It gets nothing to read, and nobody reads it."""
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    actions = [
        (os.POSIX_SPAWN_DUP2, nowhere if stdin is None else stdin, 0),
        (os.POSIX_SPAWN_DUP2, nowhere if stdout is None else stdout, 1),
        (os.POSIX_SPAWN_DUP2, nowhere, 2),
    ]

    def run() -> float:
        began = time.perf_counter()
        pid = os.posix_spawn(argv[0], list(argv), dict(env), file_actions=actions)
        _, status = os.waitpid(pid, 0)
        took = (time.perf_counter() - began) * 1000
        assert status == 0, (argv, status)
        return took

    return run


def show(title: str, figures: Mapping[str, Figure], base: str, unit: str = "ms") -> None:
    """A table: least and median, and how many times the base the least is."""
    print(f"\n{title}")
    width = max(map(len, figures))
    for name, figure in figures.items():
        ratio = figure.least / figures[base].least
        print(
            f"  {name.ljust(width)}  {figure.least:8.2f} {figure.median:8.2f} {unit}  {ratio:6.2f}x"
        )
