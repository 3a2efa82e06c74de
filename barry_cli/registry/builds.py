"""Whether an observed build is the one that an adapter's promises were shown on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from barry_cli.base.problems import HarnessVersionMismatch
from barry_cli.contract.requirements import Pin

if TYPE_CHECKING:
    from packaging.version import Version

Judgement = Literal["verified", "unverified", "mismatch", "unknown"]
"""``unverified``: near enough to start; ``mismatch``: outside the family; ``unknown``: no answer,
which is no mismatch."""


def judge(observed: str | None, verified_on: str, pin: Pin) -> Judgement:
    """How an observed build stands to the verified one.

    The family is the pin's own, else the same release line: equal major, and equal minor while
    major is 0. A build that can't be compared is outside it.
    """
    if observed is None:
        return "unknown"
    if observed == verified_on:
        return "verified"
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    here, there = _version(observed), _version(verified_on)
    if here is None or there is None:
        return "mismatch"
    if here == there and _exact(observed) and _exact(verified_on):
        return "verified"
    if pin.family is None:
        return "unverified" if _line(here) == _line(there) else "mismatch"
    try:
        near = SpecifierSet(pin.family).contains(here, prereleases=True)
    except InvalidSpecifier:
        return "mismatch"
    return "unverified" if near else "mismatch"


def require_family(
    adapter_id: str,
    binary: str,
    observed: str | None,
    verified_on: str,
    pin: Pin,
    *,
    allow_unverified: bool = False,
) -> Judgement:
    """The judgement; with leave to run any build, a mismatch becomes ``unverified``.

    Raises HarnessVersionMismatch for a build outside the family.
    """
    judgement = judge(observed, verified_on, pin)
    if judgement != "mismatch" or observed is None:
        return judgement
    if allow_unverified:
        return "unverified"
    family = f"builds {pin.family}" if pin.family else "its release line"
    raise HarnessVersionMismatch(
        f"{binary} is build {observed}, and adapter {adapter_id} was verified on {verified_on}: "
        f"that is outside {family}",
        adapter_id,
        binary,
        observed,
        verified_on,
    )


def _version(text: str) -> Version | None:
    """A version, of a nightly or otherwise marked build the numbers that it begins with."""
    from packaging.version import InvalidVersion, Version

    for candidate in (text, _numbers(text)):
        try:
            return Version(candidate)
        except InvalidVersion:
            continue
    return None


def _numbers(text: str) -> str:
    """The leading ``1.2.3`` of ``v1.2.3-nightly.4``; empty when there is none."""
    import re

    found = re.match(r"v?(\d+(?:\.\d+)*)(?![^\s+-])", text)
    return found.group(1) if found else ""


def _exact(text: str) -> bool:
    """Whether the text is a version as a whole, nothing of it left out."""
    from packaging.version import InvalidVersion, Version

    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _line(version: Version) -> tuple[int, ...]:
    return (version.major,) if version.major else (0, version.minor)
