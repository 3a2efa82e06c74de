"""What a launch leaves for the hook: its program, its policy, and the command that calls it.

Not on the fast door itself: this runs once a session.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from barry_cli.bags.manifest import HookAnswer, HookFormat
from barry_cli.base.files import write_atomic
from barry_cli.base.problems import Refused
from barry_cli.hook.answer import Answer
from barry_cli.hook.policy_file import Format, HookPolicy, fingerprint, pack
from barry_cli.hook.run import REFUSE
from barry_cli.policy.bundle import entry
from barry_cli.policy.cache import kept_bundle
from barry_cli.policy.ruling.policy import Policy

PROGRAM = "barry_cli.hook.run:main"

RULED = ("before-tool", "ask")
"""The kinds of event that are ruled on."""

_NEEDED = ("tool", "input")
_REASON = "{reason}"


@dataclass(frozen=True, slots=True)
class Installed:
    """The hook as a harness's settings name it."""

    command: str
    """For a shell. Every word is absolute and quoted; what fails in it refuses the call."""
    entry: Path
    policy: Path
    fingerprint: str


def install(
    folder: Path,
    policy: Policy,
    formats: Iterable[HookFormat],
    *,
    listener: tuple[str, str, str] | None = None,
) -> Installed:
    """Write the hook's files into a session's own folder, which its bound keeps from writes.

    ``policy``: the compiled bound. ``listener``: the session's socket, its token and its id.
    Raises Refused for formats that can't hold a call, and StoreProblem.
    """
    ruled_on = [form for form in formats if form.kind in RULED]
    if len(ruled_on) > 1 and not all("event" in form.paths for form in ruled_on):
        raise Refused("its adapter describes several events, and not how to tell them apart")
    held = HookPolicy(policy, tuple(map(compiled, ruled_on)), listener)
    if not held.formats:
        raise Refused(
            "its adapter describes no event that comes before a tool call",
            hint="a harness without one can't be held by a hook: choose another mode",
        )
    data = pack(held)
    mark = fingerprint(data)
    program = folder / f"hook-{sys.implementation.cache_tag}.pyc"
    ruled = folder / f"policy-{mark}.marshal"
    write_atomic(program, entry(kept_bundle(PROGRAM)), mode=0o400)
    write_atomic(ruled, data, mode=0o400)
    return Installed(_command(program, ruled, mark), program, ruled, mark)


def compiled(form: HookFormat) -> Format:
    """A format as the hook reads it. Raises Refused for one that can't hold a call."""
    paths: dict[str, tuple[str, ...]] = {
        name: tuple(path.split(".")) for name, path in form.paths.items()
    }
    for name in _NEEDED:
        if name not in paths:
            raise Refused(f"the format of {form.event} doesn't say where the {name} is")
    answers: dict[str, Answer] = {name: _answer(each) for name, each in form.answers.items()}
    if "deny" not in answers:
        raise Refused(f"the format of {form.event} has no answer for a denial")
    for name, (_, _, _, code) in answers.items():
        # The command that calls the hook makes every failure the one that refuses.
        if code and (name != "deny" or code != REFUSE):
            raise Refused(
                f"the format of {form.event} answers {name} with exit code {code}: a hook leaves "
                f"with 0, or with {REFUSE} to deny"
            )
    return Format(form.event, paths, answers)


def _answer(answer: HookAnswer) -> Answer:
    is_json = isinstance(answer.stdout, dict)
    text = json.dumps(answer.stdout) if is_json else str(answer.stdout or "")
    out, error = (tuple(each.split(_REASON)) for each in (text, answer.stderr or ""))
    return out, is_json, error, answer.exit


def _command(program: Path, policy: Path, mark: str) -> str:
    import shlex

    words = [
        interpreter(),
        "-I",
        "-S",
        *(os.path.abspath(each) for each in (program, policy)),
        mark,
    ]
    return f"{shlex.join(words)} || exit {REFUSE}"


def interpreter() -> str:
    """The interpreter itself: an environment's own name for it may lie in an agent's reach.

    Raises Refused where this process has none that could be started.
    """
    path = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable or "")
    if not os.access(path, os.X_OK):
        raise Refused(
            f"the Python that runs Barry can't be started again: {path}",
            hint="install Barry with a Python that is a program of its own",
        )
    return path
