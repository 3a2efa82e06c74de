"""What a package says about itself is read without running it, and each fault has its sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from barry_cli.base.problems import AdapterNotInstalled
from barry_cli.registry.package import LIMIT_BYTES, find_package, read_package
from tests.conftest import AsNobody
from tests.unit.registry.packages import write_package

POINT = '[project.entry-points."barry.adapters"]\ntoy = "toy:adapter"\n'
NAMED = '[project]\nname = "p"\nversion = "1"\n'


def told(folder: Path, text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    (folder / "pyproject.toml").write_bytes(data)
    return "\n".join(read_package(str(folder), source="path").problems)


def test_a_package_is_read(tmp_path: Path) -> None:
    package = read_package(str(write_package(tmp_path)), source="path")
    assert package.problems == ()
    assert (package.called, package.name, package.version, package.entry) == (
        "toy",
        "barry-adapter-toy",
        "0.1.0",
        "barry_adapter_toy:adapter",
    )


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("name = ", "isn't TOML"),
        ("x = " + "[" * 100_000, "isn't TOML"),
        (b"\xff", "can't be read"),
        ("", "has no [project]"),
        ("project = 3", "has no [project]"),
        (POINT, "project.name is missing"),
        (POINT, "project.version is missing"),
        ('[project]\nname = "p"\ndynamic = ["version"]\n' + POINT, "is dynamic"),
        (NAMED, "has no entry point"),
        (NAMED + '[project.entry-points."barry.adapters"]', "has no entry point"),
        (NAMED + POINT + 'other = "toy:other"\n', "several entry points (toy, other)"),
        (NAMED + POINT.replace("toy:adapter", "toy"), "not 'module:attribute'"),
        (NAMED + POINT.replace('"toy:adapter"', "3"), "not 'module:attribute'"),
        (NAMED + 'dependencies = "x"\n' + POINT, "must be a list of texts"),
        (NAMED + 'dependencies = ["a b c"]\n' + POINT, "'a b c' is not a requirement"),
        (NAMED + 'requires-python = ">=99"\n' + POINT, "it needs Python >=99"),
        (NAMED + 'requires-python = "new"\n' + POINT, "is not a set of versions"),
        (NAMED + POINT.replace("toy:", "json:"), "the package's name json is taken"),
        (NAMED + POINT.replace("toy:", "jsonschema.x:"), "the package's name jsonschema is taken"),
    ],
)
def test_each_fault_has_its_sentence(tmp_path: Path, text: str | bytes, part: str) -> None:
    assert part in told(tmp_path, text)


def test_missing_dependencies_are_one_problem_that_names_them_all(tmp_path: Path) -> None:
    needs = '["absent-one", "pydantic>=99", "absent-two[x]>=1; python_version>\'3\'", "pydantic"]'
    problems = told(tmp_path, f"{NAMED}dependencies = {needs}\n{POINT}").splitlines()
    assert len(problems) == 1
    for part in ("absent-one", "pydantic>=99 (here is 2.", "absent-two[x]>=1"):
        assert part in problems[0]


def test_dependencies_that_are_met_or_not_meant_are_no_problem(tmp_path: Path) -> None:
    needs = '["barry-cli", "pydantic>=2", "absent; python_version<\'3\'"]'
    assert told(tmp_path, f"{NAMED}dependencies = {needs}\n{POINT}") == ""
    assert "barry-cli>=99" in told(tmp_path, f'{NAMED}dependencies = ["barry-cli>=99"]\n{POINT}')


def test_a_folder_that_can_not_be_read_is_one_sentence(tmp_path: Path) -> None:
    def why(path: Path) -> str:
        (problem,) = read_package(str(path), source="path").problems
        return problem

    assert why(tmp_path) == f"{tmp_path} holds no pyproject.toml"
    assert why(tmp_path / "absent") == f"there is no folder {tmp_path / 'absent'}"
    file = tmp_path / "file"
    file.write_text("")
    assert "is not a folder" in why(file)
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    assert "symbolic links" in why(loop)
    os.mkfifo(tmp_path / "pyproject.toml")
    assert "is not a regular file" in why(tmp_path)
    (tmp_path / "pyproject.toml").unlink()
    (tmp_path / "pyproject.toml").symlink_to("pyproject.toml")
    assert "symbolic links" in why(tmp_path)
    (tmp_path / "pyproject.toml").unlink()
    (tmp_path / "pyproject.toml").write_text("#" * (LIMIT_BYTES + 1))
    assert "1 MiB" in why(tmp_path)
    assert read_package("a\0b", source="path").problems


def test_a_project_that_may_not_be_read_is_one_sentence(
    as_nobody: AsNobody, open_folder: Path
) -> None:
    file = write_package(open_folder) / "pyproject.toml"
    file.chmod(0)

    def work() -> tuple[bool, tuple[str, ...]]:
        try:
            file.read_bytes()
        except PermissionError:
            forbidden = True
        else:
            forbidden = False
        return forbidden, read_package(str(open_folder), source="path").problems

    assert as_nobody(work) == (True, (f"{file} can't be read: Permission denied",))


def test_a_name_that_nobody_has_says_so() -> None:
    with pytest.raises(AdapterNotInstalled) as caught:
        find_package("no-such-adapter-here")
    assert caught.value.exit_code == 127
    assert caught.value.hint


def test_a_folder_in_the_current_one_may_be_named_plainly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_package(tmp_path / "mine", "mine")
    monkeypatch.chdir(tmp_path)
    found = find_package("mine")
    assert (found.source, found.path) == ("path", str(tmp_path / "mine"))


def test_a_shipped_adapter_is_not_hidden_by_a_folder_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "shipped"
    for name in ("demo", "toy"):
        write_package(shipped / name, name)
    monkeypatch.setattr("barry_cli.registry.shipped.shipped_root", lambda: str(shipped))
    (tmp_path / "cwd").mkdir()
    write_package(tmp_path / "cwd/toy", "toy", version="6.6.6")
    monkeypatch.chdir(tmp_path / "cwd")
    assert find_package("toy").source == "shipped"
    assert find_package("toy").version == "0.1.0"
    assert find_package("./toy").version == "6.6.6"
    with pytest.raises(AdapterNotInstalled) as caught:
        find_package("tooy")
    assert caught.value.hint == "did you mean toy?"


def write_distribution(site: Path, name: str, entry: str, more: str = "") -> None:
    info = site / f"{name.replace('-', '_')}-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n{more}\n")
    (info / "entry_points.txt").write_text(f"[barry.adapters]\n{entry}\n")


def test_an_installed_distribution_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_package(tmp_path / "made", "toy")
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "made/barry_adapter_toy").rename(site / "barry_adapter_toy")
    write_distribution(
        site,
        "toy-dist",
        "toy = barry_adapter_toy:adapter",
        "Requires-Dist: pydantic\nRequires-Dist: absent ; extra == 'more'",
    )
    monkeypatch.syspath_prepend(str(site))
    found = find_package("toy")
    assert found.problems == ()
    assert (found.source, found.name, found.version) == ("distribution", "toy-dist", "2.0")
    assert (found.path, found.entry) == (str(site), "barry_adapter_toy:adapter")
    # The source of what is installed as well is no stranger to it.
    assert read_package(str(write_package(tmp_path / "again")), source="path").problems == ()
    write_distribution(site, "other-dist", "toy = elsewhere:adapter")
    (problem,) = find_package("toy").problems
    assert problem == "several installed distributions have an adapter toy: other-dist, toy-dist"


def test_a_distribution_without_its_code_or_its_needs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_distribution(
        tmp_path, "toy-dist", "toy = nowhere_toy:adapter", "Requires-Dist: absent-one"
    )
    write_distribution(tmp_path, "bad-dist", "bad = nowhere_toy")
    monkeypatch.syspath_prepend(str(tmp_path))
    problems = "\n".join(find_package("toy").problems)
    assert "absent-one" in problems
    assert "no package nowhere_toy that is plain files" in problems
    assert "not 'module:attribute'" in "\n".join(find_package("bad").problems)


@pytest.mark.parametrize(("key", "value"), [("name", "x" * 201), ("version", "1\\u001b[2J")])
def test_a_name_that_no_line_can_bear(tmp_path: Path, key: str, value: str) -> None:
    file = write_package(tmp_path) / "pyproject.toml"
    lines = [
        f'{key} = "{value}"' if line.startswith(f"{key} =") else line
        for line in file.read_text().splitlines()
    ]
    file.write_text("\n".join(lines))
    (problem,) = read_package(str(tmp_path), source="path").problems
    assert problem.endswith(f"project.{key} must be one line of at most 200 letters")
