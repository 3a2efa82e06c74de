"""Keeping a compiled policy, so that the next ``barry bound check`` need not make it again."""

from __future__ import annotations

import contextlib
import marshal
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from barry_cli.base.files import write_atomic
from barry_cli.base.paths import folders
from barry_cli.base.problems import BarryError
from barry_cli.policy.bundle import Bundle, bundle, parse
from barry_cli.policy.bundle import dump as bundle_file
from barry_cli.policy.record import Question, State, folder, name_of, state
from barry_cli.policy.ruling.paths import real
from barry_cli.policy.ruling.patterns import literal_start
from barry_cli.policy.ruling.policy import Policy, dump

MOST = 256
MOST_CODE = 8
"""How many policies are kept, and how many bundles of code. The oldest make room."""

SETTLED_NS = 50_000_000
"""Files that are younger than this may change again without it being seen in their times."""

HOUSE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

PROGRAM = "barry_cli.policy.answer:answer"
"""What the door runs; with all that it imports it goes into one file."""


def keep(
    question: Question, policy: Policy, *, cwd: str, looked_at: Iterable[str], began_ns: int
) -> bool:
    """Keep the policy that a question led to, and say whether that was possible.

    ``looked_at``: every path that decided it. ``began_ns``: when the looking began, in nanoseconds
    since 1970. Raises nothing: what is not kept is made again.
    """
    place = folder()
    try:
        # Elsewhere the door would not look for it: this process has other surroundings than it
        # began with, or the platform other folders than the door knows.
        if not place or Path(place) != folders().cache / "policies":
            return False
        own = _own_files()
        places = _states([*looked_at, cwd, *own], began_ns)
        links = _links(policy)
        if places is None or links is None:
            return False
        kept_bundle(PROGRAM)
        code = _code_name(PROGRAM, own)
        key = question.key()
        record = (key, places, links, code, cwd, dump(policy))
        write_atomic(Path(place, name_of(key)), marshal.dumps(record))
    except (BarryError, OSError, ValueError):
        return False
    _make_room(Path(place), "check-*.marshal", MOST)
    return True


def _states(paths: Iterable[str], began_ns: int) -> tuple[tuple[str, State | None], ...] | None:
    """The state of every path; None where one may have changed since it was looked at."""
    found: dict[str, State | None] = {}
    for path in paths:
        # A bag's bound has no file of its own: it stands in the registry, which was looked at.
        if os.path.isabs(path) and path not in found:
            found[path] = state(path)
    newest = began_ns - SETTLED_NS
    times = (moment for facts in found.values() for each in facts or () for moment in each[4:])
    return None if any(moment >= newest for moment in times) else tuple(found.items())


def _own_files(house: str = HOUSE) -> list[str]:
    """The files of Barry's that make policies and rule by them: another Barry makes others."""
    if os.path.basename(os.path.dirname(house)) == "site-packages":
        # What an installer put there it replaces whole.
        return [os.path.join(house, "__init__.py")]
    return [
        os.path.join(at, name)
        for room in ("hook", "policy")
        for at, _, names in sorted(os.walk(os.path.join(house, room)))
        for name in sorted(names)
        if name.endswith(".py")
    ]


def _links(policy: Policy) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """Where the places that the policy names really lie; None where that can't be told again."""
    starts = {policy.root, policy.home}
    for _, segments in (*policy.floor, *policy.files_deny, *(policy.files_allow or ())):
        if any("\\" in segment for segment in segments):
            return None
        starts.add("/" + "/".join(literal_start(segments)))
    return tuple((path, real(path, policy.root)) for path in sorted(starts))


def kept_bundle(program: str) -> Bundle:
    """The bundle of a program: kept from an earlier time, else made and kept.

    Raises StoreProblem where Barry's own sources can't be read.
    """
    place = folders().cache / "policies"
    path = place / _code_name(program, _own_files())
    with contextlib.suppress(OSError, ValueError, TypeError, EOFError):
        return parse(path.read_bytes())
    made = bundle(program)
    with contextlib.suppress(BarryError):
        write_atomic(path, bundle_file(made))
        _make_room(place, "code-*.marshal", MOST_CODE)
    return made


def keep_bundles(*programs: str) -> None:
    """Have the bundles of these programs kept, each made by a process of its own where it isn't.

    For a process that lives long: to make one takes memory that would never be given back. Raises
    nothing; ``kept_bundle`` makes what is not kept.
    """
    import subprocess

    place, own = folders().cache / "policies", _own_files()
    missing = [each for each in programs if not (place / _code_name(each, own)).exists()]
    if not missing:
        return
    code = (
        f"import sys; sys.path.insert(0, {os.path.dirname(HOUSE)!r}); "
        "from barry_cli.policy.cache import kept_bundle; "
        "[kept_bundle(each) for each in sys.argv[1:]]"
    )
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            [sys.executable, "-I", "-c", code, *missing],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )


def _code_name(program: str, own: Iterable[str]) -> str:
    import _imp

    mark = repr((program, sys.version, [(path, state(path)) for path in own]))
    return f"code-{_imp.source_hash(1, mark.encode()).hex()}.marshal"


def _make_room(place: Path, pattern: str, most: int) -> None:
    with contextlib.suppress(OSError):
        kept = sorted(place.glob(pattern), key=lambda each: each.stat().st_mtime_ns)
        for old in kept[:-most]:
            old.unlink(missing_ok=True)
