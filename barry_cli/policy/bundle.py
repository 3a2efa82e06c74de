"""Many modules as one file: what the fast door runs without looking for anything.

The file holds the code of a program and of every module of Barry's that it imports, without what
only people and type checkers read. It belongs to one version of Barry and one interpreter.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import marshal
import sys
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader
from types import CodeType

from barry_cli.base.problems import StoreProblem
from barry_cli.policy.loading import LATER, MODULES, SIZE, Index

HOUSE = "barry_cli"

# The marks become data. Whatever goes wrong here must refuse the call, and say so in a sentence.
_START = """
import gc, sys
gc.disable()
try:
    loading = {{}}
    exec("@loading", loading)
    modules = loading["load"]("@index", dict("@files"), __file__)
    modules["{program}"].main(sys.argv[1:])
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
        if name not in found:
            found[name] = _source(name)
            waiting += found[name].imports
    sources = [found[name] for name in sorted(found)]
    codes = [marshal.dumps(source.code) for source in sources]
    return Bundle(
        program,
        tuple(
            (source.name, f" {' '.join(source.functions)} ", len(code))
            for source, code in zip(sources, codes, strict=True)
        ),
        b"".join(codes),
        tuple(sorted({each for source in sources for each in source.machine_code})),
    )


def entry(made: Bundle) -> bytes:
    """A ``.pyc`` that runs the program's ``main(arguments)``. Raises StoreProblem."""
    marks: dict[object, object] = {
        "@loading": _source("barry_cli.policy.loading").code,
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
    return Bundle(program, index, data[end:], tuple(sorted(files.items())))


@dataclass(frozen=True, slots=True)
class _Source:
    """One of Barry's modules: its functions, what it imports, and the code that is run."""

    name: str
    functions: tuple[str, ...]
    imports: tuple[str, ...]
    machine_code: tuple[tuple[str, str], ...]
    code: CodeType


def _source(name: str) -> _Source:
    tree = _tree(name)
    functions = _functions(tree)
    bare = _Bare()
    bare.visit(tree)
    _leave_out(bare.looked_up, tree)
    code = compile(ast.fix_missing_locations(tree), name, "exec", dont_inherit=True)
    machine_code = filter(None, map(_machine_code, sorted(bare.others)))
    imports = tuple(sorted(bare.ours))
    return _Source(name, functions, imports, tuple(machine_code), _stripped(code))


def _tree(name: str) -> ast.Module:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise _not_whole(name, "it isn't there as a file")
    try:
        with open(spec.origin, "rb") as file:
            return ast.parse(file.read())
    except (OSError, ValueError, SyntaxError) as error:
        raise _not_whole(name, str(error)) from error


@functools.cache
def _functions_of(name: str) -> tuple[str, ...]:
    return _functions(_tree(name))


def _functions(tree: ast.Module) -> tuple[str, ...]:
    return tuple(each.name for each in tree.body if isinstance(each, ast.FunctionDef))


class _Bare(ast.NodeTransformer):
    """Takes away what nothing runs, annotations and texts that stand alone, and has Barry's own
    modules come from where ``loading`` keeps them.
    """

    def __init__(self) -> None:
        self.ours: set[str] = set()
        self.others: set[str] = set()
        self.looked_up: list[ast.Assign] = []
        """The lines that stand for an import, each of one name."""

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

    def visit_Import(self, node: ast.Import) -> ast.AST:
        for each in node.names:
            if _ours(each.name):
                raise _not_whole(each.name, f"write `from` to import {each.name}")
            self.others.add(each.name)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.stmt]:
        module = node.module or ""
        if not _ours(module):
            self.others.add(module)
            return node
        package = importlib.util.find_spec(module)
        inside = package is not None and package.submodule_search_locations is not None
        lines = []
        for each in node.names:
            name, within = each.name, f"{module}.{each.name}"
            if inside and importlib.util.find_spec(within) is not None:
                self.ours.add(within)
                value = f"{LATER}({within!r})"
            else:
                self.ours.add(module)
                is_function = name in _functions_of(module)
                value = f"{LATER}({module!r}, {name!r})" if is_function else ""
            lines.append(f"{each.asname or name} = {value or f'{MODULES}[{module!r}].{name}'}")
        made = [each for each in ast.parse("\n".join(lines)).body if isinstance(each, ast.Assign)]
        self.looked_up += made
        return list[ast.stmt](made)


def _leave_out(lines: list[ast.Assign], tree: ast.Module) -> None:
    """Name nothing for a name that was for annotations alone: its module need not be made.

    What is passed on to other modules stands in ``__all__``.
    """
    nodes = list(ast.walk(tree))
    used: set[object] = {each.value for each in nodes if isinstance(each, ast.Constant)}
    for each in nodes:
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            used.add(each.id)
    for line in lines:
        if isinstance(target := line.targets[0], ast.Name) and target.id not in used:
            line.value = ast.Constant(None)


def _ours(name: str) -> bool:
    return name == HOUSE or name.startswith(f"{HOUSE}.")


def _machine_code(name: str) -> tuple[str, str] | None:
    """A module of the interpreter's that is a file of its own: finding it again costs much."""
    if name in sys.builtin_module_names:
        return None
    spec = importlib.util.find_spec(name)
    is_one = spec is not None and isinstance(spec.loader, ExtensionFileLoader)
    return (name, str(spec.origin)) if spec is not None and is_one else None


def _stripped(code: CodeType) -> CodeType:
    """The code without its line numbers: a quarter of it, and nobody is shown a traceback."""
    inner = (_stripped(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_linetable=b"", co_qualname=code.co_name, co_consts=tuple(inner))


def _not_whole(name: str, why: str) -> StoreProblem:
    return StoreProblem(
        f"Barry's own module {name} can't be read: {why}",
        hint="this installation is not whole: install it again",
        details={"module": name},
    )
