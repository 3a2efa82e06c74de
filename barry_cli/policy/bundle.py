"""Many modules as one file: what the fast door runs without looking for anything.

The file holds the code objects of a program and of every module of Barry's that it imports. It
belongs to one version of Barry and one interpreter.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from types import CodeType

from barry_cli.base.problems import StoreProblem

HOUSE = "barry_cli"

Modules = tuple[tuple[str, bool, CodeType], ...]
"""Name, whether it is a package, code: in the order in which they need each other."""

# The quoted marks become code objects. Whatever goes wrong must refuse the call, in a sentence.
_START = """
import sys
try:
    loading = type(sys)("loading")
    exec("@loading", loading.__dict__)
    loading.load("@modules")
    run = sys.modules["{program}"].main
except BaseException as error:
    sys.stderr.write(
        "Barry could not rule on this call, so it is refused: its program can't be started "
        f"({{type(error).__name__}}: {{error}}). End the session and start it again\\n"
    )
    sys.exit(2)
run(sys.argv[1:])
"""


def entry(program: str) -> bytes:
    """A ``.pyc`` that runs the ``main(arguments)`` of a module. Raises StoreProblem."""
    marks: dict[object, object] = {
        "@loading": _Source("barry_cli.policy.loading").code(),
        "@modules": modules_of(program),
    }
    start = compile(_START.format(program=program), HOUSE, "exec", dont_inherit=True)
    constants = tuple(marks[each] if each in marks else each for each in start.co_consts)
    return (
        importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(start.replace(co_consts=constants))
    )


def modules_of(program: str) -> Modules:
    """The program's module and all of Barry's own that it imports, wherever in it.

    Raises StoreProblem where their sources can't be read.
    """
    found: dict[str, tuple[str, bool, CodeType] | None] = {}
    _collect(program, found)
    return tuple(each for each in found.values() if each is not None)


def _collect(name: str, found: dict[str, tuple[str, bool, CodeType] | None]) -> None:
    if name in found:
        return
    found[name] = None  # under way: a circle ends here
    above = name.rpartition(".")[0]
    if above:
        _collect(above, found)
    source = _Source(name)
    for other in source.imports():
        _collect(other, found)
    del found[name]  # what it needs stands before it
    found[name] = (name, source.is_package, source.code())


class _Source:
    """One of Barry's modules, as its file has it."""

    def __init__(self, name: str) -> None:
        spec = importlib.util.find_spec(name)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            raise _not_whole(name, "it isn't there as a file")
        self._name = name
        self._loader = spec.loader
        self.is_package = spec.submodule_search_locations is not None

    def code(self) -> CodeType:
        try:
            code = self._loader.get_code(self._name)
        except (OSError, SyntaxError) as error:
            raise _not_whole(self._name, str(error)) from error
        if code is None:
            raise _not_whole(self._name, "it can't be compiled")
        return code

    def imports(self) -> Iterator[str]:
        """Names of Barry's modules that it imports."""
        try:
            text = self._loader.get_data(self._loader.get_filename(self._name))
        except OSError as error:
            raise _not_whole(self._name, str(error)) from error
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                yield from (each.name for each in node.names if _ours(each.name))
            elif isinstance(node, ast.ImportFrom) and node.module and _ours(node.module):
                yield node.module
                for each in node.names:
                    inner = f"{node.module}.{each.name}"
                    if importlib.util.find_spec(node.module).submodule_search_locations and (
                        importlib.util.find_spec(inner)
                    ):
                        yield inner


def _ours(name: str) -> bool:
    return name == HOUSE or name.startswith(f"{HOUSE}.")


def _not_whole(name: str, why: str) -> StoreProblem:
    return StoreProblem(
        f"Barry's own module {name} can't be read: {why}",
        hint="this installation is not whole: install it again",
        details={"module": name},
    )
