"""The installed adapters: recorded, listed without their code, loaded when asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, Literal

from barry_cli.base import paths
from barry_cli.base.ids import matching
from barry_cli.base.problems import AdapterNotInstalled, AdapterRefused, StoreProblem
from barry_cli.registry.content import PackageProblem, locate, unchanged
from barry_cli.registry.load import load_object
from barry_cli.registry.rows import (
    absent,
    find_row,
    how_to_add_again,
    not_there_to_remove,
    present_row,
    refuse_clashes,
    vendor_ids,
)
from barry_cli.registry.store import Row, read_rows, update

if TYPE_CHECKING:
    from barry_cli.base.paths import Folders
    from barry_cli.contract.adapter import Adapter
    from barry_cli.contract.models import Vendor, VendorFactories
    from barry_cli.registry.examine import Examined
    from barry_cli.registry.records import InstalledAdapter

LOAD_SECONDS = 20.0

_CONTRACT = 1

State = Literal["ok", "gone", "drifted"]
"""Whether a record's package is what was checked, is missing, or has other files."""


@dataclass(frozen=True, kw_only=True)
class AddOptions:
    """How an adapter is added."""

    vet: Callable[[Adapter], Awaitable[list[str]]] | None = None
    """Problems of running this adapter on this machine. Asked after its declarations pass and
    before anything is recorded."""


@dataclass(frozen=True, kw_only=True)
class Added:
    """What adding an adapter came to."""

    record: InstalledAdapter
    before: InstalledAdapter | None
    """The record that it replaces; None when there was none that could be read."""
    replaced: bool
    """Whether the id was installed before."""

    def changes(self) -> dict[str, tuple[object, object]]:
        """What differs from the record before: camelCase field -> (before, now)."""
        from barry_cli.contract.data import snapshot

        if self.before is None:
            return {}
        old, new = snapshot(self.before), snapshot(self.record)
        fields = dict.fromkeys([*old, *new])
        for passing in ("checked", "contentStamp", "installedAt"):
            fields.pop(passing, None)
        return {
            name: (old.get(name), new.get(name))
            for name in fields
            if old.get(name) != new.get(name)
        }


@dataclass(frozen=True, kw_only=True)
class VendorCodeLoaded:
    """The vendor call code of the installed adapters."""

    factories: VendorFactories = field(default_factory=dict)
    refused: dict[str, list[str]] = field(default_factory=dict)
    """Adapter id -> why its code could not be loaded. Its vendors' rows stay available."""
    vendors: Mapping[str, str] = field(default_factory=dict)
    """Vendor id -> the adapter that carries it, loaded or refused."""

    def why_not(self, vendor: str) -> list[str]:
        """Why a vendor that an installed adapter carries can't be reached; empty otherwise."""
        return self.refused.get(self.vendors.get(vendor, ""), [])


class Adapters:
    """The registry of one user (seed 000)."""

    def __init__(
        self, folders: Folders | None = None, *, load_seconds: float = LOAD_SECONDS
    ) -> None:
        """``load_seconds``: how long a package may take to load and be checked when it is added."""
        self._folders = folders or paths.folders()
        self._load_seconds = load_seconds
        self._loaded: dict[str, tuple[_Package, Adapter]] = {}

    async def add(
        self, path: str | PathLike[str], options: AddOptions | None = None
    ) -> InstalledAdapter:
        """Load, check and record the adapter package at a path, or of a name.

        A name is that of a shipped adapter, else of an installed distribution's entry point.
        Nothing is recorded that did not pass. Raises AdapterRefused with every problem,
        AdapterNotInstalled when there is no such name, and StoreProblem.
        """
        return (await self.add_with_changes(path, options)).record

    async def add_with_changes(
        self, path: str | PathLike[str], options: AddOptions | None = None
    ) -> Added:
        """``add``, which also says what was recorded under the id before."""
        found = await self.inspect(path)
        record = found.record
        if record is None or found.problems:
            raise AdapterRefused(found.called, found.problems, hint=found.hint)
        refuse_clashes(record, read_rows(self._folders))
        if options is not None and options.vet is not None:
            adapter = _adapter(record.id, record.path, record.entry, "")
            if problems := await options.vet(adapter):
                raise AdapterRefused(
                    record.id, problems, hint="mend that, or pass --no-vet to record it as it is"
                )
        return self._record(record)

    async def inspect(self, path: str | PathLike[str]) -> Examined:
        """Load and check the package at a path, or of a name, and record nothing.

        Its problems are in the answer. Raises AdapterNotInstalled when there is no such name.
        """
        from barry_cli.registry.examine import examine
        from barry_cli.registry.package import find_package

        return await examine(find_package(fspath(path)), seconds=self._load_seconds)

    def rows(self) -> list[Row]:
        """The records as plain JSON, without the cost of their types."""
        return read_rows(self._folders)

    def installed(self) -> list[InstalledAdapter]:
        """The records alone: no adapter code runs. Raises StoreProblem for one that is damaged."""
        return [self._typed(row) for row in self.rows()]

    def record(self, id: str) -> InstalledAdapter:
        """The record of an id, an alias, or the beginning of one id alone.

        Raises AdapterNotInstalled and StoreProblem.
        """
        return self._typed(self._meant(id))

    def resolve(self, id: str) -> str:
        """The id that an id, an alias, or the beginning of one id alone stands for.

        As ``record``, without the cost of its types.
        """
        meant: str = self._meant(id)["id"]
        return meant

    def _meant(self, id: str) -> Row:
        rows = self.rows()
        row = find_row(rows, id)
        if row is None:
            close = matching(id, [each["id"] for each in rows]) if id else []
            if len(close) > 1:
                raise AdapterNotInstalled(
                    id,
                    message=f"{id} could be any of {', '.join(close)}",
                    hint="write more of the id",
                )
            if not close:
                raise absent(id, rows)
            row = find_row(rows, close[0])
        assert row is not None
        return row

    async def load(self, id: str) -> Adapter:
        """The adapter of an id or alias, its code loaded into this process.

        Raises AdapterNotInstalled when it isn't recorded or its package has gone, and
        AdapterRefused when the package is no longer what was checked.
        """
        return self._load(present_row(self.rows(), id))

    async def load_vendor_code(self) -> VendorCodeLoaded:
        """The vendor call code of every adapter that carries some.

        One that fails to load is named in the answer and takes nobody else down.
        """
        carriers: dict[str, str] = {}
        loaded = VendorCodeLoaded(vendors=carriers)
        for row in self.rows():
            for vendor in vendor_ids(row):
                carriers.setdefault(vendor, row["id"])
        for row in self.rows():
            if not vendor_ids(row):
                continue
            try:
                code = self._load(row).vendor_code
            except (AdapterRefused, AdapterNotInstalled) as problem:
                reasons = (
                    problem.problems if isinstance(problem, AdapterRefused) else [str(problem)]
                )
                loaded.refused[row["id"]] = list(reasons)
                continue
            for vendor, factory in (code.factories if code is not None else {}).items():
                if carriers.get(vendor) == row["id"]:
                    loaded.factories[vendor] = factory
        return loaded

    def not_there(self, id: str) -> AdapterNotInstalled:
        """Why ``remove`` found nothing, and what was probably meant."""
        return not_there_to_remove(id, self.rows())

    def remove(self, id: str) -> bool:
        """Forget an id or alias. Its package and its harness stay. False when it wasn't there."""
        removed = False

        def without(rows: list[Row]) -> list[Row]:
            nonlocal removed
            row = find_row(rows, id)
            removed = row is not None
            return [each for each in rows if each is not row]

        if find_row(self.rows(), id) is not None:
            update(self._folders, without)
        return removed

    def vendor_rows(self) -> list[Vendor]:
        """Every vendor that an installed adapter declares, read off the records."""
        return [
            vendor
            for record in self.installed()
            if record.vendor_code is not None
            for vendor in record.vendor_code.vendors
        ]

    def state(self, record: InstalledAdapter | Row) -> State:
        """Whether a record's package is still there, and still what was checked.

        A record that does not say where its package is counts as drifted: the repair is the same.
        """
        try:
            package = _package(record)
            locate(package.path, package.entry)
        except AdapterRefused:
            return "drifted"
        except PackageProblem:
            return "gone"
        try:
            return "ok" if package.is_as_checked() else "drifted"
        except PackageProblem:
            return "drifted"

    def _load(self, row: Row) -> Adapter:
        if row.get("contractVersion") != _CONTRACT:
            raise AdapterRefused(
                row["id"],
                [f"it was recorded for contract {row.get('contractVersion')}, not {_CONTRACT}"],
                hint=how_to_add_again(row),
            )
        package = _package(row)
        known = self._loaded.get(row["id"])
        try:
            locate(package.path, package.entry)
        except PackageProblem as problem:
            raise AdapterNotInstalled(
                row["id"],
                message=f"adapter {row['id']} is recorded, but its package is gone: {problem}",
                hint="put it back, or `barry adapter add` it from where it is now, or drop its "
                f"record with `barry adapter remove {row['id']}`",
            ) from problem
        try:
            same = package.is_as_checked()
        except PackageProblem as problem:
            raise AdapterRefused(
                row["id"], problem.problems, hint=how_to_add_again(row)
            ) from problem
        if not same:
            raise AdapterRefused(
                row["id"],
                [f"the files of its package in {package.path} are not those that were checked"],
                hint=how_to_add_again(row),
            )
        if known is None or known[0] != package:
            known = package, _adapter(row["id"], package.path, package.entry, how_to_add_again(row))
            self._loaded[row["id"]] = known
        return known[1]

    def _record(self, record: InstalledAdapter) -> Added:
        from barry_cli.contract.data import snapshot

        replaced: list[Row] = []

        def with_record(rows: list[Row]) -> list[Row]:
            refuse_clashes(record, rows)
            replaced[:] = [row for row in rows if row["id"] == record.id]
            new = snapshot(record)
            if not replaced:
                return [*rows, new]
            return [new if row is replaced[0] else row for row in rows if row not in replaced[1:]]

        update(self._folders, with_record)
        self._loaded.pop(record.id, None)
        before = None
        if replaced:
            try:
                before = self._typed(replaced[0])
            except StoreProblem:
                before = None  # whatever it was, it has been replaced
        return Added(record=record, before=before, replaced=bool(replaced))

    def _typed(self, row: Row) -> InstalledAdapter:
        from pydantic import ValidationError

        from barry_cli.policy.sentences import sentences
        from barry_cli.registry.records import InstalledAdapter

        try:
            return InstalledAdapter.model_validate(row, by_alias=True, by_name=False)
        except ValidationError as error:
            path = self._folders.registry
            raise StoreProblem(
                f"{path}: the record of adapter {row['id']} does not fit this Barry: "
                f"{'; '.join(sentences(error, InstalledAdapter))}",
                hint=f"{how_to_add_again(row)}, or `barry adapter remove {row['id']}` to drop it",
                details={"path": str(path), "adapterId": row["id"]},
            ) from error


@dataclass(frozen=True)
class _Package:
    """What a record says about the package that was checked."""

    path: str
    entry: str
    hash: str
    stamp: str

    def is_as_checked(self) -> bool:
        return unchanged(self.path, self.entry, self.hash, self.stamp)


def _package(record: InstalledAdapter | Row) -> _Package:
    """Raises AdapterRefused when a record does not say where its package is."""
    if not isinstance(record, dict):
        return _Package(record.path, record.entry, record.content_hash, record.content_stamp)
    values = [record.get(key) for key in ("path", "entry", "contentHash", "contentStamp")]
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) != len(values) or not all(texts[:3]):
        raise AdapterRefused(record["id"], ["its record is damaged"], hint=how_to_add_again(record))
    return _Package(*texts)


def _adapter(id: str, path: str, entry: str, again: str) -> Adapter:
    from barry_cli.contract.adapter import Adapter

    try:
        value = load_object(path, entry)
    except PackageProblem as problem:
        raise AdapterRefused(id, problem.problems, hint=again) from problem
    if not isinstance(value, Adapter):
        raise AdapterRefused(id, [f"{entry} is of type {type(value).__name__}, not Adapter"])
    if value.id != id:
        raise AdapterRefused(id, [f"its package now declares adapter {value.id}"], hint=again)
    return value
