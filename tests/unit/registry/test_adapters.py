"""The registry: what was checked is recorded, what is recorded is what runs."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from barry_cli.base.paths import Folders, folders
from barry_cli.base.problems import AdapterNotInstalled, AdapterRefused, StoreProblem
from barry_cli.contract.adapter import Adapter
from barry_cli.registry.adapters import Adapters, AddOptions
from barry_cli.registry.store import read_rows, update
from tests.unit.registry.packages import package_of, write_package

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def registry() -> Adapters:
    return Adapters()


async def test_an_added_adapter_is_recorded_listed_and_loaded(
    registry: Adapters, tmp_path: Path
) -> None:
    record = await registry.add(write_package(tmp_path / "toy", aliases=("old-toy",)))
    assert (record.id, record.package_name, record.version) == ("toy", "barry-adapter-toy", "0.1.0")
    assert (record.source, record.path) == ("path", str(tmp_path / "toy"))
    assert record.installed_at.endswith("Z")
    assert registry.installed() == [record]
    assert [row["id"] for row in registry.rows()] == ["toy"]
    for name in ("toy", "old-toy"):
        adapter = await registry.load(name)
        assert isinstance(adapter, Adapter)
        assert adapter.id == "toy"
        assert registry.record(name) == record
    assert registry.record("to") == record
    assert registry.state(record) == registry.state(registry.rows()[0]) == "ok"


async def test_listing_runs_no_code_of_the_adapter(registry: Adapters, tmp_path: Path) -> None:
    package = write_package(tmp_path / "toy")
    await registry.add(package)
    package_of(package).joinpath("__init__.py").write_text("raise SystemExit('ran')")
    assert [record.id for record in registry.installed()] == ["toy"]
    assert registry.state(registry.record("toy")) == "drifted"
    shutil.rmtree(package)
    assert registry.state(registry.record("toy")) == "gone"
    assert registry.remove("toy")


async def test_what_does_not_pass_is_not_recorded(registry: Adapters, tmp_path: Path) -> None:
    package = write_package(tmp_path / "toy", more="vendor='', bag_='',", bag="nam = 1")
    with pytest.raises(AdapterRefused) as caught:
        await registry.add(package)
    assert caught.value.problems
    assert caught.value.exit_code == 2
    assert not folders().registry.exists()


async def test_vetting_comes_after_the_checks_and_before_the_record(
    registry: Adapters, tmp_path: Path
) -> None:
    seen: list[str] = []

    async def vet(adapter: Adapter) -> list[str]:
        seen.append(adapter.id)
        assert registry.rows() == []
        return ["its program is not here"] if len(seen) == 1 else []

    good = write_package(tmp_path / "toy")
    with pytest.raises(AdapterRefused, match="its program is not here"):
        await registry.add(good, AddOptions(vet=vet))
    assert registry.rows() == []
    await registry.add(good, AddOptions(vet=vet))
    assert [row["id"] for row in registry.rows()] == ["toy"]
    with pytest.raises(AdapterRefused):
        await registry.add(write_package(tmp_path / "bad", "bad", bag=""), AddOptions(vet=vet))
    assert seen == ["toy", "toy"]


async def test_adding_again_upgrades_and_says_what_changed(
    registry: Adapters, tmp_path: Path
) -> None:
    package = write_package(tmp_path / "toy")
    first = await registry.add_with_changes(package)
    assert (first.replaced, first.before, first.changes()) == (False, None, {})
    again = await registry.add_with_changes(package)
    assert (again.replaced, again.changes()) == (True, {})
    await registry.add(write_package(tmp_path / "other", "other"))
    write_package(package, version="0.2.0", aliases=("old",))
    added = await registry.add_with_changes(package)
    assert added.before == again.record
    changes = added.changes()
    assert changes["version"] == ("0.1.0", "0.2.0")
    assert changes["aliases"] == ([], ["old"])
    assert set(changes) == {"version", "aliases", "contentHash"}
    assert [row["id"] for row in registry.rows()] == ["toy", "other"]
    assert (await registry.load("old")).aliases == ("old",)


async def test_drift_is_refused_until_it_is_added_again(registry: Adapters, tmp_path: Path) -> None:
    package = write_package(tmp_path / "toy")
    await registry.add(package)
    await registry.load("toy")  # what is loaded already does not hide what changes later
    file = package_of(package) / "checks.py"
    same_size = file.read_text().replace("guest", "quest")
    file.write_text(same_size)
    with pytest.raises(AdapterRefused, match="not those that were checked") as caught:
        await registry.load("toy")
    assert f"barry adapter add {package}" in caught.value.hint
    file.write_text(same_size.replace("quest", "guest"))
    await registry.load("toy")  # the counter-case: the same bytes again are what was checked


async def test_a_package_that_is_gone_is_not_installed(registry: Adapters, tmp_path: Path) -> None:
    package = write_package(tmp_path / "toy")
    await registry.add(package)
    shutil.rmtree(package)
    with pytest.raises(AdapterNotInstalled, match="its package is gone") as caught:
        await registry.load("toy")
    assert "barry adapter remove toy" in caught.value.hint


async def test_who_is_not_installed_is_told_what_was_meant(
    registry: Adapters, tmp_path: Path
) -> None:
    with pytest.raises(AdapterNotInstalled) as caught:
        await registry.load("toy")
    assert caught.value.adapter_id == "toy"
    await registry.add(write_package(tmp_path / "toy", aliases=("former",)))
    for wrong, meant in (("toyy", "toy"), ("formr", "former")):
        with pytest.raises(AdapterNotInstalled) as caught:
            await registry.load(wrong)
        assert caught.value.hint == f"did you mean {meant}?"
    with pytest.raises(AdapterNotInstalled):
        await registry.load("to")  # a prefix is for people, not for programs


async def test_a_prefix_must_mean_one_adapter(registry: Adapters, tmp_path: Path) -> None:
    for name in ("toy-a", "toy-b"):
        await registry.add(write_package(tmp_path / name, name))
    assert registry.record("toy-a").id == "toy-a"
    with pytest.raises(AdapterNotInstalled, match="could be any of toy-a, toy-b"):
        registry.record("toy")
    with pytest.raises(AdapterNotInstalled):
        registry.record("")


async def test_names_that_another_answers_to_are_refused(
    registry: Adapters, tmp_path: Path
) -> None:
    await registry.add(write_package(tmp_path / "one", "one", aliases=("uno",)))
    for name, aliases, kind in (
        ("uno", (), "id uno"),
        ("two", ("one",), "alias one"),
        ("two", ("uno",), "alias uno"),
    ):
        package = write_package(tmp_path / f"{name}{len(aliases)}", name, aliases=aliases)
        with pytest.raises(
            AdapterRefused, match=f"its {kind} is taken by the installed adapter one"
        ):
            await registry.add(package)
    assert [row["id"] for row in registry.rows()] == ["one"]
    await registry.add(write_package(tmp_path / "three", "three", aliases=("drei",)))


async def test_two_adapters_can_not_have_packages_of_one_name(
    registry: Adapters, tmp_path: Path
) -> None:
    await registry.add(write_package(tmp_path / "one", "one", module="shared_toy"))
    with pytest.raises(AdapterRefused, match="package shared_toy has the name of the package of"):
        await registry.add(write_package(tmp_path / "two", "two", module="shared_toy"))


async def test_removing_forgets_the_record_and_leaves_the_package(
    registry: Adapters, tmp_path: Path
) -> None:
    package = write_package(tmp_path / "toy", aliases=("old",))
    await registry.add(package)
    assert registry.remove("nobody") is False
    assert registry.remove("old") is True
    assert registry.remove("toy") is False
    assert registry.rows() == []
    assert package_of(package).is_dir()


@pytest.mark.parametrize(
    ("change", "error", "part"),
    [
        ({"contractVersion": 2}, AdapterRefused, "recorded for contract 2, not 1"),
        ({"path": None}, AdapterRefused, "its record is damaged"),
        ({"contentHash": 3}, AdapterRefused, "its record is damaged"),
        ({"contentHash": "0"}, AdapterRefused, "not those that were checked"),
        ({"entry": "barry_adapter_toy:absent"}, AdapterRefused, "has no absent"),
        ({"entry": "barry_adapter_toy:plan"}, AdapterRefused, "of type function"),
    ],
)
async def test_a_record_that_does_not_hold_loads_nothing(
    registry: Adapters,
    tmp_path: Path,
    change: dict[str, object],
    error: type[Exception],
    part: str,
) -> None:
    await registry.add(write_package(tmp_path / "toy"))
    update(folders(), lambda rows: [{**row, **change} for row in rows])
    with pytest.raises(error, match=part) as caught:
        await registry.load("toy")
    assert isinstance(caught.value, AdapterRefused)
    assert "barry adapter add" in caught.value.hint
    assert registry.state(registry.rows()[0]) in ("ok", "drifted")


async def test_a_package_that_became_another_adapter_is_refused(
    registry: Adapters, tmp_path: Path
) -> None:
    await registry.add(write_package(tmp_path / "toy"))
    update(folders(), lambda rows: [{**row, "id": "tony"} for row in rows])
    with pytest.raises(AdapterRefused, match="now declares adapter toy"):
        await registry.load("tony")


async def test_a_record_of_another_shape_names_itself_and_can_be_replaced(
    registry: Adapters, tmp_path: Path
) -> None:
    package = write_package(tmp_path / "toy")
    await registry.add(package)
    update(folders(), lambda rows: [{**row, "laebl": "x", "aliases": [[], 3]} for row in rows])
    for ask in (registry.installed, lambda: registry.record("toy")):
        with pytest.raises(StoreProblem, match="laebl is not a known key; did you mean label"):
            ask()
    added = await registry.add_with_changes(package)
    assert (added.replaced, added.before) == (True, None)
    assert registry.installed() == [added.record]


async def test_a_broken_registry_stops_everything_and_stays_as_it_is(
    registry: Adapters, tmp_path: Path
) -> None:
    folders().registry.parent.mkdir(parents=True)
    folders().registry.write_text("{")
    with pytest.raises(StoreProblem):
        await registry.add(write_package(tmp_path / "toy"))
    for ask in (registry.rows, registry.installed, registry.vendor_rows):
        with pytest.raises(StoreProblem):
            ask()
    with pytest.raises(StoreProblem):
        registry.remove("toy")
    assert folders().registry.read_text() == "{"


VENDOR = """vendor_code=__import__("barry_cli.adapters", fromlist=("*",)).VendorCode(
    vendors=(__import__("barry_cli.adapters", fromlist=("*",)).Vendor(id={0!r}, label="V"),),
    factories={{{0!r}: lambda model, env: None}},
),"""


async def test_vendors_are_read_off_records_and_their_code_loaded_on_demand(
    registry: Adapters, tmp_path: Path
) -> None:
    for name, vendor in (("one", "acme"), ("two", "bolt"), ("three", "acme")):
        await registry.add(write_package(tmp_path / name, name, more=VENDOR.format(vendor)))
    await registry.add(write_package(tmp_path / "four", "four"))
    assert [vendor.id for vendor in registry.vendor_rows()] == ["acme", "bolt", "acme"]
    loaded = await registry.load_vendor_code()
    assert set(loaded.factories) == {"acme", "bolt"}
    assert loaded.refused == {}
    one = await registry.load("one")
    assert one.vendor_code is not None
    assert loaded.factories["acme"] is one.vendor_code.factories["acme"]  # the first to carry it

    shutil.rmtree(tmp_path / "two")
    (package_of(tmp_path / "three", "three") / "checks.py").write_text("")
    loaded = await registry.load_vendor_code()
    assert set(loaded.factories) == {"acme"}
    assert set(loaded.refused) == {"two", "three"}
    assert "gone" in loaded.why_not("bolt")[0]
    assert loaded.why_not("acme") == loaded.why_not("nobody") == []
    assert [vendor.id for vendor in registry.vendor_rows()] == ["acme", "bolt", "acme"]


async def test_one_process_may_meet_an_adapter_in_several_folders(
    registry: Adapters, tmp_path: Path
) -> None:
    await registry.add(write_package(tmp_path / "here"))
    first = await registry.load("toy")
    added = await registry.add_with_changes(write_package(tmp_path / "there"))
    assert added.changes() == {"path": (str(tmp_path / "here"), str(tmp_path / "there"))} | {
        "bag": added.changes()["bag"]
    }
    second = await registry.load("toy")
    assert second is not first
    assert second is await registry.load("toy")


async def test_a_registry_of_ones_own(tmp_path: Path) -> None:
    where = Folders(*(tmp_path / name for name in ("c", "data", "s", "k", "r")))
    await Adapters(where).add(write_package(tmp_path / "toy"))
    assert [row["id"] for row in read_rows(where)] == ["toy"]
    assert read_rows(folders()) == []


ADD = """
import asyncio, sys
from barry_cli.registry.adapters import Adapters
asyncio.run(Adapters(load_seconds=100).add(sys.argv[1]))
"""


def test_twenty_adapters_added_at_once_are_all_recorded(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    adders = [
        subprocess.Popen(
            [sys.executable, "-c", ADD, write_package(tmp_path / f"toy-{n}", f"toy-{n}")], env=env
        )
        for n in range(20)
    ]
    assert [adder.wait(timeout=100) for adder in adders] == [0] * 20
    assert {record.id for record in Adapters().installed()} == {f"toy-{n}" for n in range(20)}


async def test_cancelling_an_add_ends_its_child_and_records_nothing(
    registry: Adapters, tmp_path: Path
) -> None:
    mark = tmp_path / "pid"
    code = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    adding = asyncio.ensure_future(registry.add(write_package(tmp_path / "toy", before=code)))
    for _ in range(500):
        if adding.done() or (mark.exists() and mark.read_text()):
            break
        await asyncio.sleep(0.02)
    assert adding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await adding
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)
    assert registry.rows() == []


def test_loading_for_a_launch_needs_no_heavy_module(tmp_path: Path) -> None:
    asyncio.run(Adapters().add(write_package(tmp_path / "toy")))
    code = (
        "import sys\n"
        "from barry_cli.registry.adapters import Adapters\n"
        "registry = Adapters(); registry.record('toy')\n"
        "try: registry.load('toy').send(None)\n"
        "except StopIteration as done: adapter = done.value\n"
        "print(adapter.id, *sorted({'jsonschema', 'tomllib', 'asyncio', 'subprocess', 'packaging'}"
        " & set(sys.modules)))"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["toy"]


def test_rows_are_the_file(tmp_path: Path) -> None:
    asyncio.run(Adapters().add(write_package(tmp_path / "toy")))
    document = json.loads(folders().registry.read_text())
    assert document["schema"] == 1
    assert document["adapters"] == Adapters().rows()
