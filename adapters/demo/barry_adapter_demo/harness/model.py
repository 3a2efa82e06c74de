"""The model: scripted and deterministic. It answers a prompt with steps."""

from collections.abc import Generator
from dataclasses import dataclass, field

from .files import load_json
from .problems import usage
from .wire import parsed

MODELS = ("echo", "shout")
_KINDS = ("text", "tool", "delay", "error", "quota", "outage", "crash", "garbage", "hang")
_LONGEST_DELAY = 86400
_LATEST_RESET = 4102444800


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that the model does. ``kind`` is the key that a script gives it."""

    kind: str
    text: str = ""
    seconds: float = 0.0
    """Of a delay; of a quota, since 1970."""
    input: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    when: str
    then: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What the model knows besides the prompt."""

    system: str
    prompts: tuple[str, ...]
    """Earlier prompts of this conversation, oldest first."""


Steps = Generator[Step, tuple[bool, str] | None, None]
"""Yields steps; a tool step is answered with (did it run, what came out)."""


def answer(prompt: str, context: Context, rules: tuple[Rule, ...]) -> Steps:
    """The steps for a prompt: of the first rule that matches, else of the built-in assistant."""
    for rule in rules:
        if rule.when in prompt:
            return _scripted(rule, prompt, context)
    return _builtin(prompt, context)


def voice(text: str, model: str, style: str) -> str:
    """What the model says, in its own manner."""
    if style == "pirate":
        text = f"Arr! {text}"
    return text.upper() if model == "shout" else text


def _scripted(rule: Rule, prompt: str, context: Context) -> Steps:
    result = ""
    for step in rule.then:
        if step.kind == "text":
            text = step.text.replace("{result}", result).replace("{system}", context.system)
            yield Step("text", text.replace("{prompt}", prompt))
        else:
            told = yield step
            result = told[1] if told else result


def _builtin(prompt: str, context: Context) -> Steps:
    word, _, rest = prompt.strip().partition(" ")
    rest = rest.strip()
    if word == "run" and rest:
        yield from _use("shell", {"command": rest})
    elif word == "read" and rest:
        yield from _use("read", {"path": rest})
    elif word == "write" and rest:
        path, _, content = rest.partition(" ")
        yield from _use("write", {"path": path, "content": content})
    elif word == "call" and rest:
        yield from _call(rest)
    elif word == "say" and rest:
        said, _, told = rest.partition("\n")
        # It knows one thing of structured answers: how they are asked for.
        yield Step("text", f"````json\n{said}\n````" if "word json" in told else said)
    elif word == "fail" and rest:
        yield Step("error", rest)
    elif word == "outage" and rest:
        yield Step("outage", rest)
    elif prompt.strip() == "system":
        yield Step("text", f"my system prompt: {context.system or '(none)'}")
    elif prompt.strip() == "recall":
        last = context.prompts[-1] if context.prompts else "(nothing yet)"
        yield Step("text", f"before this you said: {last}")
    else:
        yield Step("text", f"demo heard: {prompt}")


def _call(rest: str) -> Steps:
    name, _, text = rest.partition(" ")
    try:
        value = parsed(text or "{}")
    except ValueError:
        value = None
    if isinstance(value, dict):
        yield from _use(name, value)
    else:
        yield Step("text", "say: call TOOL {JSON object}")


def _use(tool: str, value: dict[str, object]) -> Steps:
    told = yield Step("tool", tool, input=value)
    ran, output = told or (False, "no answer")
    if ran:
        yield Step("text", f"{tool} ran:\n{output}" if output else f"{tool} ran, no output")
    else:
        yield Step("text", f"{tool} did not run: {output}")


def load_script(path: str) -> tuple[Rule, ...]:
    """Read a script. Raises a usage refusal that names what is wrong with it."""
    value = load_json(path, "script")
    if not isinstance(value, list):
        raise usage(f"script {path} is not a list of rules")
    return tuple(_rule(each, f"script {path}, rule {at}") for at, each in enumerate(value, 1))


def _rule(value: object, where: str) -> Rule:
    if not isinstance(value, dict) or set(value) != {"when", "then"}:
        raise usage(f'{where}: must be an object with "when" and "then"')
    when, then = value["when"], value["then"]
    if not isinstance(when, str) or not isinstance(then, list):
        raise usage(f'{where}: "when" is a text and "then" a list of steps')
    return Rule(when, tuple(_step(each, f"{where}, step {at}") for at, each in enumerate(then, 1)))


def _step(value: object, where: str) -> Step:
    kinds = [key for key in value if key in _KINDS] if isinstance(value, dict) else []
    if not isinstance(value, dict) or len(kinds) != 1:
        raise usage(f"{where}: must be an object with one of {', '.join(_KINDS)}")
    kind, given, put = kinds[0], value[kinds[0]], value.get("input", {})
    if set(value) - {kind, "input"} or ("input" in value and kind != "tool"):
        raise usage(f"{where}: has keys besides {kind!r} that mean nothing")
    if not isinstance(put, dict):
        raise usage(f"{where}: input must be an object")
    if kind in ("crash", "hang"):
        if given is not True:
            raise usage(f"{where}: {kind!r} can only be true")
        return Step(kind)
    if kind == "delay":
        number = isinstance(given, int | float) and not isinstance(given, bool)
        if not number or not 0 <= given <= _LONGEST_DELAY:
            raise usage(f"{where}: a delay is a number of seconds up to {_LONGEST_DELAY}")
        return Step(kind, seconds=float(given))
    if kind == "quota":
        number = isinstance(given, int | float) and not isinstance(given, bool)
        if not number or not 0 <= given <= _LATEST_RESET:
            raise usage(f"{where}: a quota is full again at a time in seconds since 1970")
        return Step(kind, seconds=float(given))
    if not isinstance(given, str):
        raise usage(f"{where}: the value of {kind!r} must be a text")
    return Step(kind, given, input=put)
