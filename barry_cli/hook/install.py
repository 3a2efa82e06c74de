"""What a launch leaves for its hooks: their programs, what they work from, and their commands.

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
from barry_cli.contract.instrument import HookCall
from barry_cli.hook import notice_file
from barry_cli.hook.answer import Answer
from barry_cli.hook.notice_file import Notices, Told
from barry_cli.hook.policy_file import Format, HookPolicy, fingerprint, pack
from barry_cli.hook.run import REFUSE, SECONDS
from barry_cli.policy.bundle import entry
from barry_cli.policy.cache import kept_bundle
from barry_cli.policy.ruling.policy import Policy

__all__ = ["NOTICE_PROGRAM", "PROGRAM", "SECONDS", "Installed", "compiled", "install"]

PROGRAM = "barry_cli.hook.run:main"
NOTICE_PROGRAM = "barry_cli.hook.notice:main"

_NEEDED = ("tool", "input")
_REASON = "{reason}"


@dataclass(frozen=True, slots=True)
class Installed:
    """The hooks as a harness's settings name them."""

    ruling: HookCall
    """Every word is absolute and quoted; what fails in it refuses the call."""
    notice: HookCall | None
    """Tells of every other event; None where nobody listens, or the harness has no such events."""
    entry: Path
    policy: Path
    fingerprint: str

    @property
    def command(self) -> str:
        """The ruling hook's, for a shell."""
        return self.ruling.command


def is_ruled(form: HookFormat) -> bool:
    """Whether an event is ruled on: it comes before a tool, or asks and can be answered so."""
    return form.kind == "before-tool" or (form.kind == "ask" and "deny" in form.answers)


def install(
    folder: Path,
    policy: Policy,
    formats: Iterable[HookFormat],
    *,
    listener: tuple[str, str, str] | None = None,
) -> Installed:
    """Write the hooks' files into a session's own folder, which its bound keeps from writes.

    ``policy``: the compiled bound. ``listener``: the session's socket, its key and its id.
    Raises Refused for formats that can't hold a call or be told apart, and StoreProblem.
    """
    formats = list(formats)
    ruled_on = [form for form in formats if is_ruled(form)]
    told = [form for form in formats if not is_ruled(form)]
    for some in (ruled_on, told):
        if len(some) > 1 and not all("event" in form.paths for form in some):
            raise Refused("its adapter describes several events, and not how to tell them apart")
    held = HookPolicy(policy, tuple(map(compiled, ruled_on)), listener)
    if not held.formats:
        raise Refused(
            "its adapter describes no event that comes before a tool call",
            hint="a harness without one can't be held by a hook: choose another mode",
        )
    program = folder / f"hook-{sys.implementation.cache_tag}.pyc"
    write_atomic(program, entry(kept_bundle(PROGRAM)), mode=0o400)
    ruling, ruled, mark = _written(folder, "policy", program, pack(held), REFUSE)
    notice = None
    if listener is not None and told:
        program_of_notices = folder / f"notice-{sys.implementation.cache_tag}.pyc"
        write_atomic(program_of_notices, entry(kept_bundle(NOTICE_PROGRAM)), mode=0o400)
        data = notice_file.pack(Notices(tuple(map(_told, told)), listener))
        notice, _, _ = _written(folder, "events", program_of_notices, data, 0)
    return Installed(ruling, notice, program, ruled, mark)


def _written(
    folder: Path, name: str, program: Path, data: bytes, on_failure: int
) -> tuple[HookCall, Path, str]:
    mark = fingerprint(data)
    path = folder / f"{name}-{mark}.marshal"
    write_atomic(path, data, mode=0o400)
    return _call(program, path, mark, on_failure), path, mark


def compiled(form: HookFormat) -> Format:
    """A format as the hook reads it. Raises Refused for one that can't hold a call."""
    paths = _paths(form)
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
    return Format(form.event, paths, answers, dict(form.names))


def _told(form: HookFormat) -> Told:
    message = form.answers.get("message")
    answer = None if message is None else _answer(message)
    if answer is not None and answer[3]:
        # The command that calls the hook makes every failure a silent one.
        raise Refused(
            f"the format of {form.event} gives a message back with exit code {answer[3]}: "
            "only 0 is passed on"
        )
    return Told(form.event, form.kind, _paths(form), answer)


def _paths(form: HookFormat) -> dict[str, tuple[str, ...]]:
    return {name: tuple(path.split(".")) for name, path in form.paths.items()}


def _answer(answer: HookAnswer) -> Answer:
    is_json = isinstance(answer.stdout, dict)
    text = json.dumps(answer.stdout) if is_json else str(answer.stdout or "")
    out, error = (tuple(each.split(_REASON)) for each in (text, answer.stderr or ""))
    return out, is_json, error, answer.exit


def _call(program: Path, data: Path, mark: str, on_failure: int) -> HookCall:
    import shlex

    words = (
        interpreter(),
        "-I",
        "-S",
        *(os.path.abspath(each) for each in (program, data)),
        mark,
    )
    return HookCall(command=f"{shlex.join(words)} || exit {on_failure}", words=words)


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
