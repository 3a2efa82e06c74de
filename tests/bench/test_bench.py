"""Figures. Ratios within one run are held; milliseconds are shown, since they are the machine's."""

from __future__ import annotations

import os
import pty
from collections.abc import Iterator

import pytest

from tests.bench.measure import ROUNDS, command, race, show
from tests.bench.place import Place, home_with, install, many_adapters, run
from tests.bench.typing import ECHOING, Typist
from tests.toy import Toys, write_harness

pytestmark = pytest.mark.timeout(900)

BASE = "python -c pass"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return install(tmp_path_factory.mktemp("bench"))


@pytest.fixture
def terminal() -> Iterator[int]:
    """A terminal that nobody looks at."""
    outside, inside = pty.openpty()
    yield inside
    os.close(outside)
    os.close(inside)


def test_starting(place: Place, toys: Toys, terminal: int) -> None:
    plain = place.home("plain")
    many = many_adapters(place, toys)
    demo = place.home("demo")
    run(place.barry, "adapter", "add", "demo", cwd=place.top, env=demo)
    one = home_with(place, "one", [toys.record()])
    kept = home_with(place, "kept", [toys.record(tmp_dirs=True)])
    launch = [place.barry, "session", "launch"]
    for env in (one, kept):
        run(*launch, "toy", "--dry-run", cwd=place.top, env=env)  # so that its version is known
    figures = race(
        {
            BASE: command([place.python, "-c", "pass"], plain),
            "barry --version": command([place.barry, "--version"], plain),
            "adapter list, 200": command([place.barry, "adapter", "list"], many),
            "adapter list --json, 200": command([place.barry, "adapter", "list", "--json"], many),
            "session list": command([place.barry, "session", "list"], one),
            "launch demo --dry-run": command([*launch, "demo", "--dry-run"], demo),
            "launch, handed over": command([*launch, "toy"], one, stdin=terminal, stdout=terminal),
            "launch, stayed with": command([*launch, "toy"], kept, stdin=terminal, stdout=terminal),
        }
    )
    show(f"from start to end, least and median of {ROUNDS}", figures, BASE)
    most = {
        "barry --version": 1.3,
        "adapter list, 200": 9,
        "adapter list --json, 200": 10,
        "launch demo --dry-run": 20,
        "launch, handed over": 20,
    }
    base = figures[BASE].least
    over = {
        name: figures[name].least / base
        for name, limit in most.items()
        if figures[name].least > limit * base
    }
    assert not over, over


def test_typing(place: Place, toys: Toys) -> None:
    """Under Barry a harness feels as it does alone, handed over to or stayed with."""
    toy = write_harness(place.top / "echoing" / "toy", ECHOING)
    env = home_with(place, "typing", [toys.record()])
    env["PATH"] = f"{toy.parent}:{env['PATH']}"
    launch = [place.barry, "session", "launch", "toy"]
    typists = {
        "alone": Typist([str(toy)], env, str(place.top)),
        "handed over": Typist(launch, env, str(place.top)),
        "stayed with": Typist([*launch, "--supervise"], env, str(place.top)),
    }
    echoes = race({name: each.echo for name, each in typists.items()}, rounds=9, warm=1)
    outputs = race({name: each.output for name, each in typists.items()}, rounds=5, warm=1)
    show("the echo of a key, least and median of 9 medians", echoes, "alone")
    show("a megabyte of output, least and median of 5", outputs, "alone", "ms/MB")
    assert [each.close() for each in typists.values()] == [0, 0, 0]
    # A wrapper that copies what passes costs two to five times: these would see it.
    for figures in (echoes, outputs):
        for name in ("handed over", "stayed with"):
            assert figures[name].least <= figures["alone"].least * 1.8, (name, figures)
