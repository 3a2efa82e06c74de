"""The documented shapes are those of the code: JSON documents, errors, and the contract."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pexpect
import pytest
from pydantic import BaseModel

from barry_cli.bags import manifest
from barry_cli.base.paths import folders
from barry_cli.base.problems import BarryError
from barry_cli.contract import adapter, draft, events, guarantees, levels, requirements, session
from barry_cli.contract.models import Vendor
from barry_cli.inbox.spool import Spool
from barry_cli.policy import schema
from barry_cli.registry import records
from barry_cli.turns.store.sessions import Sessions, now
from tests.unit.documents import ADAPTERS, JSON, README, ROOT, Shapes, plain, write_recipe
from tests.unit.inbox.sessions import session as session_row

SHAPES = Shapes(JSON, ADAPTERS)


def barry(*words: str, cwd: Path, path: str) -> tuple[int, Any, Any]:
    """The exit code of one command, and what it writes to stdout and stderr as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "barry_cli", *words, *([] if "--json" in words else ["--json"])],
        cwd=cwd,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    out = json.loads(done.stdout) if done.stdout.strip() else None
    last = done.stderr.strip().splitlines()[-1:]
    return done.returncode, out, json.loads(last[0]) if last and last[0][0] == "{" else None


def test_real_documents_are_as_described(tmp_path: Path) -> None:
    write_recipe(tmp_path)
    (tmp_path / "bin" / "parrot").chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    seen = []

    def fits(shape: str, *words: str, status: int = 0) -> Any:
        code, out, err = barry(*words, cwd=tmp_path, path=path)
        assert code == status, (words, err)
        assert list(SHAPES.problems(f"#{shape}", out)) == [], words
        seen.append(shape)
        return out

    fits("adapter-check", "adapter", "check", "./adapter")
    fits("adapter-check", "adapter", "check", "./bin", status=1)
    assert fits("adapter-add", "adapter", "add", "./adapter")["changes"] == []
    with (tmp_path / "adapter/barry_adapter_parrot/launch.py").open("a") as code:
        code.write("# a remark\n")
    listed = fits("adapter-list", "adapter", "list")
    assert [each["state"] for each in listed["adapters"]] == ["drifted"]
    assert fits("adapter-add", "adapter", "add", "./adapter")["changes"]
    fits("adapter-add", "adapter", "add", "demo")
    fits("adapter-list", "adapter", "list")
    fits("adapter-show", "adapter", "show", "parrot")
    fits("adapter-models", "adapter", "models", "demo")
    fits("adapter-verify", "adapter", "verify", "demo", "--mode", "guest")
    fits("adapter-doctor", "adapter", "doctor", "parrot")
    fits("doctor", "doctor")
    bounds(fits, tmp_path)
    plan = ("session", "launch", "parrot", "--deny-tool", "shell", "--model", "a/b", "--dry-run")
    assert fits("session-launch---dry-run", *plan)["plan"]["warnings"]
    fits("session-launch---dry-run", "session", "launch", "demo", "--dry-run")
    fits("session-list", "session", "list")
    for more in ((), ("--supervise",)):
        play(["session", "launch", "parrot", *more], tmp_path, path)
    sessions = fits("session-list", "session", "list")["sessions"]
    assert {each["handedOver"] for each in sessions} == {True, False}
    fits("session-show", "session", "show", sessions[0]["id"])
    fits("session-stop", "session", "stop", sessions[0]["id"])
    driven(fits, tmp_path, path)
    reached(fits)
    sessions = fits("session-list", "session", "list")["sessions"]
    for more in (("--dry-run",), ()):
        found = fits("session-prune", "session", "prune", "--older-than", "0s", *more)
        assert {each["id"] for each in found["sessions"]} == {each["id"] for each in sessions}
    fits("adapter-remove", "adapter", "remove", "parrot")
    for words, status in (
        (("session", "show", "nothing"), 2),
        (("session", "launch", "nobody"), 127),
        (("adapter", "list", "--nonsense"), 2),
    ):
        code, _, err = barry(*words, cwd=tmp_path, path=path)
        assert code == status
        assert list(SHAPES.problems("#errors", err)) == []
    # Every document that the page describes was seen.
    heads = re.findall(r"^## (.*)$", JSON.prose(), re.MULTILINE)
    verbs = {head.replace(" ", "-") for head in heads if head not in ("Errors", "Adapter record")}
    assert set(seen) | {"session-events"} == verbs


def driven(fits: Any, folder: Path, path: str) -> None:
    """What is on record of a session that Barry drove; one whose turn was lost among them."""
    words = (sys.executable, "-m", "barry_cli", "session")
    more: Any = {
        "cwd": folder,
        "env": {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.DEVNULL,
        "text": True,
    }
    begun = folder / "begun"
    prompt = f"run touch {begun}; sleep 60"
    child = subprocess.Popen([*words, "start", "demo", prompt, "--json"], **more)
    assert child.stdout is not None
    assert any('"tool_use"' in line for line in child.stdout)
    while not begun.exists():  # then the call is on record as executing
        time.sleep(0.02)
    child.kill()
    child.communicate()
    session_id = fits("session-list", "session", "list")["sessions"][0]["id"]
    (turn,) = fits("session-show", "session", "show", session_id)["turns"]
    assert turn["uncertainCalls"]
    fits("session-interrupt", "session", "interrupt", session_id)
    done = subprocess.run([*words, "events", session_id, "--json"], **more, timeout=60, check=True)
    for line in done.stdout.splitlines():
        assert list(SHAPES.problems("#session-events", json.loads(line))) == []


def reached(fits: Any) -> None:
    """A message to a session that runs, here this very process."""
    row = session_row(socket="/nowhere/x.sock", activity="idle")
    sent = ("session", "send", row.id, "hello", "--from", "ada")
    message_id = fits("session-send", *sent)["messageId"]
    fits("session-send", *sent, "--wait", "written", "--timeout", "0.1", status=124)
    with Spool(folders()) as spool:
        assert spool.begin(row.id, message_id)
        assert spool.uncertain(row.id, message_id, "the pipe broke")
    again = (*sent, "--id", message_id, "--wait", "consumed")
    assert fits("session-send", *again, status=1)["state"] == "uncertain"
    assert len(fits("session-show", "session", "show", row.id)["messages"]) == 2
    Sessions(folders()).change(row.id, state="ended", ended_at=now())


def bounds(fits: Any, folder: Path) -> None:
    """Every document of ``bound``, once empty and once full where there is a difference."""
    own = ("--bound", "no-push", "--bound", "no-secrets")
    fits("bound-list", "bound", "list")
    assert fits("bound-show", "bound", "show")["effective"]["bound"] is None
    file = folder / ".barry" / "bound.toml"
    file.parent.mkdir()
    file.write_text("[files]\ndeny = ['a/b']\nallowOnly = []\n[network]\ndomains = ['*.x']\n")
    fits("bound-show", "bound", "show", *own, "--harness", "parrot")
    fits("bound-validate", "bound", "validate", str(file))
    fits("bound-merge", "bound", "merge", "ci", str(file))
    file.write_text("[fils]\n")
    fits("bound-validate", "bound", "validate", str(file), status=1)
    file.unlink()
    for words in ((*own, "--", "ls"), (*own, "--command", "git push > a; cat $x; $y")):
        status = 0 if words[-1] == "ls" else 1
        fits("bound-check", "bound", "check", "--json", *words, status=status)
        fits("bound-explain", "bound", "explain", "--json", *words, status=status)
    asked = folder / "asked"
    asked.write_text("git push\n{}\n$x\n")
    found = fits("bound-audit", "bound", "audit", str(asked), *own, status=1)
    assert len(found["audit"]["rules"]) == 2
    lines = subprocess.run(
        [sys.executable, "-m", "barry_cli", "bound", "check", "--stdin", *own],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input='"ls"\n"git push"\nnothing\n',
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    ).stdout.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert list(SHAPES.problems("#ruled-line", json.loads(line))) == []


def play(words: list[str], cwd: Path, path: str) -> None:
    """One short session in a terminal."""
    child = pexpect.spawn(
        sys.executable,
        ["-m", "barry_cli", *words],
        cwd=str(cwd),
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
        timeout=30,
        encoding="utf-8",
    )
    child.expect_exact("parrot> ")
    child.sendline("bye")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_examples_are_as_described() -> None:
    examples = [block for block in JSON.blocks() if block.language == "json"]
    for block in examples:
        shape = re.sub(r"[^\w -]", "", block.heading.lower()).replace(" ", "-")
        found = list(SHAPES.problems(f"#{shape}", json.loads(block.text)))
        assert found == [], block.heading
    assert len(examples) == len({block.heading for block in examples}) >= 12


def test_what_is_not_as_described_is_noticed() -> None:
    good = {"error": {"code": "usage", "message": "", "hint": "", "details": {}}}
    assert list(SHAPES.problems("#errors", good)) == []
    for bad in (
        {},
        {"error": None},
        {**good, "more": 1},
        {"error": {**good["error"], "hint": None}},
        {"error": {"code": "usage"}},
    ):
        assert list(SHAPES.problems("#errors", bad))
    finding = {"group": "", "name": "", "status": "ok", "text": "", "fix": None}
    assert list(SHAPES.problems("#finding", finding)) == []
    assert list(SHAPES.problems("#finding", {**finding, "status": "fine"}))


MODELS: dict[str, type[BaseModel]] = {
    "#adapter-record": records.InstalledAdapter,
    "#mode": records.RecordedMode,
    "#guarantees": guarantees.Guarantees,
    "#evidence": adapter.Evidence,
    "#native-control": adapter.NativeControl,
    "#capabilities": requirements.HarnessCapabilities,
    "#requirements": requirements.Requirements,
    "#binary": requirements.Binary,
    "#pin": requirements.Pin,
    "#install": requirements.Install,
    "#login": requirements.Login,
    "#bag": records.InstalledBag,
    "#model": requirements.OfferedModel,
    "#vendor-code": records.RecordedVendorCode,
    "#vendor": Vendor,
    "adapters.md#bagtoml": manifest.BagManifest,
    "adapters.md#tool-rows": manifest.ToolRow,
    "adapters.md#hook-formats": manifest.HookFormat,
    "adapters.md#hook-answers": manifest.HookAnswer,
    "adapters.md#traits": schema.AgentTrait,
    "adapters.md#bounds": schema.Bound,
    "adapters.md#bash-bounds": schema.BashBound,
    "adapters.md#files-bounds": schema.FilesBound,
    "adapters.md#network-bounds": schema.NetworkBound,
    "adapters.md#nodes-bounds": schema.NodesBound,
    "adapters.md#vendors": Vendor,
    "adapters.md#models": requirements.OfferedModel,
    "adapters.md#credentials": manifest.Credential,
}
BESIDE_THE_RECORD = {"state": False, "resolvedBinary": False}


@pytest.mark.parametrize("shape", MODELS)
def test_every_key_is_documented(shape: str) -> None:
    model = MODELS[shape]
    model.model_rebuild()
    in_a_file = shape.startswith("adapters.md")
    expected, words = {}, {}
    for name, field in model.model_fields.items():
        key = field.alias or name
        # A file may leave out what has a default; a document has all that is not None.
        expected[key] = field.is_required() if in_a_file else not _may_be_none(field)
        words[key] = literals(field.annotation)
    if shape == "#adapter-record":
        expected |= BESIDE_THE_RECORD
    if shape == "adapters.md#traits":
        expected["name"] = False  # the table's key is its name
    assert SHAPES.keys(shape) == expected
    for key, row in SHAPES.rows(shape).items():
        named = set(re.findall(r"`([^`]+)`", row["type"]))
        if named and key in words:
            assert named == words[key], key


def _may_be_none(field: Any) -> bool:
    return not field.is_required() and field.default_factory is None and field.default is None


def literals(annotation: Any) -> set[str]:
    """The words that a type allows."""
    inner = get_args(annotation)
    words = {str(each) for each in inner if isinstance(each, str | int)}
    return words.union(*(literals(each) for each in inner if not isinstance(each, str | int)))


def problems() -> set[type[BarryError]]:
    """Every kind of failure that Barry itself raises."""
    for file in (ROOT / "barry_cli").rglob("*.py"):
        if re.search(r"^class .*\b(BarryError|Refused)\b.*\):", file.read_text(), re.MULTILINE):
            importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))

    def below(kind: type[BarryError]) -> Iterator[type[BarryError]]:
        for each in kind.__subclasses__():
            if each.__module__.startswith("barry_cli.") and not each.__name__.startswith("_"):
                yield each
                yield from below(each)

    return set(below(BarryError))


def test_every_error_is_documented() -> None:
    said = {plain(row["code"]): int(row["exit"]) for row in JSON.tables()["Codes"]}
    raised = {code: status for each in problems() for code, status in each.codes().items()}
    assert said == raised | {"internal": 125}


def test_exit_codes_are_all_there() -> None:
    said = {int(row["code"]) for row in README.tables()["Exit codes"]}
    assert {status for problem in problems() for status in problem.codes().values()} <= said
    assert {0, 1, 130} <= said


# --- the contract ---

FIELDS: dict[str, type] = {
    "Adapter": adapter.Adapter,
    "HarnessCapabilities": requirements.HarnessCapabilities,
    "Requirements": requirements.Requirements,
    "Binary": requirements.Binary,
    "Pin": requirements.Pin,
    "Login": requirements.Login,
    "LaunchMode": adapter.LaunchMode,
    "NativeControl": adapter.NativeControl,
    "Evidence": adapter.Evidence,
    "Guarantees": guarantees.Guarantees,
    "SessionConfig": session.SessionConfig,
}


def needed(kind: type) -> dict[str, bool]:
    """Field -> whether it must be given."""
    if issubclass(kind, BaseModel):
        return {name: field.is_required() for name, field in kind.model_fields.items()}
    assert dataclasses.is_dataclass(kind)
    absent = dataclasses.MISSING
    return {
        each.name: each.default is absent and each.default_factory is absent
        for each in dataclasses.fields(kind)
    }


@pytest.mark.parametrize("heading", FIELDS)
def test_every_field_is_documented(heading: str) -> None:
    rows = [row for row in ADAPTERS.tables()[heading] if "field" in row]
    expected = needed(FIELDS[heading])
    assert {plain(row["field"]) for row in rows} == set(expected)
    for row in rows:
        if "needed" in row:
            assert (row["needed"] == "yes") == expected[plain(row["field"])], row


def test_the_order_of_levels_is_documented() -> None:
    said = {plain(row["field"]): row["levels"] for row in ADAPTERS.tables()["Guarantees"]}
    for kind, order in levels.ORDER.items():
        assert re.findall(r"`([^`]+)`", said[kind]) == list(order)


def test_the_draft_is_documented() -> None:
    made = draft.PlanDraft("", session.SessionConfig(session_id="", cwd=""), guarantees.Guarantees(
        capture="none", delivery="none", gating="none", identity="none",
        interrupt=False, keeps_vendor_ui=True, steer=False))  # fmt: skip
    names = {name for name in dir(made) if not name.startswith("_")}
    assert {plain(row["name"]).partition("(")[0] for row in ADAPTERS.tables()["PlanDraft"]} == names


def test_the_events_are_documented() -> None:
    for kind in get_args(get_args(events.SessionEvent)[0]):
        assert f"`{kind.__name__}`" in ADAPTERS.text
