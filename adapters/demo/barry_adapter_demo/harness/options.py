"""The command line, checked as far as it can be before anything starts."""

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from . import files, hooks, model, tools, transcript
from .files import ServerSpec, Settings
from .model import MODELS, Rule
from .problems import usage

BENDS = {
    "ignore-deny": "show withheld tools as withheld, but run them, without asking",
    "no-transcript": "write no transcript",
    "leave-raw": "leave the terminal in raw mode on the alternate screen",
    "ignore-term": "do not end on SIGTERM",
    "wrong-id": "use another session id than the one asked for",
    "no-ask": "run every call without asking",
    "deaf": "take no interrupt",
    "no-hooks": "call no hook",
    "no-mail": "take messages in from outside, and read none",
}

_EPILOG = """\
script: a list of {"when": part of the prompt, "then": [step, ...]}; the first that matches counts.
  {"text": "..."}                   say it; {prompt}, {system} and {result} (of the last tool)
                                    in it are replaced
  {"tool": "shell", "input": {...}} call a tool: shell {command}, read {path},
                                    write {path, content}, fetch {url}, agent {prompt},
                                    mcp__SERVER__TOOL {...}
  {"delay": seconds}                wait
  {"error": "..."}                  fail the turn
  {"quota": seconds}                fail it for a usage limit that ends then (since 1970)
  {"outage": "..."}                 fail it for a service that is out
  {"crash": true}                   end at once, without any way out
  {"hang": true}                    wait until cancelled
  {"garbage": "..."}                write it to stdout as it is
Without a rule that matches: run COMMAND, read PATH, write PATH TEXT, call TOOL {JSON}, system
(tells the system prompt), recall (tells the last prompt), say TEXT, fail TEXT, outage TEXT;
anything else is echoed.

hooks: Start, Prompt, BeforeTool, AfterTool, Ask, Stop and End, each a command for a shell that gets
  the event as JSON on stdin. Exit code 2 refuses a call, with what is on stderr; so does
  {"deny": "..."} on stdout. {"context": "..."} after a tool or a turn is told to the model. What
  fails in another way, or takes longer than a minute, changes nothing.

environment:
  BARRY_DEMO_HOME    where conversations are kept (default: ~/.barry-demo)
  BARRY_DEMO_SCRIPT  the same as --script, which outranks it
  BARRY_DEMO_BEND    the same as --bend, names separated by commas
  HOME               where ~ is
  NO_COLOR           when set and not empty: no colours
  TERM               "dumb" means no colours and no other escape codes

exit status: 0 done, 1 the turn failed or the conversation is not there, 2 wrong usage,
129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM; /exit N ends with N; a scripted crash is 70.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for. ``prompt`` is ``-`` when it is to be read from stdin."""

    end: str
    """tui, print, driven, acp, or a question that is answered at once: help, version, models."""
    prompt: str | None
    output: str
    fork: bool
    """Go on with a copy of the conversation to resume, under a new id."""
    ephemeral: bool
    session_id: str | None
    resume: str | None
    last: bool
    pick: bool
    model: str
    system: str
    policy: tools.Policy
    roots: tuple[str, ...]
    servers: tuple[ServerSpec, ...]
    skills: tuple[str, ...]
    settings: Settings
    hooks: Mapping[str, str]
    """Event -> the command that is called for it."""
    inbox: str | None
    """The named pipe that messages come through."""
    rules: tuple[Rule, ...]
    bends: frozenset[str]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise usage(f"{message}; see --help")


def parser() -> argparse.ArgumentParser:
    """The command line's grammar, and the text of ``--help``."""
    made = _Parser(
        prog="demo",
        description="A small coding agent with a scripted model. No account, no network.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    add = made.add_argument
    add("prompt", nargs="?", help="the first message; - reads it from stdin (with -p only)")
    add("-h", "--help", action="store_true", help="show this text")
    add("--version", action="store_true", help="show the version")
    add("--list-models", action="store_true", help="list the models, one a line")
    end = made.add_argument_group("ends (without one: the terminal)")
    end.add_argument("-p", "--print", action="store_true", help="answer one prompt and exit")
    end.add_argument("--output", choices=("text", "ndjson"), help="with -p: the form of the answer")
    end.add_argument(
        "--input", choices=("text", "ndjson"), help="with -p: messages and rulings come on stdin"
    )
    end.add_argument("--acp", action="store_true", help="speak the Agent Client Protocol on stdio")
    add = made.add_argument_group("conversations (kept for each working directory)").add_argument
    add("--session-id", metavar="UUID", help="the id of the new conversation")
    add("--resume", metavar="ID", help="go on with a conversation")
    add("--last", action="store_true", help="go on with the one written to last")
    add("--fork", action="store_true", help="with --resume: go on with a copy of it")
    add("--ephemeral", action="store_true", help="write none down")
    add("--pick", action="store_true", help="choose one from a list")
    add = made.add_argument_group("model").add_argument
    add("--model", default=MODELS[0], help=f"one of: {', '.join(MODELS)}")
    add("--system-prompt", metavar="TEXT", default="", help="the model's instructions")
    add("--append-system-prompt", metavar="TEXT", default="", help="more, after them")
    add("--script", metavar="FILE", help="what the model does; see below")
    add = made.add_argument_group("tools (mcp__SERVER names all of a server's)").add_argument
    add("--allow", metavar="TOOL", action="append", default=[], help="run it without asking")
    add("--deny", metavar="TOOL", action="append", default=[], help="withhold it; outranks --allow")
    add("--tools", metavar="A,B", help="offer these only (may be empty)")
    add("--add-dir", metavar="DIR", action="append", default=[], help="read and write here too")
    add("--mcp-config", metavar="FILE", action="append", default=[], help="stdio MCP servers")
    add("--plugin-dir", metavar="DIR", action="append", default=[], help="a folder with skills/")
    add("--settings", metavar="FILE", help='JSON: {"style": "plain|pirate", "banner": bool}')
    add = made.add_argument_group("from outside (with the terminal)").add_argument
    add("--hooks", metavar="FILE", help="JSON: event -> command; see below")
    add("--inbox", metavar="PIPE", help='a named pipe of lines {"text": "..."}: further messages')
    add = made.add_argument_group("for tests: be wrong on purpose, and say so").add_argument
    bends = "; ".join(f"{name}: {what}" for name, what in BENDS.items())
    add("--bend", metavar="NAME", action="append", default=[], help=bends)
    return made


def parse(arguments: list[str], env: Mapping[str, str]) -> Options:
    """Read the command line. Raises Refused with status 2 when it is wrong."""
    given = parser().parse_args(arguments)
    printed = "driven" if given.input == "ndjson" else "print"
    end = "acp" if given.acp else printed if given.print else "tui"
    for name, flag in (("help", "help"), ("version", "version"), ("models", "list_models")):
        end = name if getattr(given, flag) else end
    _check_together(given)
    if given.model not in MODELS:
        raise usage(f"no model {given.model!r}; there are: {', '.join(MODELS)}")
    script = given.script or env.get("BARRY_DEMO_SCRIPT")
    servers = [each for path in given.mcp_config for each in files.load_servers(path)]
    if len({each.name for each in servers}) < len(servers):
        raise usage("two MCP servers have the same name")
    bends = _bends([*given.bend, *(env.get("BARRY_DEMO_BEND") or "").split(",")])
    return Options(
        end=end,
        prompt=given.prompt,
        output=given.output or "text",
        fork=given.fork,
        ephemeral=given.ephemeral,
        session_id=_new_id(given.session_id),
        resume=given.resume,
        last=given.last,
        pick=given.pick,
        model=given.model,
        system="\n".join(
            each for each in (given.system_prompt, given.append_system_prompt) if each
        ),
        policy=_policy(given, bends),
        roots=_roots(given.add_dir),
        servers=tuple(servers),
        skills=files.load_skills(tuple(given.plugin_dir)),
        settings=files.load_settings(given.settings) if given.settings else Settings(),
        hooks=hooks.load(given.hooks) if given.hooks else {},
        inbox=given.inbox,
        rules=model.load_script(script) if script else (),
        bends=bends,
    )


def _check_together(given: argparse.Namespace) -> None:
    ways = ("session_id", "resume", "last", "pick")
    asked = [f"--{way.replace('_', '-')}" for way in ways if getattr(given, way)]
    if len(asked) > 1:
        raise usage(f"{asked[0]} and {asked[1]} do not go together")
    if given.acp and (given.print or given.prompt is not None or asked):
        raise usage("--acp takes its prompts and session ids from the client")
    if (given.hooks or given.inbox) and (given.print or given.acp):
        raise usage("--hooks and --inbox go with the terminal")
    if given.print and given.pick:
        raise usage("--pick needs a terminal; use --resume ID or --last")
    if given.input and not given.print:
        raise usage("--input goes with -p")
    if given.input == "ndjson" and (given.output != "ndjson" or given.prompt is not None):
        raise usage("--input ndjson takes its prompts from stdin and needs --output ndjson")
    if given.fork and not given.resume:
        raise usage("--fork goes with --resume")
    if given.print and given.prompt is None and given.input != "ndjson":
        raise usage("-p needs a prompt, or - to read it from stdin")
    if given.output and not given.print:
        raise usage("--output goes with -p")
    if given.prompt == "-" and not given.print:
        raise usage("a prompt from stdin (-) goes with -p")


def _new_id(text: str | None) -> str | None:
    if text is not None and not transcript.is_id(text.lower()):
        raise usage(f"session id {text!r} is not a UUID")
    return text.lower() if text else None


def _policy(given: argparse.Namespace, bends: frozenset[str]) -> tools.Policy:
    offered = None if given.tools is None else [each for each in given.tools.split(",") if each]
    unknown = tools.unknown([*given.allow, *given.deny, *(offered or [])])
    if unknown:
        raise usage(f"no tool {unknown[0]!r}; there are: {', '.join(tools.FIELDS)}, mcp__...")
    return tools.Policy(
        allow=frozenset(given.allow),
        deny=frozenset(given.deny),
        offered=None if offered is None else frozenset(offered),
        ignore_deny="ignore-deny" in bends,
        never_ask="no-ask" in bends,
    )


def _roots(folders: list[str]) -> tuple[str, ...]:
    for each in folders:
        if not os.path.isdir(each):
            raise usage(f"--add-dir {each} is not a directory")
    return tuple(os.path.abspath(each) for each in folders)


def _bends(names: list[str]) -> frozenset[str]:
    asked = frozenset(each for each in names if each)
    if asked - set(BENDS):
        raise usage(f"no bend {min(asked - set(BENDS))!r}; there are: {', '.join(BENDS)}")
    return asked
