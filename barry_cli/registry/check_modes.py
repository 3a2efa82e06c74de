"""The rules of one mode: possible guarantees, evidence that exists, code of the right shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from barry_cli.contract.adapter import CALL_KINDS, LaunchMode, Mode, NativeControl, SessionMode
from barry_cli.contract.guarantees import raised
from barry_cli.contract.levels import stronger
from barry_cli.registry.builds import judge
from barry_cli.registry.ledger import Ledger, describe

if TYPE_CHECKING:
    from barry_cli.contract.levels import ModeId
    from barry_cli.contract.requirements import Pin, Requirements

EGRESS_PLATFORMS = frozenset({"linux"})
"""Where Barry has an egress sandbox."""

STEERING = frozenset({"tool-call", "wake-peer-framed", "wake"})
"""Delivery that can reach a turn while it runs."""

_OWN = "barry_cli"
_SAMPLE = "barry_cli.registry.sample"


def check_mode(
    ledger: Ledger,
    mode_id: ModeId,
    mode: Mode,
    *,
    hosted: Mode | None,
    requirements: Requirements | None,
    native_tools: tuple[str, ...],
    experimental: bool,
    package: str | None,
) -> None:
    """Check a mode whose fields are of their declared types."""
    place = f"modes.{mode_id}"
    if requirements is not None:
        check_version(ledger, f"{place}.verified_on", mode.verified_on, requirements.binary.pin)
    _guarantees(ledger, place, mode_id, mode, hosted)
    if isinstance(mode, LaunchMode):
        _ruled(ledger, place, mode_id, mode)
    _platforms(ledger, place, mode, requirements)
    if mode.native is not None:
        _native(ledger, f"{place}.native", mode.native, native_tools)
    ledger.hold(bool(mode.evidence.proves.strip()), f"{place}.evidence.proves says nothing")
    functions = _functions(ledger, place, mode)
    if not experimental:
        packages = [package] if package else _packages(functions)
        problem = evidence_problem(mode.evidence.check, packages)
        ledger.hold(problem is None, f"{place}.evidence.check: {problem}")


def check_version(ledger: Ledger, place: str, version: str, pin: Pin) -> None:
    """A version must be one, and belong to the family of the pin."""
    if not ledger.hold(_is_version(version), f"{place} {version!r} is not a version"):
        return
    if pin.family is not None and not ledger.hold(
        _is_family(pin.family),
        f"requirements.binary.pin.family {pin.family!r} is not a set of versions such as '>=1,<2'",
    ):
        return
    family = pin.family or f"the release line of {pin.version}"
    # A declared family alone decides; compared with the pin, the pin itself would always be in it.
    other = pin.version if pin.family is None else "0.dev0"
    near = judge(version, other, pin) in ("verified", "unverified")
    ledger.hold(near, f"{place} {version} is outside {family}")


def is_async(function: object, arguments: int) -> bool:
    """Whether this is an async function that can be called with so many arguments."""
    import inspect

    if not callable(function) or isinstance(function, type):
        return False
    called = inspect.getattr_static(type(function), "__call__", None)
    if not inspect.iscoroutinefunction(function) and not inspect.iscoroutinefunction(called):
        return False
    try:
        inspect.signature(function).bind(*([None] * arguments))
    except (TypeError, ValueError):
        return False
    return True


def evidence_problem(check: str, packages: list[str]) -> str | None:
    """Why a check is not a runnable one of these packages; None when it is."""
    import importlib

    module, colon, name = check.partition(":")
    if not (module and colon and name.isidentifier()):
        return f"{check!r} is not written module:function"
    if not all(part.isidentifier() for part in module.split(".")):
        return f"{module!r} is not the name of a module"
    absent, failures = [], []
    for full in _candidates(module, packages):
        try:
            function = getattr(importlib.import_module(full), name, None)
        except ModuleNotFoundError as error:
            if error.name and f"{full}.".startswith(f"{error.name}."):
                absent.append(f"there is no module {full}")
            else:
                failures.append(f"{full} can't be loaded: {describe(error)}")
            continue
        except (Exception, SystemExit) as error:
            return f"{full} can't be loaded: {describe(error)}"
        if function is None:
            failures.append(f"{full} has no {name}")
        elif not is_async(function, 1):
            return f"{full}:{name} is not an async function of one argument, the ProofContext"
        else:
            return None
    outside = f"{module} is outside the adapter's package"
    return next(iter((*failures, *absent, outside)))


def _candidates(module: str, packages: list[str]) -> list[str]:
    """The full names that a check's module may stand for, inside these packages alone."""
    found = []
    for package in packages:
        if module == package or module.startswith(f"{package}."):
            found.append(module)
        elif package not in (_OWN, _SAMPLE):
            found.append(f"{package}.{module}")
    return found


def _packages(functions: list[Callable[..., Any]]) -> list[str]:
    """The packages that a mode's own functions come from."""
    modules = (getattr(function, "__module__", None) for function in functions)
    tops = [module.partition(".")[0] for module in modules if isinstance(module, str)]
    return list(dict.fromkeys([top for top in tops if top != _OWN] + [_SAMPLE]))


def _functions(ledger: Ledger, place: str, mode: Mode) -> list[Callable[..., Any]]:
    """The mode's functions, each checked for its shape."""
    shapes: list[tuple[str, object, int]] = []
    if isinstance(mode, LaunchMode):
        shapes = [("plan", mode.plan, 1)]
    elif isinstance(mode, SessionMode):
        shapes = [("start", mode.start, 2)]
        if mode.adopt is not None:
            shapes.append(("adopt", mode.adopt, 2))
        if mode.open_continuation is not None:
            shapes.append(("open_continuation", mode.open_continuation, 2))
    found: list[Callable[..., Any]] = []
    for name, function, arguments in shapes:
        wanted = "(config)" if arguments == 1 else "of two arguments"
        ledger.hold(
            is_async(function, arguments), f"{place}.{name} is not an async function {wanted}"
        )
        if callable(function):
            found.append(function)
    return found


def _guarantees(
    ledger: Ledger, place: str, mode_id: ModeId, mode: Mode, hosted: Mode | None
) -> None:
    have = mode.guarantees
    says = f"{place}.guarantees"
    if mode_id == "guest":
        ledger.hold(
            not stronger("gating", have.gating, "static"),
            f"{says}.gating is {have.gating}, and in guest nobody rules on a call: static at most",
        )
    ledger.hold(
        not have.steer or have.delivery in STEERING,
        f"{says}.steer is true, and delivery {have.delivery} reaches no running turn",
    )
    if mode_id == "hosted":
        ledger.hold(not have.keeps_vendor_ui, f"{says}.keeps_vendor_ui is true, and Barry drives")
        ledger.hold(mode.attaches_to is None, f"{place}.attaches_to is for launch modes")
        return
    ledger.hold(have.keeps_vendor_ui, f"{says}.keeps_vendor_ui is false, and a person drives")
    if mode.attaches_to is None:
        ledger.hold(
            have.gating != "per-call",
            f"{says}.gating is per-call, and only a hosted session asks about each call",
        )
        ledger.hold(
            have.capture != "total", f"{says}.capture is total, and only a hosted session sees all"
        )
    elif ledger.hold(
        hosted is not None, f"{place}.attaches_to is hosted, and that mode is not offered"
    ):
        more = raised(hosted.guarantees, have) if isinstance(hosted, Mode) else []
        ledger.hold(not more, f"{says} promises more than hosted does: {', '.join(more)}")


def _ruled(ledger: Ledger, place: str, mode_id: ModeId, mode: LaunchMode) -> None:
    """Which kinds of call are ruled on: said where single calls are, and nowhere else."""
    gating = mode.guarantees.gating
    ledger.hold(len(set(mode.ruled)) == len(mode.ruled), f"{place}.ruled names a kind twice")
    if mode_id != "instrumented":
        ledger.hold(not mode.ruled, f"{place}.ruled is for the instrumented mode")
    elif gating == "hooks":
        ledger.hold(
            bool(mode.ruled),
            f"{place}.guarantees.gating is hooks, and {place}.ruled names no kind of call that was "
            f"shown to be ruled on ({', '.join(CALL_KINDS)})",
        )
    elif mode.attaches_to is None:
        ledger.hold(
            not mode.ruled,
            f"{place}.ruled says that calls are ruled on, and guarantees.gating is {gating}",
        )


def _platforms(ledger: Ledger, place: str, mode: Mode, requirements: Requirements | None) -> None:
    shown = mode.platforms
    ledger.hold(shown is None or len(shown) > 0, f"{place}.platforms is empty; leave it out")
    if not mode.egress_sandbox:
        return
    where = shown or (requirements.platforms if requirements is not None else None)
    if ledger.hold(
        where is not None,
        f"{place}.egress_sandbox holds nowhere but on {', '.join(sorted(EGRESS_PLATFORMS))}: "
        f"say so in {place}.platforms",
    ):
        without = [each for each in where or () if each not in EGRESS_PLATFORMS]
        ledger.hold(
            not without,
            f"{place}.egress_sandbox is declared for {', '.join(without)}, where Barry has none",
        )


def _native(
    ledger: Ledger, place: str, native: NativeControl, native_tools: tuple[str, ...]
) -> None:
    groups = native.inseparable or ()
    named = {
        "grantable": native.grantable,
        "inseparable": tuple(tool for group in groups for tool in group),
        "uncontrolled": tuple(native.uncontrolled or ()),
    }
    for field, tools in named.items():
        for tool in tools:
            ledger.hold(
                tool in native_tools,
                f"{place}.{field} names {tool!r}, which is not in native_tools",
            )
    for group in groups:
        ledger.hold(len(set(group)) > 1, f"{place}.inseparable has a group of fewer than two tools")
    for tool, reason in (native.uncontrolled or {}).items():
        ledger.hold(bool(reason.strip()), f"{place}.uncontrolled gives no reason for {tool}")


def _is_version(text: str) -> bool:
    import re

    from packaging.version import InvalidVersion, Version

    try:
        Version(text)
    except InvalidVersion:
        # A marked build, such as 1.2.3-nightly.4, counts by the numbers that it begins with.
        return re.match(r"v?\d+(\.\d+)+(?![^\s+-])", text) is not None
    return True


def _is_family(text: str) -> bool:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return len(SpecifierSet(text)) > 0
    except InvalidSpecifier:
        return False
