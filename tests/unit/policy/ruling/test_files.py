"""Which files a command writes, and the rules on files held against command lines.

The rows on writes were run by bash: `wrote` is what was there afterwards and wasn't before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barry_cli.policy.commands import classify_file_write, find_file_reads, find_file_writes
from barry_cli.policy.compile import compile_policy
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.rule import rule_command
from barry_cli.policy.schema import parse_bound
from tests.unit.policy.ruling.rows import names, rows

WRITES = rows("files", kind="write")
COMMANDS = rows("files", kind="command")


@pytest.mark.parametrize("row", WRITES, ids=names(WRITES))
def test_what_a_command_writes(row: dict[str, Any]) -> None:
    found = classify_file_write(row["command"])
    if row["expected"] == "allowed":
        assert found is None, row["why"]
        assert not row.get("wrote")
        return
    assert found is not None, row["why"]
    assert found.path == row["path"]
    assert found.reason


def test_rows_of_every_kind_are_there() -> None:
    ran = [row for row in WRITES if row.get("wrote")]
    assert len(WRITES) >= 200
    assert len(ran) >= 90
    assert len(COMMANDS) >= 170


@pytest.fixture
def project(tmp_path: Path) -> Path:
    top = tmp_path.resolve() / "proj"
    for name in (".env", "src/app.py", "src/util.py", "secrets/key.pem", "docs/a.md", "notes.txt"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x")
    (top / "README.md").write_text("x")
    (top / "link").symlink_to("secrets")
    (top / "up").symlink_to("..")
    (top.parent / "home" / ".ssh").mkdir(parents=True)
    (top.parent / "home" / ".ssh" / "id_rsa").write_text("x")
    return top


def policy(project: Path, files: dict[str, list[str]], *floor: str) -> Policy:
    home = str(project.parent / "home")
    bound = parse_bound({"files": files}) if files else None
    return compile_policy(bound, root=str(project), home=home, floor=floor)


@pytest.mark.parametrize("row", COMMANDS, ids=names(COMMANDS))
def test_a_rule_on_files_and_a_command(row: dict[str, Any], project: Path) -> None:
    verdict = rule_command(policy(project, row["bound"]), row["command"], str(project))
    assert verdict.outcome == row["outcome"], f"{row['why']}: {verdict.human}"
    if not verdict.allowed:
        assert verdict.field == "files.deny" if "deny" in row["bound"] else "files.allowOnly"
        assert 0 <= verdict.span[0] < verdict.span[1] <= len(row["command"])
        assert verdict.text == row["command"]


@pytest.mark.parametrize("row", COMMANDS, ids=names(COMMANDS))
def test_without_a_bound_the_same_command_is_allowed(row: dict[str, Any], project: Path) -> None:
    assert rule_command(policy(project, {}), row["command"], str(project)).allowed


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        ("echo x > .barry/bound.toml", "denied"),
        ("cd .barry && echo x > bound.toml", "denied"),
        ("rm -rf .barry", "denied"),
        ("rm -rf sub/.barry", "denied"),
        ("mv .barry x", "denied"),
        ("mv . ../x", "denied"),
        ("sed -i s/a/b/ .barry/bound.toml", "denied"),
        ("cp x .barry/", "denied"),
        ("tee -a ~/.tool/settings.json <<< '{}'", "denied"),
        ("ln -sf x ~/.tool/settings.json", "denied"),
        ('echo x > "$d/.barry/bound.toml"', "undecidable"),
        ("rm -rf ~/.tool", "denied"),
        ("chmod 777 .barry", "denied"),
        ("touch .barry", "denied"),
        ("bash -c 'echo x > .barry/b'", "denied"),
        ("find . -path './.barry/*' -delete", "denied"),
        ("cat .barry/bound.toml", "allowed"),
        ("cp .barry/bound.toml /tmp/x", "allowed"),
        ("ls .barry", "allowed"),
        ("echo .barry", "allowed"),
        ("echo x > notes.txt", "allowed"),
        ("grep -r x .barry", "allowed"),
        ('echo "unclosed', "allowed"),
    ],
)
def test_the_floor(command: str, outcome: str, project: Path) -> None:
    (project / ".barry").mkdir()
    floor = policy(project, {}, ".barry", "~/.tool/settings.json")
    verdict = rule_command(floor, command, str(project))
    assert verdict.outcome == outcome, verdict.human
    assert verdict.field == ("" if verdict.allowed else "floor")
    without = rule_command(policy(project, {}), command, str(project))
    assert without.allowed


def test_writes_and_reads_are_listed() -> None:
    line = "sort a > b; cp c d; bash -c 'cat e >> f'"
    assert [seen.use.word.text for seen in find_file_writes(line) if seen.use.word] == [
        "b", "d", "f",
    ]  # fmt: skip
    assert [seen.use.word.text for seen in find_file_reads(line) if seen.use.word] == [
        "a", "c", "e",
    ]  # fmt: skip
    assert classify_file_write('echo "x > y') is None


def test_a_move_is_followed_where_it_can_be_relied_on(project: Path) -> None:
    only = policy(project, {"allowOnly": ["src/**"]})

    def outcome(command: str) -> str:
        return rule_command(only, command, str(project)).outcome

    assert outcome("cd src && touch new") == "allowed"
    assert outcome("(cd src && touch new)") == "allowed"
    assert outcome("(cd src); touch new") == "denied"
    assert outcome("bash -c 'cd src'; touch new") == "denied"
    assert outcome("eval 'cd src' && touch new") == "allowed"
    assert outcome("if cd src; then touch new; fi") == "denied"
    assert outcome("cd src && touch new && cd / && touch new") == "denied"
    assert outcome("cd '$x' && touch new") == "denied"
    assert outcome('cd "$x" && touch new') == "undecidable"
    assert outcome("cd src; cd -; touch new") == "undecidable"
    assert outcome("CDPATH=docs; cd src; touch new") == "undecidable"
    assert outcome("shopt -s cdable_vars; src=docs; cd src && touch new") == "undecidable"
    assert outcome("".join("cd src; cd ..; " for _ in range(20)) + "touch src/new") != "denied"


def test_a_glob_stands_for_what_is_there(project: Path) -> None:
    deny = policy(project, {"deny": ["*.pem"]})
    assert not rule_command(deny, "cat secrets/*", str(project)).allowed
    assert rule_command(deny, "cat src/*", str(project)).allowed
    (project / "secrets" / "key.pem").unlink()
    assert rule_command(deny, "cat secrets/*", str(project)).allowed
    assert not rule_command(deny, "cat secrets/*.pem", str(project)).allowed


WORD = st.text("ab./~*?[]{}$\"'\\<>|&;()=-@\0\né", max_size=10)
PROGRAM = st.sampled_from(
    "cat cp mv ln tee sed awk perl tar dd sort patch git find curl wget ed zip python3 cd rm chmod"
    " grep xargs rsync unzip split script truncate install jq yq openssl gzip source uniq".split()
)


@settings(max_examples=300)
@given(PROGRAM, st.lists(WORD, max_size=6))
def test_no_words_break_the_ruling(program: str, words: list[str]) -> None:
    command = " ".join([program, *words])
    classify_file_write(command)
    for files in ({"deny": [".env", "a/**"]}, {"allowOnly": ["src/**"]}):
        made = compile_policy(parse_bound({"files": files}), root="/work/proj", home="/home/dev")
        verdict = rule_command(made, command, "/work/proj")
        assert "the ruling failed" not in verdict.human, verdict.human
