"""What commands reach: every row of a family, and what is there when they are asked about."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from barry_cli.policy.compile import compile_policy
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.rule import rule_command
from barry_cli.policy.schema import parse_bound
from tests.unit.policy.ruling.rows import rows

ROWS = rows("reach")
FAMILIES = sorted({row["family"] for row in ROWS})
FILES = """
    .env src/app.py src/util.py src/k.pem lib/x.py lib/a.o secrets/key.pem docs/a.md notes.txt
    README.md Makefile package.json .barry/bound.toml x.json a.c""".split()
HOME = (".ssh/id_rsa", ".bashrc", ".tool/settings.json")
FLOOR = (".barry", "~/.tool/settings.json")
BOUNDS = {
    "deny": {"files": {"deny": [".env", "*.pem"]}},
    "floor": None,
    "allowOnly": {"files": {"allowOnly": ["src/**"]}},
    "readOnly": {"deniedAccess": ["files"]},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    top = tmp_path.resolve() / "proj"
    for folder, names in ((top, FILES), (top.parent / "home", HOME)):
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("x")
    return top


def made(project: Path, rule: str) -> Policy:
    bound = BOUNDS[rule]
    return compile_policy(
        parse_bound(bound) if bound else None,
        root=str(project),
        home=str(project.parent / "home"),
        floor=FLOOR if rule in {"floor", "deny"} else (),
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_command_reaches(family: str, project: Path) -> None:
    policies = {rule: made(project, rule) for rule in BOUNDS}
    wrong = []
    for row in ROWS:
        if row["family"] != family:
            continue
        verdict = rule_command(policies[row["rule"]], row["command"], str(project))
        if ("allowed" if verdict.allowed else "refused") != row["outcome"]:
            wrong.append(f"{row['rule']}: {row['command']!r} ({row['why']}): {verdict.human}")
        assert "the ruling failed" not in verdict.human
    assert not wrong, "\n".join(wrong)


def test_without_a_rule_all_of_it_is_allowed(project: Path) -> None:
    free = compile_policy(None, root=str(project), home=str(project.parent / "home"))
    assert all(rule_command(free, row["command"], str(project)).allowed for row in ROWS)


def test_rows_of_every_kind_are_there() -> None:
    counts = Counter((row["rule"], row["outcome"]) for row in ROWS)
    assert min(counts[rule, outcome] for rule in BOUNDS for outcome in ("allowed", "refused")) >= 6
    assert len(ROWS) >= 700
    assert len({(row["rule"], row["command"]) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf src",
        "cp -r src /srv/y",
        "grep -rn x src",
        "rg x src",
        "tar cf /srv/y src",
        "find src -type f -exec cat {} +",
        "find src -type f | xargs cat",
        'for f in src/*; do cat "$f"; done',
        "ls src | xargs -I{} cat src/{}",
        "zip -r y.zip src",
        "chmod -R 600 src",
    ],
)
def test_a_folder_counts_by_what_is_in_it(command: str, project: Path) -> None:
    deny = made(project, "deny")
    assert not rule_command(deny, command, str(project)).allowed
    (project / "src" / "k.pem").unlink()
    assert rule_command(deny, command, str(project)).allowed


def test_a_folder_that_holds_too_much_to_look_through(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_cli.policy.ruling import paths

    deny = made(project, "deny")
    assert rule_command(deny, "grep -r x lib", str(project)).allowed
    monkeypatch.setattr(paths, "MOST_INSIDE", 1)
    for number in range(3):
        (project / "lib" / f"d{number}").mkdir()
        (project / "lib" / f"d{number}" / "f").write_text("x")
    assert rule_command(deny, "grep -r x lib", str(project)).outcome == "undecidable"
    # What is gone can't be read: only what is found counts.
    assert rule_command(deny, "rm -rf lib", str(project)).allowed


def test_a_hidden_name_is_no_glob_s_unless_the_shell_says_so(project: Path) -> None:
    deny = compile_policy(parse_bound({"files": {"deny": [".env"]}}), root=str(project))
    assert rule_command(deny, "cat *", str(project)).allowed
    assert not rule_command(deny, "shopt -s dotglob; cat *", str(project)).allowed
    assert not rule_command(deny, "cat .*", str(project)).allowed


def test_what_git_ignores_is_not_searched_by_rg(project: Path) -> None:
    deny = made(project, "deny")
    (project / "deps" / "deep").mkdir(parents=True)
    (project / "deps" / "deep" / "k.pem").write_text("x")
    for name in ("src/k.pem", "secrets/key.pem"):
        (project / name).unlink()

    def allowed(command: str) -> bool:
        return rule_command(deny, command, str(project)).allowed

    assert not allowed("rg x")
    (project / ".gitignore").write_text("# what is fetched\ndeps/\n")
    assert not allowed("rg x")  # no repository
    (project / ".git").mkdir()
    assert allowed("rg x")
    assert allowed("rg x .")
    assert not allowed("rg x deps")
    assert not allowed("rg -u x")
    assert not allowed("rg --no-ignore x")
    assert not allowed("grep -r x deps")
    (project / ".ignore").write_text("!deps\n")
    assert not allowed("rg x")
    (project / ".ignore").unlink()
    (project / ".gitignore").write_text("deps/\n!deps/\n")
    assert not allowed("rg x")


def test_a_search_for_names_that_no_rule_speaks_of_may_be_wide(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_cli.policy.ruling import paths

    monkeypatch.setattr(paths, "MOST_INSIDE", 1)
    (project / "lib" / "deep").mkdir()
    (project / "lib" / "deep" / "x.py").write_text("x")
    deny = made(project, "deny")
    verdict = rule_command(deny, "grep -r x lib", str(project))
    assert verdict.outcome == "undecidable"
    assert "it holds more than is looked through" in verdict.human
    for command in (
        "grep -r --include='*.py' x lib",
        "grep -r --include=*.py x lib",
        "rg -tpy x lib",
    ):
        assert rule_command(deny, command, str(project)).allowed
    for command in ("grep -r --include='*' x lib", "grep -r --include='*.p*' x lib"):
        assert rule_command(deny, command, str(project)).outcome == "undecidable"
