"""A package's code is loaded by its own name, without a place on the path."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from barry_cli.registry.content import PackageProblem
from barry_cli.registry.load import load_module, load_object


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    before = set(sys.modules)
    path = list(sys.path)
    yield
    assert sys.path == path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_package_may_import_itself_each_way_and_read_its_data(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "loaded_one/__init__.py": "from . import near\nimport loaded_one.far\n"
            "from loaded_one.far import FAR\nfrom importlib.resources import files\n"
            "DATA = files('loaded_one').joinpath('bag.toml').read_text()\nadapter = near.NEAR\n",
            "loaded_one/near.py": "NEAR = 'near'\n",
            "loaded_one/far.py": "FAR = 'far'\n",
            "loaded_one/bag.toml": "data",
            "loaded_one/later.py": "LATER = __name__\n",
        },
    )
    module = load_module(str(tmp_path), "loaded_one")
    assert (module.near.NEAR, module.FAR, module.DATA) == ("near", "far", "data")
    from importlib import import_module

    assert import_module("loaded_one.later").LATER == "loaded_one.later"  # after the load, too
    assert load_object(str(tmp_path), "loaded_one:adapter") == "near"


def test_an_entry_may_be_in_a_module_below_and_an_attribute_of_one(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "loaded_two/__init__.py": "",
            "loaded_two/inner.py": "class Holder:\n    adapter = 3\n",
        },
    )
    assert load_object(str(tmp_path), "loaded_two.inner:Holder.adapter") == 3


def test_a_single_file_is_a_package_of_one(tmp_path: Path) -> None:
    write(tmp_path, {"src/loaded_three.py": "adapter = __file__\n"})
    assert load_object(str(tmp_path), "loaded_three:adapter") == str(
        tmp_path / "src/loaded_three.py"
    )


def test_what_runs_is_what_is_there_now(tmp_path: Path) -> None:
    files = {
        "loaded_four/__init__.py": "from loaded_four.value import adapter\n",
        "loaded_four/value.py": "adapter = 1\n",
    }
    write(tmp_path, files)
    assert load_object(str(tmp_path), "loaded_four:adapter") == 1
    write(tmp_path, {"loaded_four/value.py": "adapter = 22\n"})
    assert load_object(str(tmp_path), "loaded_four:adapter") == 22


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def broken(:\n    pass\n", "__init__.py:1: invalid syntax"),
        ("\n\nraise ValueError('no')\n", "__init__.py:3: ValueError: no"),
        ("import sys\nsys.exit(3)\n", "__init__.py:2: it ends the process (sys.exit 3)"),
        ("import nowhere_at_all\n", "__init__.py:1: it imports nowhere_at_all, which is not"),
        ("from . import absent\n", "cannot import name 'absent'"),
        ("def f(): f()\nf()\n", "RecursionError"),
        ("other = 1\n", "has no adapter"),
    ],
)
def test_each_failure_says_where_and_leaves_nothing_loaded(
    tmp_path: Path, code: str, reason: str
) -> None:
    write(tmp_path, {"loaded_five/__init__.py": code, "loaded_five/other.py": ""})
    with pytest.raises(PackageProblem) as caught:
        load_object(str(tmp_path), "loaded_five:adapter")
    (problem,) = caught.value.problems
    assert reason in problem
    if "has no" not in reason:
        assert "loaded_five" not in sys.modules


def test_an_interrupt_passes_and_leaves_nothing_loaded(tmp_path: Path) -> None:
    write(tmp_path, {"loaded_six/__init__.py": "raise KeyboardInterrupt\n"})
    with pytest.raises(KeyboardInterrupt):
        load_object(str(tmp_path), "loaded_six:adapter")
    assert "loaded_six" not in sys.modules


@pytest.mark.parametrize("name", ["json", "barry_cli", "pytest"])
def test_no_package_stands_in_for_another_module(tmp_path: Path, name: str) -> None:
    there = sys.modules.get(name)
    write(tmp_path, {f"{name}/__init__.py": "adapter = 1\n"})
    with pytest.raises(PackageProblem, match=f"name {name} is taken"):
        load_object(str(tmp_path), f"{name}:adapter")
    assert sys.modules.get(name) is there


def test_a_package_that_the_process_itself_imported_is_that_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"loaded_seven.py": "adapter = object()\n"})
    monkeypatch.syspath_prepend(str(tmp_path))
    from importlib import import_module

    there = import_module("loaded_seven")
    assert load_object(str(tmp_path), "loaded_seven:adapter") is there.adapter
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import os; os.chdir('/')", "the current folder"),
        ("import os; os.umask(0)", "the umask"),
        ("import sys; sys.path.insert(0, '/nowhere')", "sys.path"),
        ("import sys; sys.path = ['/nowhere']", "sys.path"),
        ("import os; os.chdir('/'); raise ValueError", ""),
    ],
)
def test_what_it_changes_of_the_process_is_put_back_and_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    mask = os.umask(0o027)
    try:
        write(tmp_path, {"loaded_eight/__init__.py": f"adapter = 1\n{code}\n"})
        with pytest.raises(PackageProblem) as caught:
            load_object(str(tmp_path), "loaded_eight:adapter")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(mask)
    assert Path.cwd() == tmp_path
    assert "loaded_eight" not in sys.modules
    if what:
        assert caught.value.problems == [
            f"it changes {what} while it is loaded, and a package only declares"
        ]


def test_what_it_puts_back_itself_is_no_change(tmp_path: Path) -> None:
    code = "import os, sys\nwas = os.getcwd()\nos.chdir('/')\nos.chdir(was)\nadapter = 1\n"
    code += "sys.path.append('/nowhere')\nsys.path.remove('/nowhere')\nos.umask(os.umask(0))\n"
    write(tmp_path, {"loaded_nine/__init__.py": code})
    assert load_object(str(tmp_path), "loaded_nine:adapter") == 1
