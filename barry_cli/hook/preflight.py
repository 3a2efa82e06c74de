"""Before a launch says that its hook rules: the very command, with a call that must be denied and
one that must be allowed.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Any

from barry_cli.bags.manifest import HookFormat
from barry_cli.hook.install import Installed, is_ruled
from barry_cli.hook.run import REFUSE
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.rule import rule

UNLISTED = "barry-preflight"
"""A tool that no harness has: nothing is known of its calls."""


@dataclass(frozen=True, slots=True)
class _Call:
    tool: str
    input: dict[str, str]


def preflight(
    installed: Installed,
    policy: Policy,
    formats: Iterable[HookFormat],
    cwd: str,
    *,
    seconds: float = 30,
) -> str | None:
    """Run the ruling hook as the harness will. None when it denied and allowed as the policy does,
    else why it is not to be relied on, as a sentence.

    It waits for up to four programs, each at most ``seconds`` long.
    """
    for form in filter(is_ruled, formats):
        for call in (_denied(policy, installed, cwd), _allowed(policy, cwd)):
            if call is None:
                return "nothing was found that the hook could be tried with"
            if problem := _try(installed, policy, form, call, cwd, seconds):
                return problem
    return None


def _denied(policy: Policy, installed: Installed, cwd: str) -> _Call | None:
    """A call that no policy allows: to write what the hook itself rules by."""
    target = str(installed.policy)
    for call in _tries(policy, {"write": target, "shell": f"rm -f {quote(target)}"}):
        if not rule(policy, call.tool, call.input, cwd).allowed:
            return call
    return None


def _allowed(policy: Policy, cwd: str) -> _Call | None:
    """One that this policy allows, however much it denies."""
    plain = {"shell": "true", "read": "/dev/null", "url": "http://127.0.0.1/", "agent": ""}
    for call in (*_tries(policy, plain), _Call(UNLISTED, {})):
        if rule(policy, call.tool, call.input, cwd).allowed:
            return call
    return None


def _tries(policy: Policy, texts: dict[str, str]) -> Iterator[_Call]:
    for wanted, text in texts.items():
        for tool, (kind, fields) in policy.tools.items():
            if kind == wanted and fields:
                yield _Call(tool, {fields[0]: text})


def _try(
    installed: Installed, policy: Policy, form: HookFormat, call: _Call, cwd: str, seconds: float
) -> str | None:
    wanted = rule(policy, call.tool, call.input, cwd).allowed
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", installed.ruling.command],
            input=json.dumps(_event(form, call, cwd)).encode(),
            capture_output=True,
            timeout=seconds,
            cwd=cwd,
            env={"PATH": os.defpath},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the hook didn't answer within {seconds:g} seconds"
    except OSError as error:
        return f"the hook can't be started: {error.strerror or error}"
    denied = done.returncode != 0 or _is_denial(form, done.stdout.decode(errors="replace"))
    if done.returncode not in (0, REFUSE) or (wanted and done.returncode):
        return f"the hook failed: {_last_line(done.stderr) or f'exit code {done.returncode}'}"
    if denied == wanted:
        did, should = ("denied", "allows") if denied else ("allowed", "denies")
        return f"the hook {did} a call that the bound {should}"
    # Its own failure refuses as well; that is no ruling.
    by_code = form.answers["deny"].exit == REFUSE
    failed = not by_code or _UNRULED in done.stderr.decode(errors="replace")
    if done.returncode == REFUSE and failed:
        return f"the hook can't rule: {_last_line(done.stderr)}"
    return None


_UNRULED = "Barry could not rule on this call"


def _is_denial(form: HookFormat, out: str) -> bool:
    """Whether an answer is this format's denial, whatever its reason."""
    deny = form.answers["deny"]
    if deny.exit == REFUSE:
        return False  # told by the exit code
    if not isinstance(deny.stdout, dict):
        before, _, after = str(deny.stdout or "").partition("{reason}")
        return out.startswith(before) and out.endswith(after)
    try:
        said = json.loads(out)
    except ValueError:
        return False
    return _alike(deny.stdout, said)


def _alike(template: Any, said: Any) -> bool:
    if isinstance(template, dict):
        return (
            isinstance(said, dict)
            and template.keys() == said.keys()
            and all(_alike(template[key], said[key]) for key in template)
        )
    if isinstance(template, list):
        return (
            isinstance(said, list)
            and len(template) == len(said)
            and all(map(_alike, template, said))
        )
    if isinstance(template, str) and "{reason}" in template:
        before, _, after = template.partition("{reason}")
        return isinstance(said, str) and said.startswith(before) and said.endswith(after)
    return bool(template == said)


def _event(form: HookFormat, call: _Call, cwd: str) -> dict[str, Any]:
    """What the harness would write before this call."""
    values: dict[str, Any] = {
        "event": form.event,
        "tool": call.tool,
        "input": call.input,
        "call": "barry-preflight",
        "session": "barry-preflight",
        "cwd": cwd,
        "transcript": "",
        "prompt": "",
    }
    event: dict[str, Any] = {}
    for name, path in form.paths.items():
        place = event
        *above, last = path.split(".")
        for key in above:
            place = place.setdefault(key, {})
        place[last] = values[name]
    return event


def _last_line(error: bytes) -> str:
    lines = error.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
