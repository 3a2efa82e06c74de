"""Where an adapter package is and what it says about itself, read without running any of it."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from barry_cli.base.ids import nearest
from barry_cli.base.problems import AdapterNotInstalled, UsageProblem

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from barry_cli.registry.records import Source

GROUP = "barry.adapters"
"""The entry point group by which a package says that it holds an adapter."""

LIMIT_BYTES = 1 << 20
LONGEST_NAME = 200

_ID = re.compile("[a-z][a-z0-9-]{0,63}")
_ENTRY = re.compile(r"\s*([A-Za-z_][\w.]*)\s*:\s*([A-Za-z_][\w.]*)\s*")


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package that declares an adapter; with problems, as much of it as could be read."""

    called: str
    """What to call it in messages: the adapter's id where that is known."""
    name: str = ""
    version: str = ""
    entry: str = ""
    """``module:attribute``"""
    path: str = ""
    source: Source = "path"
    problems: tuple[str, ...] = ()
    hint: str = ""
    """What to do, where mending the package is not it."""


def find_package(what: str) -> Package:
    """The package at a path or of a name: a shipped adapter, an installed distribution, a folder.

    Raises AdapterNotInstalled when it could only be a name and there is none such.
    """
    from barry_cli.registry.shipped import shipped_ids, shipped_path

    # A folder of that name in the current directory never stands in for what Barry ships.
    if _ID.fullmatch(what):
        if shipped := shipped_path(what):
            return read_package(shipped, source="shipped")
        if installed := _distribution(what):
            return installed
        if not os.path.isdir(what):
            known = sorted({*shipped_ids(), *(point.name for point in _points())})
            guess = nearest(what, known)
            hint = "give the path of a package" + (
                f", or one of {', '.join(known)}" if known else ""
            )
            raise AdapterNotInstalled(
                what,
                message=f"there is no adapter {what}: Barry ships none, no installed distribution "
                "has one, and there is no folder of that name",
                hint=f"did you mean {guess}?" if guess else hint,
            )
    return read_package(_whole(what), source="path")


def _whole(what: str) -> str:
    """The absolute path. Raises UsageProblem for one that can't be recorded."""
    try:
        path = os.path.abspath(os.path.expanduser(what))
        path.encode()
    except OSError:
        raise UsageProblem(
            f"{what} is relative to the current folder, and that is gone",
            hint="cd to a folder that is there, or give an absolute path",
        ) from None
    except UnicodeEncodeError:
        raise UsageProblem(
            f"the path {what!a} is not UTF-8, so no record could name it",
            hint="rename the folder, or copy the package elsewhere",
        ) from None
    return path


def read_package(path: str, *, source: Source) -> Package:
    """What the ``pyproject.toml`` of a folder says, with everything that is wrong about it."""
    import tomllib

    called = os.path.basename(path) or path
    file = os.path.join(path, "pyproject.toml")
    text, problem = _text(path, file)
    if problem:
        hint = _where_packages_are() if not os.path.isfile(file) else ""
        return Package(called=called, path=path, source=source, problems=(problem,), hint=hint)
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return Package(
            called=called, path=path, source=source, problems=(f"{file} isn't TOML: {error}",)
        )
    project = document.get("project")
    if not isinstance(project, dict):
        return Package(
            called=called, path=path, source=source, problems=(f"{file} has no [project]",)
        )
    return _from_project(project, file, path, source)


def _where_packages_are() -> str:
    from barry_cli.registry.shipped import shipped_ids

    names = ", ".join(shipped_ids())
    return "give the folder that holds the package's pyproject.toml" + (
        f", or one of {names}" if names else ""
    )


def _from_project(project: dict[str, Any], file: str, path: str, source: Source) -> Package:
    problems = []
    texts = {}
    dynamic = project.get("dynamic")
    for key in ("name", "version"):
        value = project.get(key)
        texts[key] = value if isinstance(value, str) else ""
        if not texts[key].strip():
            later = isinstance(dynamic, list) and key in dynamic
            why = "is dynamic, and only a build could tell it" if later else "is missing"
            problems.append(f"{file}: project.{key} {why}: write it out")
        elif not texts[key].isprintable() or len(texts[key]) > LONGEST_NAME:
            problems.append(
                f"{file}: project.{key} must be one line of at most {LONGEST_NAME} letters"
            )
    points = project.get("entry-points")
    group = points.get(GROUP) if isinstance(points, dict) else None
    called, entry = "", ""
    if not isinstance(group, dict) or not group:
        problems.append(f'{file} has no entry point: [project.entry-points."{GROUP}"] names none')
    elif len(group) > 1:
        names = ", ".join(str(name) for name in group)
        problems.append(f'{file}: "{GROUP}" has several entry points ({names}), and needs one')
    else:
        called, target = next(iter(group.items()))
        found = _ENTRY.fullmatch(target) if isinstance(target, str) else None
        if found is None:
            problems.append(f"{file}: entry point {called} is {target!r}, not 'module:attribute'")
        else:
            entry = f"{found[1]}:{found[2]}"
            problems += _taken(found[1].partition(".")[0], path)
    needs = project.get("dependencies", [])
    if isinstance(needs, list) and all(isinstance(each, str) for each in needs):
        problems += _unmet(needs)
    else:
        problems.append(f"{file}: project.dependencies must be a list of texts")
    problems += _python(project.get("requires-python"))
    return Package(
        called=called or os.path.basename(path),
        name=texts["name"],
        version=texts["version"],
        entry=entry,
        path=path,
        source=source,
        problems=tuple(problems),
    )


def _taken(top: str, path: str) -> list[str]:
    """A package must not stand in for another one that is installed where Barry runs."""
    there = _folder_of(top)
    own = (path, os.path.join(path, "src"))
    if there is None or os.path.realpath(there) in map(os.path.realpath, own):
        return []
    # The same adapter, installed as well, is no stranger.
    if any(point.value.partition(":")[0].partition(".")[0] == top for point in _points()):
        return []
    return [f"the package's name {top} is taken by the one in {there}"]


def _text(path: str, file: str) -> tuple[str, str]:
    """The text of a file, or a sentence that says why there is none."""
    try:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            return "", f"{path} is not a folder: give the one that holds the pyproject.toml"
        facts = os.stat(file)
        if not stat.S_ISREG(facts.st_mode):
            return "", f"{file} is not a regular file"
        if facts.st_size > LIMIT_BYTES:
            return "", f"{file} has more than {LIMIT_BYTES >> 20} MiB"
        with open(file, encoding="utf-8") as opened:
            return opened.read(), ""
    except FileNotFoundError as error:
        if error.filename == file:
            return "", f"{path} holds no pyproject.toml"
        return "", f"there is no folder {path}"
    except OSError as error:
        return "", f"{error.filename} can't be read: {error.strerror or error}"
    except ValueError as error:  # not UTF-8, or a NUL in the path
        return "", f"{file} can't be read: {error}"


def _unmet(needs: list[str]) -> list[str]:
    """The declared dependencies that are not met here: one sentence that names them all."""
    import importlib.metadata

    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    import barry_cli

    bad, missing = [], []
    for text in needs:
        try:
            need = Requirement(text)
        except InvalidRequirement:
            bad.append(f"project.dependencies: {text!r} is not a requirement")
            continue
        if need.marker is not None and not need.marker.evaluate({"extra": ""}):
            continue
        try:
            # Barry itself is there, whether or not it was installed by a package manager.
            own = canonicalize_name(need.name) == "barry-cli"
            have = barry_cli.__version__ if own else importlib.metadata.version(need.name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(text)
            continue
        if not need.specifier.contains(have, prereleases=True):
            missing.append(f"{text} (here is {have})")
    if missing:
        what = "a dependency that is" if len(missing) == 1 else "dependencies that are"
        bad.append(f"it has {what} not installed where Barry runs: {', '.join(missing)}")
    return bad


def _python(wanted: object) -> list[str]:
    import platform

    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    if wanted is None:
        return []
    try:
        fits = SpecifierSet(str(wanted)).contains(platform.python_version(), prereleases=True)
    except InvalidSpecifier:
        return [f"project.requires-python {wanted!r} is not a set of versions"]
    here = platform.python_version()
    return [] if fits else [f"it needs Python {wanted}, and Barry runs on {here}"]


def _points() -> list[EntryPoint]:
    import importlib.metadata

    return list(importlib.metadata.entry_points(group=GROUP))


def _distribution(id: str) -> Package | None:
    """The installed distribution whose entry point has this name."""
    points = [point for point in _points() if point.name == id]
    if not points:
        return None
    holders = {(point.dist.name, point.dist.version) for point in points if point.dist is not None}
    if len(holders) > 1:
        names = ", ".join(sorted(name for name, _ in holders))
        return Package(
            called=id,
            source="distribution",
            problems=(f"several installed distributions have an adapter {id}: {names}",),
        )
    point = points[0]
    found = _ENTRY.fullmatch(point.value)
    if point.dist is None or found is None:
        return Package(
            called=id,
            source="distribution",
            problems=(f"entry point {id} is {point.value!r}, not 'module:attribute'",),
        )
    path = _folder_of(found[1].partition(".")[0])
    problems = _unmet([each for each in point.dist.requires or [] if "extra ==" not in each])
    if path is None:
        problems.append(f"{point.dist.name} has no package {found[1]} that is plain files")
    return Package(
        called=id,
        name=point.dist.name,
        version=point.dist.version,
        entry=f"{found[1]}:{found[2]}",
        path=path or "",
        source="distribution",
        problems=tuple(problems),
    )


def _folder_of(top: str) -> str | None:
    """The folder that a package would be imported from; looked up, not imported.

    What this process has loaded already is not asked: that may be an adapter of another folder.
    """
    import sys

    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(top, None)
        except Exception:  # a finder of somebody else's knows of nothing, then
            spec = None
        if spec is None:
            continue
        if spec.origin is None or not os.path.isfile(spec.origin):
            return None
        package = os.path.basename(spec.origin) == "__init__.py"
        return os.path.dirname(os.path.dirname(spec.origin) if package else spec.origin)
    return None
