"""Real harness programs: their homes, and the table that closes the run."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from harness import FIGURES, ROOT, Figures, Lab


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.path).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.real)
            item.add_marker(pytest.mark.timeout(300))  # a busy machine starts them slowly


@pytest.fixture
def lab(home: Path) -> Iterator[Callable[[str], Lab]]:
    """Makes a Lab of a harness. Its folders are below the tree, not below /tmp, where some
    harnesses behave otherwise."""
    import shutil
    import tempfile

    cache = ROOT / ".harnesses" / "tmp"
    cache.mkdir(parents=True, exist_ok=True)
    made: list[Lab] = []
    tops: list[Path] = []

    def make(adapter_id: str) -> Lab:
        top = Path(tempfile.mkdtemp(prefix=f"{adapter_id}-", dir=cache))
        tops.append(top)
        lab = Lab(adapter_id, top)
        made.append(lab)
        return lab

    yield make
    for lab in made:
        lab.close()
    for top in tops:
        shutil.rmtree(top, ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """What a worker saw counts for the whole run."""
    for name, seen in getattr(node, "workeroutput", {}).get("figures", {}).items():
        figures = FIGURES.setdefault(name, Figures(seen["version"], seen["pinned"]))
        figures.requests += seen["requests"]
        if seen["version"] != seen["pinned"]:
            figures.version = seen["version"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not FIGURES:
        return
    terminalreporter.section("harnesses")
    terminalreporter.write_line(f"{'harness':<10} {'version':<10} {'pinned':<10} model requests")
    for name, figures in sorted(FIGURES.items()):
        terminalreporter.write_line(
            f"{name:<10} {figures.version:<10} {figures.pinned:<10} {figures.requests}"
        )
    for name in _wrong():
        terminalreporter.write_line(
            f"{name} fails the run: its version is not the pinned one, or no model was asked"
        )


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Another version than the pin, or no request at all, is a failed run."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["figures"] = {
            name: dataclasses.asdict(figures) for name, figures in FIGURES.items()
        }
        return
    if _wrong() and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _wrong() -> list[str]:
    return [
        name
        for name, figures in sorted(FIGURES.items())
        if figures.version != figures.pinned or figures.requests == 0
    ]
