"""Whether an adapter's declarations hold up: every rule, every problem at once, never an exception.

An adapter comes from a stranger's package, so nothing about it is taken for granted, not even
that its attributes are of their declared types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from pydantic import ValidationError

from barry_cli.bags.manifest import BagManifest
from barry_cli.base.ids import nearest
from barry_cli.contract.adapter import Adapter, LaunchMode, Mode, SessionMode, TranscriptSource
from barry_cli.contract.data import Data
from barry_cli.contract.levels import MODE_IDS, PLATFORMS, ModeId
from barry_cli.contract.models import Vendor, VendorCode, split_model
from barry_cli.contract.requirements import HarnessCapabilities, OfferedModel, Requirements
from barry_cli.policy.sentences import sentences
from barry_cli.registry.check_bag import check_bag
from barry_cli.registry.check_modes import check_mode, check_version
from barry_cli.registry.ledger import Ledger

ID_PATTERN = "[a-z][a-z0-9-]{0,63}"
LONGEST_NAME = 200

Model = TypeVar("Model", bound=Data)


@dataclass(frozen=True, slots=True)
class AdapterCheck:
    """What checking an adapter came to."""

    checked: int
    """How many checks ran. Zero is a broken checker, not a clean adapter."""
    problems: list[str]


def check_adapter(
    adapter: Adapter,
    *,
    bag_manifest: BagManifest | Mapping[str, Any] | None = None,
    package: ModuleType | str | None = None,
) -> AdapterCheck:
    """Check all that an adapter declares.

    ``bag_manifest`` is the parsed manifest, when the adapter declares a bag. ``package`` is the
    imported package, or its name, that evidence is looked up in; absent, the packages that the
    adapter's own functions come from.
    """
    ledger = Ledger()
    # By its type: what an object says of its own class may be anything.
    kind = type(adapter)
    if ledger.hold(
        issubclass(kind, Adapter), f"the adapter is of type {kind.__name__}, not Adapter"
    ):
        name = package.__name__ if isinstance(package, ModuleType) else package
        ledger.part("the adapter", _check, ledger, adapter, bag_manifest, name)
    return AdapterCheck(ledger.checked, ledger.problems)


def _check(
    ledger: Ledger,
    adapter: Adapter,
    bag: BagManifest | Mapping[str, Any] | None,
    package: str | None,
) -> None:
    ledger.part("id", _identity, ledger, adapter)
    ledger.part("native_tools", _native_tools, ledger, adapter)
    capabilities = ledger.part(
        "capabilities", _declared, ledger, "capabilities", adapter, HarnessCapabilities
    )
    requirements = ledger.part(
        "requirements", _declared, ledger, "requirements", adapter, Requirements
    )
    if capabilities is not None:
        ledger.part("capabilities", _capabilities, ledger, capabilities)
    if requirements is not None:
        ledger.part("requirements", _requirements, ledger, requirements)
    modes = ledger.part("modes", _modes, ledger, adapter) or {}
    tools = ledger.part("native_tools", _tools, adapter) or ()
    experimental = ledger.part("experimental", _is_experimental, adapter) or False
    for mode_id, mode in modes.items():
        ledger.part(
            f"modes.{mode_id}",
            check_mode,
            ledger,
            mode_id,
            mode,
            hosted=modes.get("hosted"),
            requirements=requirements,
            native_tools=tools,
            experimental=experimental,
            package=package,
        )
    ledger.part("models", _models, ledger, adapter)
    ledger.part("options", _options, ledger, adapter)
    ledger.part("vendor_code", _vendor_code, ledger, adapter)
    ledger.part("code", _code, ledger, adapter)
    ledger.part("bag", check_bag, ledger, adapter, bag, tools)


def _declared(ledger: Ledger, place: str, holder: object, kind: type[Model]) -> Model | None:
    """A declaration as it should be, or None after naming all that is wrong with it.

    Validated once more, because a model can be built without being looked at.
    """
    return _as_declared(ledger, place, getattr(holder, place, None), kind)


def _as_declared(ledger: Ledger, place: str, value: object, kind: type[Model]) -> Model | None:
    """``_declared`` for a value at hand."""
    if not ledger.hold(
        isinstance(value, kind), f"{place} is of type {type(value).__name__}, not {kind.__name__}"
    ):
        return None
    model = type(value) if isinstance(value, kind) else kind
    try:
        return model.model_validate(_plain(value))
    except ValidationError as error:
        ledger.problems += sentences(error, model, under=place, by_name=True)
        return None
    finally:
        ledger.checked += len(model.model_fields)


def _plain(value: object) -> object:
    """Data as dictionaries all the way down, so that validation looks at every part."""
    if isinstance(value, Data):
        fields = type(value).model_fields
        return {name: _plain(getattr(value, name)) for name in fields if hasattr(value, name)}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _tools(adapter: Adapter) -> tuple[str, ...]:
    """The native tools that are names; none where there is no sequence of them."""
    value: object = adapter.native_tools
    if not isinstance(value, tuple | list):
        return ()
    return tuple(each for each in value if isinstance(each, str))


def _is_experimental(adapter: Adapter) -> bool:
    return _filled(adapter.experimental)


def _filled(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_name(value: object) -> bool:
    """Whether a text can stand in a line: no control characters, not too long."""
    return (
        isinstance(value, str)
        and bool(value.strip())
        and value.isprintable()
        and len(value) <= LONGEST_NAME
    )


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _identity(ledger: Ledger, adapter: Adapter) -> None:
    import re

    grammar = re.compile(ID_PATTERN)

    def is_id(value: object) -> bool:
        return isinstance(value, str) and grammar.fullmatch(value) is not None

    rule = "lower-case letters, digits and hyphens, a letter first, at most 64"
    ledger.hold(is_id(adapter.id), f"id {_quoted(adapter.id)} is not an id ({rule})")
    ledger.hold(
        _is_name(adapter.label),
        f"label {_quoted(adapter.label)} must be one line of text, "
        f"of at most {LONGEST_NAME} letters",
    )
    aliases = adapter.aliases
    if ledger.hold(isinstance(aliases, tuple | list), "aliases must be a tuple of ids"):
        for alias in aliases:
            ledger.hold(is_id(alias), f"alias {_quoted(alias)} is not an id ({rule})")
            ledger.hold(alias != adapter.id, f"alias {_quoted(alias)} is the id itself")
        ledger.hold(
            all(alias not in aliases[:place] for place, alias in enumerate(aliases)),
            "aliases name one id twice",
        )
    experimental = adapter.experimental
    ledger.hold(
        experimental is None or _filled(experimental),
        "experimental must name the missing evidence, or be None",
    )


def _native_tools(ledger: Ledger, adapter: Adapter) -> None:
    tools = adapter.native_tools
    if not ledger.hold(isinstance(tools, tuple | list), "native_tools must be a tuple of names"):
        return
    seen: set[str] = set()
    for tool in tools:
        if not ledger.hold(_is_name(tool), f"native_tools holds {_quoted(tool)}, which is no name"):
            continue
        # Policy compares names without regard to case.
        ledger.hold(tool.casefold() not in seen, f"native_tools names {tool} twice")
        seen.add(tool.casefold())


def _capabilities(ledger: Ledger, capabilities: HarnessCapabilities) -> None:
    transports = capabilities.mcp_transports
    ledger.hold(
        len(set(transports)) == len(transports), "capabilities.mcp_transports names one twice"
    )


def _requirements(ledger: Ledger, requirements: Requirements) -> None:
    import re

    binary, pin = requirements.binary, requirements.binary.pin
    ledger.hold(_filled(binary.command), "requirements.binary.command is empty")
    try:
        groups = re.compile(binary.version_pattern).groups
        ledger.hold(
            groups == 1,
            f"requirements.binary.version_pattern has {groups} groups, and needs exactly one: "
            "the version",
        )
    except (re.error, RecursionError, OverflowError) as error:
        ledger.hold(False, f"requirements.binary.version_pattern is not a pattern: {error}")
    ledger.hold(
        _filled(pin.enforced_by),
        "requirements.binary.pin.enforced_by is empty: a pin that nothing enforces is a wish",
    )
    check_version(ledger, "requirements.binary.pin.version", pin.version, pin)
    for path in binary.paths:
        ledger.hold(
            path.startswith(("/", "~")),
            f"requirements.binary.paths names {path!r}, which is not absolute",
        )
    ledger.hold(
        any((binary.install.linux, binary.install.darwin, binary.install.fallback)),
        "requirements.binary.install says nowhere how to install the program",
    )
    platforms = requirements.platforms
    ledger.hold(
        platforms is None or len(platforms) > 0,
        f"requirements.platforms is empty; leave it out, or name some of {', '.join(PLATFORMS)}",
    )


def _modes(ledger: Ledger, adapter: Adapter) -> dict[ModeId, Mode]:
    """The modes that are offered and of the right type."""
    modes: object = adapter.modes
    if not ledger.hold(
        isinstance(modes, dict), f"modes is of type {type(modes).__name__}, not a dictionary"
    ) or not isinstance(modes, dict):
        return {}
    for slot in modes:
        guess = nearest(str(slot), MODE_IDS)
        ledger.hold(
            slot in MODE_IDS,
            f"modes has a slot {slot!r}, which is no mode" + (f"; {guess}?" if guess else ""),
        )
    offered: dict[ModeId, Mode] = {}
    for mode_id in MODE_IDS:
        if not ledger.hold(
            mode_id in modes, f"modes.{mode_id} is not answered; None is the answer 'not today'"
        ):
            continue
        if modes[mode_id] is None:
            continue
        kind = SessionMode if mode_id == "hosted" else LaunchMode
        mode = _as_declared(ledger, f"modes.{mode_id}", modes[mode_id], kind)
        if mode is not None:
            offered[mode_id] = mode
    answers = [modes.get(mode_id) for mode_id in MODE_IDS]
    ledger.hold(any(answer is not None for answer in answers), "no mode is offered")
    default: object = adapter.default_mode
    if ledger.hold(
        default in MODE_IDS,
        f"default_mode is {default!r}, and must be one of {', '.join(MODE_IDS)}",
    ):
        ledger.hold(
            modes.get(default) is not None, f"default_mode is {default}, and that is not offered"
        )
    return offered


def _models(ledger: Ledger, adapter: Adapter) -> None:
    vendor, models = adapter.vendor, adapter.offered_models
    ledger.hold(vendor is None or _is_name(vendor), f"vendor {_quoted(vendor)} is not a name")
    if models is None:
        return
    ledger.hold(
        vendor is None,
        f"offered_models is given beside vendor {vendor}: a harness with a vendor offers the "
        "vendor's models",
    )
    if not ledger.hold(
        isinstance(models, tuple | list), "offered_models must be a tuple of OfferedModel"
    ):
        return
    for place, each in enumerate(models):
        model = _as_declared(ledger, f"offered_models[{place}]", each, OfferedModel)
        if model is None:
            continue
        try:
            split_model(model.id)
            ledger.checked += 1
        except ValueError as error:
            ledger.hold(False, f"offered_models[{place}]: {error}")


def _options(ledger: Ledger, adapter: Adapter) -> None:
    if adapter.options is None:
        return
    from barry_cli.base.json_schema import schema_problems

    ledger.checked += 1
    ledger.problems += [f"options: {problem}" for problem in schema_problems(adapter.options)]


def _vendor_code(ledger: Ledger, adapter: Adapter) -> None:
    code: object = adapter.vendor_code
    if code is None or not ledger.hold(
        isinstance(code, VendorCode),
        f"vendor_code is of type {type(code).__name__}, not VendorCode",
    ):
        return
    assert isinstance(code, VendorCode)
    vendors: object = code.vendors
    whole = isinstance(vendors, tuple | list)
    ledger.hold(whole, "vendor_code.vendors must be a tuple of Vendor")
    known: list[str] = []
    for place, each in enumerate(vendors if isinstance(vendors, tuple | list) else ()):
        vendor = _as_declared(ledger, f"vendor_code.vendors[{place}]", each, Vendor)
        if vendor is None:
            continue
        ledger.hold(vendor.id not in known, f"vendor_code.vendors names {vendor.id} twice")
        known.append(vendor.id)
    factories: object = code.factories
    if not ledger.hold(
        isinstance(factories, Mapping), "vendor_code.factories must be a dictionary"
    ) or not isinstance(factories, Mapping):
        return
    for name, factory in factories.items():
        ledger.hold(name in known, f"vendor_code.factories has {name!r}, which is no vendor of it")
        ledger.hold(callable(factory), f"vendor_code.factories[{name!r}] can't be called")


def _code(ledger: Ledger, adapter: Adapter) -> None:
    from barry_cli.registry.check_modes import is_async

    transcript: object = adapter.transcript
    ledger.hold(
        transcript is None
        or (isinstance(transcript, TranscriptSource) and not isinstance(transcript, type)),
        "transcript is not a TranscriptSource (find, list, read)",
    )
    models: Callable[..., object] | None = adapter.list_models
    ledger.hold(models is None or is_async(models, 1), "list_models is not an async (env) function")
    ledger.hold(
        adapter.resolve_binary is None or callable(adapter.resolve_binary),
        "resolve_binary can't be called",
    )
    ledger.hold(
        adapter.telemetry is None or callable(adapter.telemetry), "telemetry can't be called"
    )
