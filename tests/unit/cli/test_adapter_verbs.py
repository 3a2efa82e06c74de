"""``barry adapter``: added with leave, listed, shown, removed."""

from __future__ import annotations

import json
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
    assert "Traceback" not in written(child)
    assert ids(barry) == added


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


@pytest.mark.parametrize("name", ["toy", "oldtoy", "to"])
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
