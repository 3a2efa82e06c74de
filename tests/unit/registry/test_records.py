"""A record says all that can be said without the adapter's code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import ValidationError

from barry_cli.bags.manifest import BagManifest
from barry_cli.contract.adapter import Evidence, SessionMode
from barry_cli.contract.data import snapshot
from barry_cli.contract.levels import MODE_IDS
from barry_cli.contract.models import Vendor, VendorCode
from barry_cli.contract.requirements import OfferedModel
from barry_cli.registry.records import (
    InstalledAdapter,
    InstalledBag,
    find_installed,
    snapshot_adapter,
)
from barry_cli.registry.sample import test_adapter as sample


def recorded(**overrides: Any) -> InstalledAdapter:
    return snapshot_adapter(
        sample(**overrides),
        package_name="barry-adapter-sample",
        version="0.1.0",
        source="path",
        path="/somewhere",
        entry="barry_adapter_sample:adapter",
        content_hash="ab",
        content_stamp="",
        checked=7,
        installed_at="2026-01-01T00:00:00Z",
        bag=InstalledBag(path="/somewhere/bag", manifest=BagManifest(name="sample")),
    )


async def start(config: object, engine: object) -> object:
    return config


def full() -> InstalledAdapter:
    guest = sample().modes["guest"]
    assert guest is not None
    hosted = SessionMode(
        guarantees=guest.guarantees,
        verified_on="1.0.0",
        evidence=Evidence(check="a:b", proves="it"),
        structured_output="native",
        start=start,  # type: ignore[arg-type]  # only its presence counts here
    )
    return recorded(
        aliases=("old",),
        modes={"guest": guest, "instrumented": None, "hosted": hosted},
        options={"type": "object", "properties": {"a": {"default": None}}},
        offered_models=(OfferedModel(id="v/m", label="M"),),
        vendor_code=VendorCode(vendors=(Vendor(id="v", label="V"),), factories={}),
    )


@pytest.mark.parametrize("record", [recorded(), full()])
def test_a_record_survives_its_file(record: InstalledAdapter) -> None:
    text = json.dumps(snapshot(record))
    read = InstalledAdapter.model_validate(json.loads(text), by_alias=True, by_name=False)
    assert read == record
    assert snapshot(read) == json.loads(text)


def test_its_keys_are_camel_case_and_every_mode_is_answered() -> None:
    row = snapshot(full())
    assert row["contractVersion"] == 1
    assert row["packageName"] == "barry-adapter-sample"
    assert list(row["modes"]) == list(MODE_IDS)
    assert row["modes"]["instrumented"] is None
    assert "plan" not in row["modes"]["guest"]
    assert row["modes"]["hosted"]["structuredOutput"] == "native"
    assert row["vendorCode"] == {"vendors": [{"id": "v", "label": "V", "models": []}]}
    assert row["options"]["properties"] == {"a": {"default": None}}


def test_another_contract_is_no_record() -> None:
    with pytest.raises(ValidationError):
        InstalledAdapter.model_validate({**snapshot(full()), "contractVersion": 2})


@dataclass
class Row:
    id: str
    aliases: tuple[str, ...] = ()


def test_a_record_is_found_by_id_first_and_by_alias_then() -> None:
    rows = [Row("a", ("b", "c")), Row("b"), Row("d")]
    assert find_installed(rows, "b") is rows[1]
    assert find_installed(rows, "c") is rows[0]
    assert find_installed(rows, "d") is rows[2]
    assert find_installed(rows, "e") is None
    assert find_installed([], "a") is None
    plain: list[dict[str, object]] = [{"id": "a", "aliases": ["c"]}, {"id": "b"}]
    assert find_installed(plain, "c") is plain[0]
    assert find_installed(plain, "b") is plain[1]
    record = full()
    assert find_installed([record], "old") is record
