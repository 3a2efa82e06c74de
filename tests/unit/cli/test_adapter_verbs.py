"""``barry adapter``: added with leave, listed, shown, removed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.toy import Barry, eventually, says, write_adapter, write_harness, written


@pytest.fixture
def package(barry: Barry) -> Path:
    """A package that isn't installed yet."""
    barry.folders.registry.unlink()
    return write_adapter(barry.top / "package")


def ids(barry: Barry) -> list[str]:
    return [each["id"] for each in barry.run("adapter", "list", "--json").json["adapters"]]


@pytest.mark.parametrize(
    ("answer", "code", "added"),
    [("y\n", 0, ["toy"]), ("YES\n", 0, ["toy"]), ("n\n", 2, []), ("\n", 2, []), ("\x04", 2, []),
     ("\x03", 130, [])],
)  # fmt: skip
def test_somebody_is_asked_about_foreign_code(
    barry: Barry, package: Path, answer: str, code: int, added: list[str]
) -> None:
    child = barry.open("adapter", "add", str(package))
    child.expect_exact("[y/N] ")
    assert "guest" in written(child)  # what it would promise is said first
    child.send(answer)
    assert barry.ended(child) == code
    said = written(child)
    assert "Traceback" not in said
    assert ids(barry) == added
    if code == 2:
        assert said.endswith("error: toy is not added: you did not say yes\n")
        assert ("[y/N] \nerror:" in said) == (answer == "\x04")  # the terminal echoes nothing here


@pytest.mark.parametrize("more", [("--no-vet",), ()])
def test_no_is_no_however_the_package_is_written(
    barry: Barry, package: Path, more: tuple[str, ...]
) -> None:
    home = Path(barry.env["HOME"])
    package.rename(home / "package")
    child = barry.open("adapter", "add", "~/package", *more)
    child.expect_exact("[y/N] ")
    child.send("n\n")
    assert barry.ended(child) == 2
    assert "hint:" not in written(child)
    assert ids(barry) == []


@pytest.mark.parametrize("more", [(), ("--yes",), ("--json",)])
def test_nobody_is_asked_where_nobody_is(
    barry: Barry, package: Path, more: tuple[str, ...]
) -> None:
    done = barry.run("adapter", "add", str(package), *more)
    assert done.code == 0
    assert ids(barry) == ["toy"]
    if more == ("--json",):
        assert done.json["adapter"]["id"] == "toy"
        assert done.json["replaced"] is False
    else:
        assert "added toy 0.1.0" in done.out


def test_a_yes_beforehand(barry: Barry, package: Path) -> None:
    child = barry.open("adapter", "add", str(package), "-y")
    assert barry.ended(child) == 0
    assert "[y/N]" not in written(child)


def test_a_harness_that_is_missing_refuses_unless_told_otherwise(
    barry: Barry, package: Path
) -> None:
    (barry.bin / "toy").unlink()
    says(barry.run("adapter", "add", str(package)), 2, "not on this machine", "--no-vet")
    assert ids(barry) == []
    assert barry.run("adapter", "add", str(package), "--no-vet").code == 0
    assert ids(barry) == ["toy"]


def test_another_build_is_a_warning(barry: Barry, package: Path) -> None:
    write_harness(barry.bin / "toy", version="2.0.0")
    done = barry.run("adapter", "add", str(package))
    assert done.code == 0
    assert "warning: build 2.0.0 is not of the verified line" in done.err


def test_again(barry: Barry, package: Path) -> None:
    add = ("adapter", "add", str(package))
    assert barry.run(*add).code == 0
    assert "nothing changed" in barry.run(*add).out
    write_adapter(package, warnings=("new",), aliases=())
    assert [each["state"] for each in barry.run("adapter", "list", "--json").json["adapters"]] == [
        "drifted"
    ]
    assert "drifted" in barry.run("adapter", "list").out
    done = barry.run(*add)
    assert "updated toy" in done.out
    assert 'aliases: ["oldtoy"] -> []' in done.out


def test_checking_records_nothing(barry: Barry, package: Path) -> None:
    done = barry.run("adapter", "check", str(package))
    assert (done.code, ids(barry)) == (0, [])
    assert done.out.endswith("checks, no problem\n")
    (package / "barry_adapter_toy" / "bag.toml").write_text("name =")
    done = barry.run("adapter", "check", str(package))
    assert done.code == 1
    assert "problem: " in done.out
    assert barry.run("adapter", "check", str(package), "--json").json["problems"]


@pytest.mark.parametrize("name", ["toy", "oldtoy"])
def test_showing_and_removing_by_any_name(barry: Barry, name: str) -> None:
    shown = barry.run("adapter", "show", name)
    assert "adapter " in shown.out
    assert "toy (Toy) 0.1.0" in shown.out
    document = barry.run("adapter", "show", name, "--json").json["adapter"]
    assert (document["id"], document["state"]) == ("toy", "ok")
    assert barry.run("adapter", "remove", name).code == 0
    assert ids(barry) == []
    says(barry.run("adapter", "remove", name), 127, "no adapter named")


def test_a_package_that_is_gone_is_listed_and_removed(barry: Barry) -> None:
    rows = json.loads(barry.folders.registry.read_text())
    rows["adapters"][0]["path"] = "/nowhere"
    barry.folders.registry.write_text(json.dumps(rows))
    done = barry.run("adapter", "list")
    assert "gone" in done.out
    assert "`barry adapter doctor toy` says what to do" in done.out
    assert barry.run("adapter", "show", "toy").code == 0
    assert barry.run("adapter", "doctor", "toy").code == 1
    assert barry.run("adapter", "remove", "toy").code == 0


def test_nothing_is_installed(barry: Barry, package: Path) -> None:
    assert barry.run("adapter", "list").out.startswith("no adapter is installed")
    assert barry.run("adapter", "list", "--json").json == {"schema": 1, "adapters": []}
    assert barry.run("session", "list").out.startswith("no session yet")


def test_an_interrupted_check_leaves_no_process(barry: Barry, package: Path) -> None:
    mark = barry.top / "loading"
    init = package / "barry_adapter_toy" / "__init__.py"
    init.write_text(f"import time; open({str(mark)!r}, 'w').close(); time.sleep(60)\n")
    with barry.leaves_nothing():
        child = barry.open("adapter", "add", str(package))
        assert eventually(mark.exists, 20)
        child.sendintr()
        assert barry.ended(child) == 130
        assert "Traceback" not in written(child)


def test_only_a_whole_name_is_removed(barry: Barry) -> None:
    says(barry.run("adapter", "remove", "to"), 127, "did you mean toy? `barry adapter remove toy`")
    says(barry.run("adapter", "remove", "tyo"), 127, "did you mean toy?")
    assert ids(barry) == ["toy"]
    assert barry.run("adapter", "show", "to").code == 0  # to look is no harm
    for name in ("dem", "demo", "claude", ""):
        done = barry.run("adapter", "remove", name)
        says(done, 127, "`barry adapter list`")
        assert "adapter add" not in done.err


def test_what_is_shipped_can_be_looked_at_before_it_is_added(barry: Barry) -> None:
    done = barry.run("adapter", "doctor", "claude")
    assert done.code == 1
    assert "warn    record: Barry ships it, and it is not added yet" in done.out
    assert "fix: barry adapter add claude" in done.out
    assert "BROKEN  program: claude is not on this machine" in done.out
    assert "fix: install it: npm install -g" in done.out
    assert ids(barry) == ["toy"]
    says(barry.run("adapter", "add", "claude"), 2, "hint: install it: npm install -g", "--no-vet")
    write_harness(barry.bin / "claude", "#!/bin/sh\necho '2.1.332 (Claude Code)'\n")
    done = barry.run("adapter", "doctor", "claude", "--json")
    assert done.code == 0
    found = {each["name"]: each["status"] for each in done.json["findings"]}
    assert (found["record"], found["version"]) == ("warn", "ok")
    says(barry.run("adapter", "doctor", "nothing"), 127, "no adapter named nothing")


@pytest.mark.parametrize("what", ["/nonexistent", "FILE", "EMPTY"])
def test_what_is_no_package_says_what_one_is(barry: Barry, what: str) -> None:
    (barry.top / "file").touch()
    (barry.top / "empty").mkdir()
    path = {"FILE": barry.top / "file", "EMPTY": barry.top / "empty"}.get(what, Path(what))
    done = barry.run("adapter", "add", str(path))
    says(done, 2, "the folder that holds the package's pyproject.toml", "claude")
    assert "fix the package" not in done.err


def test_a_folder_that_is_gone(barry: Barry) -> None:
    gone = barry.top / "gone"
    code = (
        "import os, sys; os.mkdir(sys.argv[1]); os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]); "
        "os.execv(sys.executable, [sys.executable, '-P', '-m', 'barry_cli', *sys.argv[2:]])"
    )
    shell = ("-c", code, str(gone))
    for verb in ("add", "check"):
        says(barry.run("adapter", verb, ".", python=shell), 2, "the current folder, and that is")
    env = {"BARRY_HOME": "home"}
    for words in (("adapter", "list"), ("adapter", "add", "demo"), ("session", "list")):
        says(barry.run(*words, python=shell, env=env), 125, "BARRY_HOME is home", "absolute path")
    assert barry.run("adapter", "add", "demo", "--no-vet", python=shell).code == 0


def test_a_path_that_is_no_text(barry: Barry, package: Path) -> None:
    path = os.fsdecode(bytes(barry.top) + b"/\xff")
    package.rename(path)
    for verb in ("add", "check"):
        says(barry.run("adapter", verb, path), 2, "not UTF-8", "rename the folder")


@pytest.mark.parametrize("value", ["/dev/null", "~nobody-of-this-name", "/tmp/" + "x" * 300])
def test_a_home_that_can_be_none(barry: Barry, value: str) -> None:
    env = {"BARRY_HOME": value}
    for words in (("adapter", "list"), ("adapter", "add", "demo"), ("session", "list")):
        done = barry.run(*words, env=env)
        says(done, 125, "error: BARRY_HOME is ", "set BARRY_HOME to a folder that is yours")
        assert "aside" not in done.err
    done = barry.run("doctor", env=env)
    assert done.code == 1
    assert "BROKEN  folders: BARRY_HOME is" in done.out


def test_errors_are_cut_to_what_can_be_read(barry: Barry) -> None:
    done = barry.run("adapter", "show", "x" * 50_000)
    says(done, 127, "...")
    assert len(done.err) < 2500
    assert len(barry.run("adapter", "show", "x" * 50_000, "--json").error["message"]) <= 1000


def test_a_record_that_was_tampered_with_moves_no_cursor(barry: Barry) -> None:
    rows = json.loads(barry.folders.registry.read_text())
    rows["adapters"][0]["id"] = "\x1b[2Jtoy"
    barry.folders.registry.write_text(json.dumps(rows))
    for words in (("doctor",), ("adapter", "list"), ("adapter", "doctor"), ("session", "list")):
        done = barry.run(*words)
        assert "\x1b" not in done.out + done.err


def test_a_slow_program_is_named_while_it_is_asked(barry: Barry, package: Path) -> None:
    write_harness(barry.bin / "toy", "#!/bin/sh\nsleep 1.6\necho toy 1.2.3\n")
    child = barry.open("adapter", "add", str(package), "--yes")
    assert barry.ended(child) == 0
    assert f"asking {barry.bin / 'toy'} for its version ..." in written(child)
    assert "asking" not in barry.run("adapter", "add", str(package), "--yes").err
