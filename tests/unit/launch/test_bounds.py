"""A launch under a bound: what applies, what is switched off for it, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.toy import Barry, says

LAUNCH = ("session", "launch", "toy")
TRAITS = """
[traits.reading]
access = "read"
namespaces = []
nativeTools = { toy = ["Read"] }

[traits.coding]
access = "readwrite"
namespaces = []
nativeTools = { oldtoy = ["Shell", "Read"] }
bound = { bash = { denyPrograms = ["git:push"] } }
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def plan(barry: Barry, *words: str) -> dict[str, Any]:
    done = barry.run(*LAUNCH, "--dry-run", "--json", *words)
    assert done.code == 0, done
    found: dict[str, Any] = done.json["plan"]
    return found


def denied(found: dict[str, Any]) -> set[str]:
    """The tools that the plan switches off, by the harness's own flag."""
    (words,) = [word for word in found["argv"] if word.startswith("--deny=")] or [""]
    return set(words.removeprefix("--deny=").split(",")) - {""}


@pytest.fixture
def project(barry: Barry) -> Path:
    return write(barry.work / ".barry" / "bound.toml", "[bash]\ndenyPrograms = ['git:push']\n")


def with_traits(barry: Barry) -> None:
    """The toy with traits in its bag."""
    import tomllib

    rows = json.loads(barry.folders.registry.read_text())
    (row,) = rows["adapters"]
    traits = tomllib.loads(TRAITS)["traits"]
    row["bag"]["manifest"]["traits"] = {
        name: {"name": name, **trait} for name, trait in traits.items()
    }
    barry.folders.registry.write_text(json.dumps(rows))


def test_without_a_bound_nothing_changes(barry: Barry) -> None:
    found = plan(barry)
    assert denied(found) == set()
    assert found["bound"] == {
        "sources": [], "effective": None, "switchedOff": [], "guarded": [],
    }  # fmt: skip
    assert found["notes"] == []


def test_a_bound_of_the_project_holds_in_every_launch_from_there(
    barry: Barry, project: Path
) -> None:
    found = plan(barry)
    assert denied(found) == {"Shell"}
    assert found["bound"]["sources"] == [str(project)]
    assert found["bound"]["switchedOff"] == ["Shell"]
    assert any("Shell switched off" in note for note in found["notes"])
    assert any("bash.denyPrograms" in note for note in found["notes"])
    inner = barry.work / "inner"
    inner.mkdir()
    assert denied(plan(barry, "--cwd", "inner")) == {"Shell"}
    # The counter-case: from another folder it doesn't apply.
    assert denied(plan(barry, "--cwd", str(barry.top))) == set()


def test_what_was_asked_for_is_added(barry: Barry, project: Path) -> None:
    write(barry.folders.settings, "[bounds]\nalways = ['mine']\n")
    write(barry.folders.bounds / "mine.toml", "[nativeTools]\noldtoy = ['read']\n")
    found = plan(barry, "--bound", "no-secrets", "--deny-tool", "edit")
    assert denied(found) == {"Shell", "Read", "Write", "Edit"}
    assert found["bound"]["sources"] == ["mine", str(project), "no-secrets"]
    effective = found["bound"]["effective"]
    assert effective["nativeTools"] == {"toy": ["read"]}
    text = barry.run(*LAUNCH, "--dry-run").out
    assert f"bound         mine, {project}" in text
    assert "switched off  Read, Shell" in text


def test_what_stays_is_said(barry: Barry) -> None:
    write(barry.folders.bounds / "mine.toml", "[nativeTools]\ntoy = ['Think']\n")
    found = plan(barry, "--bound", "mine")
    assert denied(found) == set()
    assert any("Think" in warning and "built in" in warning for warning in found["warnings"])


def test_a_harness_that_can_not_deny_says_that_the_bound_does_not_hold(
    barry: Barry, project: Path
) -> None:
    barry.install(tool_denial="none")
    found = plan(barry)
    assert any("the bound does not hold here" in warning for warning in found["warnings"])
    done = barry.run(*LAUNCH, "--dry-run", "--require", "gating=static")
    says(done, 2, "gating none")


def test_rules_that_nothing_holds_are_said(barry: Barry) -> None:
    write(barry.folders.bounds / "mine.toml", "deniedTools = ['linear:delete']\n")
    found = plan(barry, "--bound", "mine", "--relax")
    assert any("linear:delete" in warning for warning in found["warnings"])
    assert any("--relax" in warning for warning in found["warnings"])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[network]\nenforce = 'sandbox'\n", ("egress sandbox", "network.domains")),
        ("[nodes]\ndeny = ['local']\n", ("local",)),
        ("[bash]\ndenyProgram = []\n", ("did you mean denyPrograms?",)),
    ],
)
def test_a_bound_that_no_launch_can_hold_refuses(
    barry: Barry, project: Path, text: str, parts: tuple[str, ...]
) -> None:
    project.write_text(text)
    with barry.leaves_nothing():
        says(barry.run(*LAUNCH, "--dry-run"), 2, *parts)
        says(barry.refused(*LAUNCH), 2, *parts)


def test_names_that_are_none(barry: Barry) -> None:
    says(barry.run(*LAUNCH, "--dry-run", "--bound", "no-psh"), 2, "did you mean no-push?")
    says(barry.run(*LAUNCH, "--dry-run", "--bound", "./x.toml"), 2, "no bound file")
    says(barry.run(*LAUNCH, "--dry-run", "--trait", "x"), 2, "no trait x", "bound list")


def test_a_trait_grants_alone(barry: Barry) -> None:
    with_traits(barry)
    assert denied(plan(barry, "--trait", "reading")) == {"Shell", "Write", "Edit"}
    says(
        barry.run(*LAUNCH, "--dry-run", "--trait", "coding"),
        2, "Shell is granted by a trait", "bash.denyPrograms takes it back",
    )  # fmt: skip
    says(barry.run(*LAUNCH, "--dry-run", "--trait", "readin"), 2, "did you mean reading?")


def test_a_mode_is_chosen_that_can_hold_it(barry: Barry, project: Path) -> None:
    barry.install(modes=("guest", "instrumented"))
    assert plan(barry)["mode"] == "instrumented"
    assert denied(plan(barry)) == {"Shell"}
    project.write_text("")
    assert plan(barry)["mode"] == "guest"


def test_it_is_said_before_the_start_and_recorded(barry: Barry, project: Path) -> None:
    write(barry.top / "own.toml", "[bash]\ndeny = ['--force']\n")
    child = barry.launch("--bound", str(barry.top / "own.toml"))
    child.sendline("quit")
    assert barry.ended(child) == 0
    assert "--deny=Shell" in barry.started()["argv"]
    assert f"held to {project}, {barry.top}/own.toml" in str(child.logfile_read.getvalue())
    assert barry.row().asked["bound"] == {
        "bash": {"deny": ["--force"], "denyPrograms": ["git:push"]}
    }


def test_a_session_that_goes_on_is_held_to_no_less(barry: Barry, project: Path) -> None:
    """Even where the bound has gone by then; and to what applies by now as well."""
    barry.install(discover=True)
    own = write(barry.top / "own.toml", "[files]\ndeny = ['keys/*']\n")
    child = barry.launch("--bound", str(own))
    child.sendline("name talk-1")
    child.expect_exact("<name done>")
    child.sendline("quit")
    barry.ended(child)
    first = barry.row().id
    assert "--deny=Shell,Read,Write,Edit" in barry.started()["argv"]
    own.unlink()
    project.unlink()
    resume = ("session", "resume", first, "--dry-run", "--json")
    found = barry.run(*resume).json["plan"]
    assert found["bound"]["sources"] == ["the session before"]
    assert denied(found) == {"Shell", "Read", "Write", "Edit"}
    assert found["bound"]["effective"]["files"]["deny"] == [f"{barry.work}//keys/*"]
    more = barry.run(*resume, "--bound", "no-network").json["plan"]
    assert more["bound"]["effective"]["network"] == {"actions": ["all"]}
    assert more["bound"]["effective"]["bash"] == {"denyPrograms": ["git:push"]}
