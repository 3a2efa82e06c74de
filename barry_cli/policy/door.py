"""``barry bound check`` typed by hand: answered from a policy that was kept, or by somebody else.

What is answered here is answered as the whole command line would, to the byte. Whatever is
unusual is left to it: a flag that isn't known here, a policy that wasn't kept or isn't right any
more.
"""

import _imp
import marshal
import posix
import sys

from barry_cli.policy.record import Kept, Question, folder, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FunctionType

SIZE = 8
"""A kept program begins with how long the first part of it is, in so many bytes."""

ONCE = frozenset(("--harness", "--cwd", "--command", "--tool", "--input"))
"""Options with one value. A second one is left to those who say what is wrong."""


class Asked:
    """What a command line asks: under which policy, about which command or call, shown how."""

    __slots__ = ("as_json", "question", "tail", "values")

    def __init__(
        self,
        question: Question,
        values: "dict[str, str]",
        tail: "tuple[str, ...]",
        as_json: bool,
    ) -> None:
        self.question = question
        self.values = values
        self.tail = tail
        self.as_json = as_json


def check(arguments: "list[str]") -> "int | None":
    """Answer and give the exit code; None where the whole command line has to.

    ``arguments``: what stands after ``bound check``.
    """
    try:
        asked = parse(arguments)
        kept = read(asked.question) if asked is not None else None
        if asked is None or kept is None:
            return None
        return _answer(asked, kept)
    except Exception:
        return None


def parse(arguments: "list[str]") -> "Asked | None":
    """The plain forms of the command line; None for any other."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    words, tail = arguments[:at], tuple(arguments[at + 1 :])
    bounds: list[str] = []
    values: dict[str, str] = {}
    as_json = False
    words.reverse()
    while words:
        name, equals, value = words.pop().partition("=")
        if name == "--json" and not equals:
            as_json = True
            continue
        if not equals:
            # A value that looks like an option is one to those who know them all.
            if not words or words[-1][:1] == "-":
                return None
            value = words.pop()
        if name == "--bound":
            bounds.append(value)
        elif name in ONCE and name not in values:
            values[name] = value
        else:
            return None
    if len({"--command", "--tool"} & values.keys()) + bool(tail) != 1:
        return None
    # A tool that is named without its harness is asked about under all that have one.
    if not ("--input" in values) == ("--tool" in values) <= ("--harness" in values):
        return None
    if "--tool" in values and "--harness" not in values:
        return None  # whose it may be takes the tables of all
    question = Question(tuple(bounds), values.get("--harness"), values.get("--cwd"), posix.getcwd())
    return Asked(question, values, tail, as_json)


def _answer(asked: Asked, kept: Kept) -> "int | None":
    # To import it would look for it first.
    _imp.create_builtin(type(sys.__spec__)("gc", None)).disable()
    given = kept.policy, kept.links, kept.cwd, asked.tail, asked.values, asked.as_json
    found = program(f"{folder()}/{kept.code}")(*given)
    if type(found) is not tuple:
        return None
    text, code = found
    sys.stdout.write(text)
    sys.stdout.flush()
    return 1 if code else 0


def program(path: str) -> "FunctionType":
    """The function that a kept program begins with. Raises OSError, and what marshal raises."""
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    size = int.from_bytes(posix.read(descriptor, SIZE), "big")
    loader, head = marshal.loads(posix.read(descriptor, size))  # noqa: S302 - Barry's own
    loading: dict[str, FunctionType] = {}
    exec(loader, loading)  # noqa: S102 - Barry's own
    function: FunctionType = loading["load"](head, descriptor)
    return function
