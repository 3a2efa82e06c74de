"""``barry bound show, explain, list, validate, merge, schema``."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from tests.toy import Barry, says


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def project(barry: Barry) -> Path:
    return write(
        barry.work / ".barry" / "bound.toml",
        "description = 'ours'\n[bash]\ndenyPrograms = ['git:push', 'rm']\n"
        "[files]\ndeny = ['keys/*']\n",
    )


# --- show ---


def test_show_names_every_rule_and_its_source(barry: Barry, project: Path) -> None:
    write(barry.folders.settings, "[bounds]\nalways = ['mine']\n")
    write(barry.folders.bounds / "mine.toml", "[bash]\ndenyPrograms = ['rm']\n")
    done = barry.run("bound", "show", "--bound", "no-network")
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines()]
    assert ["rm", "mine,", str(project)] in [row[-3:] for row in rows]
    assert ["files.deny", "keys/*", str(project)] in rows
    assert ["network.actions", "all", "no-network"] in rows
    assert "ours" in done.out
    found = barry.run("bound", "show", "--bound", "no-network", "--json").json["effective"]
    assert [source["why"] for source in found["sources"]] == ["always", "project", "asked"]
    (rule,) = (rule for rule in found["rules"] if rule["field"] == "files.deny")
    assert rule["written"] == "keys/*"
    assert rule["rule"] == f"{barry.work}//keys/*"


def test_show_where_nothing_applies(barry: Barry) -> None:
    done = barry.run("bound", "show")
    assert (done.code, done.out) == (0, f"no bound applies in {barry.work}\n")
    assert barry.run("bound", "show", "--json").json["effective"]["bound"] is None


def test_show_says_what_becomes_of_a_harness(barry: Barry, project: Path) -> None:
    done = barry.run("bound", "show", "--harness", "toy")
    assert "toy in guest mode" in done.out
    assert "switched off: Shell (taken back by bash.denyPrograms)" in done.out
    native = barry.run("bound", "show", "--harness", "toy", "--json").json["effective"]["native"]
    assert native["takenBack"]["Read"] == "files.deny"
    assert native["gating"] == "static"
    write(project, "[nativeTools]\ntoy = ['Think']\n")
    done = barry.run("bound", "show", "--harness", "toy")
    assert "stays, whatever is denied: Think (it is built in)" in done.out
    says(barry.run("bound", "show", "--mode", "guest"), 2, "--harness")
    says(barry.run("bound", "show", "--harness", "toy", "--mode", "hosted"), 2, "guest")
    says(barry.run("bound", "show", "--harness", "nope"), 127, "nope")


def test_show_says_that_a_launch_would_be_refused(barry: Barry, project: Path) -> None:
    assert (
        barry.run("bound", "show", "--harness", "toy", "--json").json["effective"]["native"][
            "refused"
        ]
        == []
    )
    for text, part in (
        ("[network]\nenforce = 'sandbox'\nallowDomains = ['x.test']\n", "egress sandbox"),
        ("[nodes]\ndeny = ['local']\n", "local"),
    ):
        write(project, text)
        done = barry.run("bound", "show", "--harness", "toy")
        (line,) = (each for each in done.out.splitlines() if "a launch is refused" in each)
        assert (done.code, part in line) == (0, True)
        native = barry.run("bound", "show", "--harness", "toy", "--json").json["effective"][
            "native"
        ]
        assert len(native["refused"]) == 1
        launch = barry.run("session", "launch", "toy", "--dry-run")
        assert (launch.code, native["refused"][0] in launch.err) == (2, True), launch


def test_show_says_that_a_harness_cannot_switch_its_tools_off(barry: Barry, project: Path) -> None:
    barry.install(tool_denial="none")
    done = barry.run("bound", "show", "--harness", "toy")
    assert "not held: Toy can't switch off" in done.out
    native = barry.run("bound", "show", "--harness", "toy", "--json").json["effective"]["native"]
    assert "Shell" in native["lowered"][0]


# --- explain ---


def test_explain_draws_the_command(barry: Barry, project: Path) -> None:
    done = barry.run("bound", "explain", "--command", "make && sudo sh -c 'x; git push' > log")
    assert done.code == 1
    lines = done.out.splitlines()
    at = lines.index("  make && sudo sh -c 'x; git push' > log")
    assert lines[at + 1] == " " * (2 + 23) + "^" * 8
    assert f"from     {project}" in done.out
    assert "  make  # allowed" in lines
    assert "      git push  # denied: git:push" in lines
    assert "network  git:push" in lines
    assert "writes   log (> a file)" in lines


def test_explain_what_is_allowed(barry: Barry, project: Path) -> None:
    done = barry.run("bound", "explain", "--", "git", "status")
    assert done.code == 0
    assert done.out.startswith(f"allowed in {barry.work}")
    assert "  git status  # allowed" in done.out


def test_explain_draws_several_lines(barry: Barry, project: Path) -> None:
    command = "echo 一二; \\\n" + "true;\n" * 20 + "git \\\n push\n" + "true\n" * 20
    done = barry.run("bound", "explain", "--command", command)
    lines = done.out.splitlines()
    at = lines.index("  git \\")
    assert lines[at + 1] == "  ^^^^^"
    assert lines[at + 3] == "  ^^^^^"
    assert lines.count("  ...") == 2


def test_explain_a_tool(barry: Barry, project: Path) -> None:
    words = ("bound", "explain", "--harness", "toy", "--tool")
    done = barry.run(*words, "Read", "--input", '{"path": "keys/a"}', "--json")
    found = done.json["explanation"]
    assert found["seen"] == []
    assert found["from"] == [{"label": str(project), "place": str(project), "written": "keys/*"}]
    shell = barry.run(*words, "Shell", "--input", '{"command": "rm x"}', "--json")
    assert shell.json["explanation"]["seen"][0]["argv"] == ["rm", "x"]


def test_explain_moves_no_cursor(barry: Barry, project: Path) -> None:
    done = barry.run("bound", "explain", "--command", "git push '\x1b[2J' \x1b]0;x\x07")
    assert done.code == 1
    assert "\x1b" not in done.out


# --- list, validate, merge, schema ---


def test_list_names_every_bound_and_whose_it_is(barry: Barry) -> None:
    write(barry.folders.bounds / "mine.toml", "description = 'my own'\n")
    write(barry.folders.bounds / "broken.toml", "[fils]\n")
    write(barry.folders.bounds / "notes.txt", "")
    done = barry.run("bound", "list")
    rows = {line.split()[0]: line for line in done.out.splitlines()[1:]}
    assert set(rows) == {"mine", "broken", "ci", "no-network", "no-push", "no-secrets", "read-only"}
    assert "you" in rows["mine"]
    assert "my own" in rows["mine"]
    assert "did you mean files?" in rows["broken"]
    found = barry.run("bound", "list", "--json").json
    assert set(found) == {"schema", "bounds", "traits"}
    assert found["bounds"][0]["problems"]


def test_validate(barry: Barry) -> None:
    good = write(barry.work / "good.toml", "[network]\ndomains = ['*.a.b']\n")
    done = barry.run("bound", "validate", "good.toml")
    assert done.code == 0
    assert "'a.b' itself is left" in done.out
    assert done.out.startswith("warning: ")
    assert done.out.endswith("it is a bound\n")
    assert barry.run("bound", "validate", "--strict", "good.toml").code == 1
    found = barry.run("bound", "validate", "good.toml", "--strict", "--json")
    assert (found.code, found.json["problems"], len(found.json["warnings"])) == (1, [], 1)
    write(barry.work / "plain.toml", "[bash]\ndenyPrograms = ['rm']\n")
    assert barry.run("bound", "validate", "--strict", "plain.toml").out == "it is a bound\n"
    write(good, "[network]\ndomain = []\nactions = ['git:psh']\n")
    done = barry.run("bound", "validate", "good.toml")
    assert done.code == 1
    assert "did you mean domains?" in done.out
    assert "did you mean git:push?" in done.out
    assert done.out.endswith("2 problems\n")
    found = barry.run("bound", "validate", "good.toml", "--json")
    assert (found.code, len(found.json["problems"]), found.json["warnings"]) == (1, 2, [])
    says(barry.run("bound", "validate", "nothing.toml"), 2, "no bound file")


def test_merge_writes_a_bound_that_holds_both(barry: Barry) -> None:
    write(barry.work / "a.toml", "[bash]\ndenyPrograms = ['rm']\n[files]\nallowOnly = ['a/**']\n")
    write(barry.work / "b.json", json.dumps({"files": {"allowOnly": ["b/**"]}}))
    done = barry.run("bound", "merge", "./a.toml", "b.json", "no-network")
    assert done.code == 0
    assert "no file is allowed" in done.err
    found = tomllib.loads(done.out)
    assert found == {
        "bash": {"denyPrograms": ["rm"]},
        "description": found["description"],
        "files": {"allowOnly": []},
        "network": {"actions": ["all"]},
    }
    write(barry.work / "merged.toml", done.out)
    assert barry.run("bound", "validate", "merged.toml").code == 0
    document = barry.run("bound", "merge", "a.toml", "b.json", "--json").json
    assert document["bound"]["files"] == {"allowOnly": []}
    assert document["notes"]
    says(barry.run("bound", "merge", "nothing"), 2, "no bound named nothing")


def test_schema_takes_what_validate_takes(barry: Barry) -> None:
    schema = barry.run("bound", "schema").json
    jsonschema.Draft202012Validator.check_schema(schema)
    look = jsonschema.Draft202012Validator(schema)
    assert look.is_valid({"bash": {"denyPrograms": ["git"]}})
    assert not look.is_valid({"bash": {"denyProgram": ["git"]}})
    assert not look.is_valid({"network": {"allowDomains": ["a"]}})
    assert barry.run("bound", "schema", "--json").json == schema


def test_verbs_that_take_nothing_after_the_dashes(barry: Barry) -> None:
    for verb in ("list", "show", "schema"):
        says(barry.run("bound", verb, "--", "x"), 2, "nothing after --")
