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
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader
from types import CodeType

from barry_cli.base.problems import StoreProblem
from barry_cli.policy.loading import SIZE, Index

HOUSE = "barry_cli"

# The marks become data. Whatever goes wrong here must refuse the call, and say so in a sentence.
_START = """
import gc, sys
gc.disable()
try:
    loading = type(sys)("loading")
    exec("@loading", loading.__dict__)
    loading.load("@index", dict("@files"), __file__)
    sys.modules["{program}"].main(sys.argv[1:])
except BaseException as error:
    sys.stderr.write(
        "Barry could not rule on this call, so it is refused: its program can't be started "
        f"({{type(error).__name__}}: {{error}}). End the session and start it again\\n"
    )
    sys.exit(2)
"""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The modules of a program, as ``loading.load`` takes them."""

    program: str
    index: Index
    codes: bytes
    machine_code: tuple[tuple[str, str], ...]
    """Modules of the interpreter's that are files of their own, and where."""


def bundle(program: str) -> Bundle:
    """The program's module, and every one of Barry's that it imports.

    Raises StoreProblem where their sources can't be read.
    """
    found: dict[str, _Source] = {}
    waiting = [program]
    while waiting:
        name = waiting.pop()
        if name and name not in found:
            found[name] = source = _Source(name)
            waiting += [source.package, *source.imports]
    sources = [found[name] for name in sorted(found)]  # packages before what they hold
    codes = [marshal.dumps(source.code) for source in sources]
    return Bundle(
        program,
        tuple(
            (source.name, source.is_package, source.functions, len(code))
            for source, code in zip(sources, codes, strict=True)
        ),
        b"".join(codes),
        tuple({name: file for source in sources for name, file in source.machine_code}.items()),
    )


def entry(made: Bundle) -> bytes:
    """A ``.pyc`` that runs the program's ``main(arguments)``. Raises StoreProblem."""
    marks: dict[object, object] = {
        "@loading": _Source("barry_cli.policy.loading").code,
        "@index": made.index,
        "@files": made.machine_code,
    }
    start = compile(_START.format(program=made.program), HOUSE, "exec", dont_inherit=True)
    constants = tuple(marks.get(each, each) for each in start.co_consts)
    whole = _stripped(start).replace(co_consts=constants)
    # The interpreter reads the first object alone.
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(whole) + made.codes


def dump(made: Bundle) -> bytes:
    """A file that ``parse`` and ``loading.load_file`` read."""
    head = marshal.dumps((made.index, dict(made.machine_code)))
    return len(head).to_bytes(SIZE, "big") + head + made.codes


def parse(program: str, data: bytes) -> Bundle:
    """What such a file holds. Raises ValueError, EOFError or TypeError for anything else."""
    end = SIZE + int.from_bytes(data[:SIZE], "big")
    index, files = marshal.loads(data[SIZE:end])  # noqa: S302 - from Barry's own folder
    if sum(size for *_, size in index) != len(data) - end:
        raise ValueError("it isn't whole")
    return Bundle(program, index, data[end:], tuple(files.items()))


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
        named = {name for node in ast.walk(tree) for name in _named(node)}
        self.imports = sorted(filter(_ours, named))
        self.machine_code = list(filter(None, map(_machine_code, sorted(named))))
        functions = [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]
        self.functions = f" {' '.join(functions)} "
        self.code = _stripped(compile(_bare(tree), name, "exec", dont_inherit=True))


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

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        bare = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
        return self.generic_visit(ast.copy_location(bare, node))

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
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
