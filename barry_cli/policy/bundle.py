"""A program of Barry's as one file: what the fast door runs without looking for anything.

It holds what the program needs of Barry's modules, each definition by itself, without what only
people and type checkers read. What is data is there as data. The file belongs to one version of
Barry and one interpreter.
"""

from __future__ import annotations

import ast
import importlib.util
import itertools
import marshal
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader
from types import CodeType, FunctionType
from typing import Any

from barry_cli.policy import usual
from barry_cli.policy.definitions import PLACE, Bare, Definition, called, definitions, tree
from barry_cli.policy.door import SIZE
from barry_cli.policy.loading import METHOD, Head, load
from barry_cli.policy.packing import packed
from barry_cli.policy.slimming import (
    code_of,
    compiled,
    inline,
    is_data,
    is_small,
    join_classes,
    stripped,
)

SHORT = 400
"""A method of up to so many bytes is always made with its class."""

MOST = 3
"""What one of so many lines needs is read for all."""

RULING, FILE = "barry_cli.policy.ruling.", "barry_cli.policy.ruling.policy"
"""Where modules are of which a call needs some, and the one of these that all need."""

HEAD = 5
"""How many parts a head has."""

# The marks become data. Whatever goes wrong here must refuse the call, and say so in a sentence.
_START = """
import _imp, posix, sys
try:
    # To import it would look for it first.
    _imp.create_builtin(type(sys.__spec__)("gc", None)).disable()
    loading = {}
    exec("@loading", loading)
    file = posix.open(__file__, posix.O_RDONLY | posix.O_CLOEXEC)
    loading["load"]("@head", file)(sys.argv[1:])
except BaseException as error:
    sys.stderr.write(
        "Barry could not rule on this call, so it is refused: its program can't be started "
        f"({type(error).__name__}: {error}). End the session and start it again\\n"
    )
    sys.exit(2)
"""


# The interpreter first looks whether a file is a zip archive. An end of one that can't be right, a
# directory larger than the file, answers that at once: else it looks through the last 64 KiB.
_NO_ZIP = b"PK\x05\x06" + bytes(8) + b"\xff\xff\xff\x7f" + bytes(6)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A program, as ``loading.load`` takes it: its head and its definitions."""

    head: Head
    body: bytes


def bundle(program: str) -> Bundle:
    """The program that begins with a function, ``module:function``.

    Raises StoreProblem where a source of Barry's can't be read or taken apart.
    """
    module, _, function = program.partition(":")
    start, found = definitions(module, function)
    apart = {name for each in found.values() for name in each.methods}
    # Made once as it is written, so as to see what is data, and what usual calls need.
    written = {name: _statement(each, apart) for name, each in found.items()}
    whole = _joined(start, {}, written)
    names = _Names(whole)
    data = _data(names, found)
    small = {name: value for name, value in data.items() if is_small(value)}
    inline(found, small)
    join_classes(found, data)
    data |= packed(data, found)
    first, second = _usual(whole, found)
    short = {name for name in apart if len(marshal.dumps(written[name])) <= SHORT}
    apart -= first | second | short
    made: dict[str, object] = {}
    waiting = [start]
    while waiting:
        name = waiting.pop()
        each = found[name]
        if name not in made and name in data:
            made[name] = (data[name],)
        elif name not in made:
            made[name] = _function(each, names) or _statement(each, apart)
            waiting += each.needs - small.keys()
            waiting += each.methods.keys() & apart
    imported = {module for name in made for module in found[name].imports}
    files = {name: file for name in sorted(imported) if (file := _machine_code(name))}
    return _joined(start, files, made, first, second)


def _joined(
    start: str,
    files: dict[str, str],
    made: Mapping[str, Any],
    first: AbstractSet[str] = frozenset(),
    second: AbstractSet[str] = frozenset(),
) -> Bundle:
    alone = [name for name in made if name not in first | second]
    both = [{name: made[name] for name in sorted(some & made.keys())} for some in (first, second)]
    pieces = [marshal.dumps(each) for each in (*both, *(made[name] for name in alone))]
    pieces.append(_NO_ZIP)
    ends = tuple(itertools.accumulate(map(len, pieces)))
    often = f" {' '.join(sorted(second & made.keys()))} "
    return Bundle((start, files, often, " ".join(alone), ends), b"".join(pieces))


def entry(made: Bundle) -> bytes:
    """A ``.pyc`` that runs the program with the process's arguments. Raises StoreProblem."""
    marks: dict[object, object] = {"@loading": _loader(), "@head": made.head}
    start = compiled(ast.parse(_START))
    whole = start.replace(co_consts=tuple(marks.get(each, each) for each in start.co_consts))
    # The interpreter reads the first object alone.
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(whole) + made.body


def _loader() -> CodeType:
    return compiled(Bare().visit(tree("barry_cli.policy.loading")))


def dump(made: Bundle) -> bytes:
    """A file that ``parse`` and ``door.program`` read: what loads the program is in it."""
    head = marshal.dumps((_loader(), made.head))
    return len(head).to_bytes(SIZE, "big") + head + made.body


def parse(data: bytes) -> Bundle:
    """What such a file holds. Raises ValueError, EOFError or TypeError for anything else."""
    end = SIZE + int.from_bytes(data[:SIZE], "big")
    _, head = marshal.loads(data[SIZE:end])  # noqa: S302 - from Barry's own folder
    if len(head) != HEAD or head[-1][-1] != len(data) - end:
        raise ValueError("it isn't whole")
    return Bundle(head, data[end:])


class _Names:
    """A program's names, made here as the program itself would make them."""

    def __init__(self, program: Bundle) -> None:
        # Machine code is found by this process as it always is.
        with tempfile.TemporaryFile() as file:
            file.write(program.body)
            file.flush()
            function: Any = load(program.head, os.dup(file.fileno()))
        self._names: dict[str, Any] = function.__globals__

    def __getitem__(self, name: str) -> Any:
        return self._names[name] if name in self._names else self._names["__builtins__"][name]

    def __iter__(self) -> Iterator[str]:
        """Those that were made."""
        return iter(self._names)


def _usual(whole: Bundle, found: Mapping[str, Definition]) -> tuple[set[str], set[str]]:
    """What calls of other tools need, and what lines of a shell need beside."""
    own = {
        name
        for name, each in found.items()
        if not each.module.startswith(RULING) or each.module == FILE
    }
    rule = [name for name, each in found.items() if (each.module, each.own) == usual.RULE]
    if not rule:
        return set(), set()
    policy = usual.policy()
    needed: dict[str, list[set[str]]] = {}
    for tool, text in usual.CALLS:
        names = _Names(whole)
        names[rule[0]](policy, tool, {usual.FIELD: text}, usual.FOLDER)
        needed.setdefault(tool, []).append(found.keys() & set(names))
    lines = needed.pop("shell")
    first = set[str]().union(*[each for some in needed.values() for each in some])
    second = {name for name in found if sum(name in some for some in lines) * MOST >= len(lines)}
    return own | first, second - first - own


def _data(names: _Names, found: Mapping[str, Definition]) -> dict[str, object]:
    """The names that stand for data, with it."""
    data: dict[str, object] = {}
    for name, each in found.items():
        if isinstance(each.statement, ast.Assign):
            try:
                value = names[name]
            except Exception:  # noqa: S112 - the program fails alike, and says so
                continue
            if is_data(value):
                data[name] = value
    return data


def _statement(each: Definition, apart: AbstractSet[str] = frozenset()) -> tuple[CodeType, str]:
    """What makes a definition by running its statement. ``apart``: methods that a class comes to
    when they are called.
    """
    statement = each.statement
    if isinstance(statement, ast.ClassDef):
        body = [_method(each, node, apart) for node in statement.body]
        name, bases = statement.name, statement.bases
        statement = ast.ClassDef(name, bases, statement.keywords, body, [], **PLACE)
    return compiled(ast.Module([statement], [])), each.own


def _method(each: Definition, node: ast.stmt, apart: AbstractSet[str]) -> ast.stmt:
    for name in each.methods.keys() & apart:
        if each.methods[name] is node:
            later = called(METHOD, [ast.Constant(name, **PLACE)])
            own = ast.Name(each.methods[name].name, ast.Store(), **PLACE)
            return ast.Assign([own], later, **PLACE)
    return node


def _function(each: Definition, names: _Names) -> object:
    """What makes a function without running a statement; None where one has to run."""
    if not isinstance(each.statement, ast.FunctionDef) or each.statement.decorator_list:
        return None
    function: FunctionType = names[each.name]
    given = function.__defaults__, function.__kwdefaults__
    if not is_data(given):
        return None
    codes = code_of(ast.Module([each.statement], [])).co_consts
    code = next(code for code in codes if isinstance(code, CodeType) and code.co_name == each.own)
    code = stripped(code)
    return code if given == (None, None) else (code, *given)


def _machine_code(name: str) -> str:
    """Where a module of the interpreter's is a file of machine code: finding it costs much."""
    if name in sys.builtin_module_names:
        return ""
    spec = importlib.util.find_spec(name)
    is_one = spec is not None and isinstance(spec.loader, ExtensionFileLoader)
    return str(spec.origin) if spec is not None and is_one else ""
