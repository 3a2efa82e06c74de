"""Many modules as one file: what the fast door runs without looking for anything.

The file holds the code of a program and of every module of Barry's that it imports, without what
only people and type checkers read. It belongs to one version of Barry and one interpreter.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
import sys
from collections.abc import Iterator
from importlib.machinery import ExtensionFileLoader
from types import CodeType

from barry_cli.base.problems import StoreProblem

HOUSE = "barry_cli"

Bundle = tuple[bytes, dict[str, bytes | str]]
"""What ``loading.load`` takes: the modules that a program always imports, and those that it may.

Of the interpreter's own modules that are files of machine code, the path."""

# The marks become code. Whatever goes wrong here must refuse the call, and say so in a sentence.
_START = """
import gc, sys
gc.disable()
try:
    loading = type(sys)("loading")
    exec("@loading", loading.__dict__)
    loading.load("@always", dict("@perhaps"))
    run = sys.modules["{program}"].main
except BaseException as error:
    sys.stderr.write(
        "Barry could not rule on this call, so it is refused: its program can't be started "
        f"({{type(error).__name__}}: {{error}}). End the session and start it again\\n"
    )
    sys.exit(2)
run(sys.argv[1:])
"""


def entry(program: str, made: Bundle) -> bytes:
    """A ``.pyc`` that runs the ``main(arguments)`` of a module, from its bundle.

    Raises StoreProblem.
    """
    always, perhaps = made
    marks: dict[object, object] = {
        "@loading": _Source("barry_cli.policy.loading").code,
        "@always": always,
        "@perhaps": tuple(perhaps.items()),
    }
    start = compile(_START.format(program=program), HOUSE, "exec", dont_inherit=True)
    constants = tuple(marks.get(each, each) for each in start.co_consts)
    whole = _stripped(start).replace(co_consts=constants)
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(whole)


def bundle(program: str) -> Bundle:
    """The modules of a program. Raises StoreProblem where their sources can't be read."""
    always: dict[str, _Source] = {}
    perhaps: dict[str, _Source] = {}
    waiting = _collect(program, always)
    while waiting:
        name = waiting.pop()
        if name in always or name in perhaps:
            continue
        source = _Source(name)
        if source.is_package:
            waiting += _collect(name, always)
            continue
        waiting += _collect(source.package, always)
        perhaps[name] = source
        waiting += [*source.at_once, *source.later]
    modules = tuple((each.name, each.is_package, each.code) for each in always.values())
    rest: dict[str, bytes | str] = {
        name: marshal.dumps(source.code) for name, source in perhaps.items()
    }
    for each in (*always.values(), *perhaps.values()):
        rest |= each.machine_code
    return marshal.dumps(modules), rest


def _collect(name: str, found: dict[str, _Source]) -> list[str]:
    """Add a module with all that it imports at once, before it. Gives what they import later."""
    if not name or name in found:
        return []
    source = _Source(name)
    found[name] = source  # a circle ends here
    later = list(source.later)
    for other in (source.package, *source.at_once):
        later += _collect(other, found)
    del found[name]  # what it needs stands before it
    found[name] = source
    return later


class _Source:
    """One of Barry's modules, as its file has it."""

    def __init__(self, name: str) -> None:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise _not_whole(name, "it isn't there as a file")
        self.name = name
        self.package = name.rpartition(".")[0]
        self.is_package = spec.submodule_search_locations is not None
        try:
            with open(spec.origin, "rb") as file:
                tree = ast.parse(file.read())
        except (OSError, ValueError, SyntaxError) as error:
            raise _not_whole(name, str(error)) from error
        at_once, later = (list(_imports(tree, inside=inside)) for inside in (False, True))
        self.at_once = list(filter(_ours, at_once))
        self.later = list(filter(_ours, later))
        self.machine_code = dict(filter(None, map(_machine_code, (*at_once, *later))))
        self.code = _stripped(compile(_bare(tree), name, "exec", dont_inherit=True))


def _imports(node: ast.AST, *, inside: bool) -> Iterator[str]:
    """Names of modules: what is imported inside functions, or outside of them."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            if inside:
                for inner in ast.walk(each):
                    yield from _named(inner)
            continue
        if not inside:
            yield from _named(each)
        yield from _imports(each, inside=inside)


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        if _ours(node.module) and _is_package(node.module):
            inner = (f"{node.module}.{each.name}" for each in node.names)
            yield from (name for name in inner if importlib.util.find_spec(name) is not None)


def _ours(name: str) -> bool:
    return name == HOUSE or name.startswith(f"{HOUSE}.")


def _is_package(name: str) -> bool:
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.submodule_search_locations is not None


def _machine_code(name: str) -> tuple[str, str] | None:
    """A module of the interpreter's that is a file of its own: finding it again costs much."""
    if "." in name or name == HOUSE or name in sys.builtin_module_names:
        return None
    spec = importlib.util.find_spec(name)
    is_one = spec is not None and isinstance(spec.loader, ExtensionFileLoader)
    return (name, str(spec.origin)) if spec is not None and is_one else None


class _Bare(ast.NodeTransformer):
    """Takes away what nothing runs: annotations, and texts that stand alone."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # noqa: N802 - ast's own names
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:  # noqa: N802
        bare = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
        return self.generic_visit(ast.copy_location(bare, node))

    def visit_Expr(self, node: ast.Expr) -> ast.AST:  # noqa: N802
        alone = isinstance(node.value, ast.Constant)
        return ast.copy_location(ast.Pass(), node) if alone else self.generic_visit(node)


def _bare(tree: ast.Module) -> ast.Module:
    _Bare().visit(tree)
    return ast.fix_missing_locations(tree)


def _stripped(code: CodeType) -> CodeType:
    """The code without its line numbers: a quarter of it, and nobody is shown a traceback."""
    inner = (_stripped(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=tuple(inner))


def _not_whole(name: str, why: str) -> StoreProblem:
    return StoreProblem(
        f"Barry's own module {name} can't be read: {why}",
        hint="this installation is not whole: install it again",
        details={"module": name},
    )
