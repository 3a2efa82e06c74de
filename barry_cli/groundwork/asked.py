"""What was asked for, made whole and checked: nothing that is misspelt passes for something."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

from barry_cli.base.ids import nearest
from barry_cli.base.problems import Refused, UsageProblem
from barry_cli.contract.adapter import Adapter
from barry_cli.groundwork.conversation import absolute
from barry_cli.groundwork.request import LaunchRequest
from barry_cli.turns.store.sessions import SessionRow


def as_before(request: LaunchRequest, row: SessionRow | None) -> LaunchRequest:
    """A resumed session asks for what it asked for before; what is asked now is added or wins.

    Denials only add up: going on with a session never widens what it may do.
    """
    if row is None:
        return request
    asked = row.asked

    def both(before: object, now: tuple[str, ...]) -> tuple[str, ...]:
        old = [str(each) for each in before] if isinstance(before, list) else []
        return tuple(dict.fromkeys((*old, *now)))

    model = asked.get("model")
    bound = asked.get("bound")
    options = asked.get("options")
    mode = request.mode
    if mode is None and row.mode in ("guest", "instrumented"):
        mode = "guest" if row.mode == "guest" else "instrumented"
    return replace(
        request,
        mode=mode,
        model=request.model or (str(model) if model else None),
        roots=both(asked.get("roots"), request.roots),
        env=both(asked.get("env"), request.env),
        plugin_dirs=both(asked.get("pluginDirs"), request.plugin_dirs),
        denied_tools=both(asked.get("deniedTools"), request.denied_tools),
        traits=both(asked.get("traits"), request.traits),
        held_to=bound if isinstance(bound, dict) else None,
        options={**(options if isinstance(options, dict) else {}), **request.options},
        relax=request.relax or bool(asked.get("relax")),
    )


def made_whole(request: LaunchRequest, adapter: Adapter) -> LaunchRequest:
    """The request with tools as the harness spells them and absolute folders, all checked.

    Raises UsageProblem.
    """
    _check_options(request, adapter)
    return replace(
        request,
        denied_tools=_spelt(request.denied_tools, adapter),
        roots=_existing("--root", request.roots),
        plugin_dirs=_existing("--plugin-dir", request.plugin_dirs),
    )


def check_text(request: LaunchRequest) -> None:
    """Refuse what no program can be given, while it is still clear whose it is.

    Raises UsageProblem. What comes after ``--`` may be any bytes, as file names are.
    """
    given: list[tuple[str, object]] = [
        *((f"--option {key}", [key, value]) for key, value in request.options.items()),
        ("--model", request.model),
        ("--root", request.roots),
        ("--plugin-dir", request.plugin_dirs),
    ]
    for flag, value in given:
        for text in _texts(value):
            if problem := unfit(text):
                raise _unfit(flag, problem)
    for text in request.extra_args:
        if problem := unfit(text, bytes_pass=True):
            raise _unfit("an argument after --", problem)


def unfit(text: str, *, bytes_pass: bool = False) -> str | None:
    """Why a program can't be given this text; ``bytes_pass``: bytes that are no text are fine."""
    if "\0" in text:
        return "holds a NUL character"
    try:
        text.encode(errors="surrogateescape" if bytes_pass else "strict")
    except UnicodeEncodeError:
        return "holds a character that is not UTF-8"
    return None


def _unfit(what: str, problem: str) -> UsageProblem:
    # Told in ASCII: what is wrong with it could otherwise break the telling, too.
    return UsageProblem(
        f"{what.encode('ascii', 'backslashreplace').decode()} {problem}, "
        "which no harness can be given",
        hint="leave that character out",
    )


def _texts(value: object) -> Iterator[str]:
    """Every text in a value as JSON has it, the keys as well."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def check_platform(adapter: Adapter) -> None:
    """Refuse a harness that does not run here at all."""
    platforms = adapter.requirements.platforms
    if platforms is not None and sys.platform not in platforms:
        raise Refused(
            f"{adapter.label} does not run on {sys.platform}",
            hint=f"it runs on {', '.join(platforms)}",
            details={"adapterId": adapter.id, "platform": sys.platform},
        )


def _spelt(denied: tuple[str, ...], adapter: Adapter) -> tuple[str, ...]:
    """Denied tools as the harness spells them: a denial that names nothing must not pass."""
    spelt = {tool.casefold(): tool for tool in adapter.native_tools}
    found = []
    for tool in denied:
        name = spelt.get(tool.casefold())
        if name is None:
            close = nearest(tool.casefold(), spelt)
            raise UsageProblem(
                f"{adapter.label} has no tool named {tool}, so denying it would deny nothing",
                hint=f"did you mean {spelt[close]}?"
                if close
                else f"its tools: {', '.join(adapter.native_tools)}",
                details={"adapterId": adapter.id, "tool": tool},
            )
        found.append(name)
    return tuple(dict.fromkeys(found))


def _existing(flag: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    found = tuple(absolute(path, flag) for path in paths)
    for path in found:
        if not os.path.isdir(path):
            raise UsageProblem(f"{flag} {path} is not a folder", hint="give one that exists")
    return tuple(dict.fromkeys(found))


def _check_options(request: LaunchRequest, adapter: Adapter) -> None:
    if not request.options:
        return
    if adapter.options is None:
        raise UsageProblem(
            f"{adapter.label} takes no options",
            hint=f"leave out --option {next(iter(request.options))}",
            details={"adapterId": adapter.id},
        )
    from barry_cli.registry.options import validate_options

    problems = validate_options(adapter.options, dict(request.options))
    if problems:
        raise UsageProblem(
            f"--option: {'; '.join(problems)}",
            hint=f"`barry adapter show {adapter.id}` shows the options",
            details={"problems": problems},
        )
