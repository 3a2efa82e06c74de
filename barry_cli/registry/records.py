"""What Barry knows about an adapter without loading its code (seed 000)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from barry_cli.bags.manifest import BagManifest
from barry_cli.contract.adapter import CallKind, Mode
from barry_cli.contract.data import Data, JsonSchema
from barry_cli.contract.levels import MODE_IDS, ModeId
from barry_cli.contract.models import Vendor
from barry_cli.contract.requirements import HarnessCapabilities, OfferedModel, Requirements

if TYPE_CHECKING:
    from barry_cli.contract.adapter import Adapter

CONTRACT_VERSION: Literal[1] = 1
"""The version of the contract that packages are checked against."""

Source = Literal["path", "shipped", "distribution"]

Record = TypeVar("Record")


class RecordedMode(Mode):
    """A mode without its code."""

    structured_output: Literal["native", "prompted"] | None = None
    """Of a hosted mode alone."""
    ruled: tuple[CallKind, ...] = ()
    """Of a launch mode whose gating is hooks: the kinds of call that were shown to be ruled on."""


class InstalledBag(Data):
    """Validated bag declarations, readable without loading adapter code."""

    path: str
    """The folder that holds the manifest."""
    manifest: BagManifest


class RecordedVendorCode(Data):
    """The data half of an adapter's vendor code; its factories are loaded when asked for."""

    vendors: tuple[Vendor, ...]


class InstalledAdapter(Data):
    """The record of one adapter: enough to list it, show it and find its program."""

    id: str
    label: str
    version: str
    """The package's own version."""
    package_name: str
    contract_version: Literal[1]
    installed_at: str
    """When it was recorded, ISO 8601 in UTC."""
    source: Source
    path: str
    """The folder that the package is loaded from."""
    entry: str
    """``module:attribute`` of the adapter in its package."""
    content_hash: str
    """SHA-256 of the package's files; other files are refused."""
    content_stamp: str
    """Sizes and times of those files, so that unchanged ones are not read again. May be empty."""
    checked: int
    """How many checks it passed."""
    aliases: tuple[str, ...] = ()
    default_mode: ModeId
    modes: dict[ModeId, RecordedMode | None]
    native_tools: tuple[str, ...]
    capabilities: HarnessCapabilities
    requirements: Requirements
    bag: InstalledBag | None = None
    experimental: str | None = None
    offered_models: tuple[OfferedModel, ...] | None = None
    options: JsonSchema | None = None
    vendor: str | None = None
    vendor_code: RecordedVendorCode | None = None


def snapshot_adapter(
    adapter: Adapter,
    *,
    package_name: str,
    version: str,
    source: Source,
    path: str,
    entry: str,
    content_hash: str,
    content_stamp: str,
    checked: int,
    installed_at: str,
    bag: InstalledBag | None,
) -> InstalledAdapter:
    """The record of an adapter that passed its checks."""
    code = adapter.vendor_code
    return InstalledAdapter(
        id=adapter.id,
        label=adapter.label,
        version=version,
        package_name=package_name,
        contract_version=CONTRACT_VERSION,
        installed_at=installed_at,
        source=source,
        path=path,
        entry=entry,
        content_hash=content_hash,
        content_stamp=content_stamp,
        checked=checked,
        aliases=adapter.aliases,
        default_mode=adapter.default_mode,
        modes={name: recorded_mode(adapter.modes[name]) for name in MODE_IDS},
        native_tools=adapter.native_tools,
        capabilities=adapter.capabilities,
        requirements=adapter.requirements,
        bag=bag,
        experimental=adapter.experimental,
        offered_models=adapter.offered_models,
        options=adapter.options,
        vendor=adapter.vendor,
        vendor_code=None if code is None else RecordedVendorCode(vendors=code.vendors),
    )


def recorded_mode(mode: Mode | None) -> RecordedMode | None:
    """A mode without its code, or None where the adapter answers "not today"."""
    if mode is None:
        return None
    known = RecordedMode.model_fields
    return RecordedMode(**{name: value for name, value in mode if name in known})


def find_installed(records: Iterable[Record], id: str) -> Record | None:
    """The record that answers to an id: by its own id first, else by one of its aliases.

    Records are objects or mappings with ``id`` and perhaps ``aliases``.
    """
    found = None
    for record in records:
        if _read(record, "id") == id:
            return record
        if found is None and id in (_read(record, "aliases") or ()):
            found = record
    return found


def _read(record: object, name: str) -> Any:
    if isinstance(record, Mapping):
        return record.get(name)
    return getattr(record, name, None)
