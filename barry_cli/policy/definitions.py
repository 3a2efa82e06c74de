"""What a program is made of: the definitions that it needs of all of Barry's modules.

Every definition gets a name that holds throughout the program, so that no module has to be made
for its sake: the name that it has in its module, a point, and the module's number.
"""

from __future__ import annotations

import ast
import copy
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from barry_cli.base.problems import StoreProblem
from barry_cli.policy.loading import LATER
from barry_cli.policy.name_scopes import (
    COMPREHENSIONS,
    SLOTS,
    Scope,
    bound_by,
    bound_in,
    is_slots,
    stands_alone,
)

HOUSE = "barry_cli"


@dataclass(slots=True)
class Definition:
    """One name of the program's: the statement that binds it, and what that names in turn."""

    name: str
    own: str
    """What the statement binds it as."""
    statement: ast.stmt
    module: str
    needs: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    """Modules of the interpreter's that it imports."""
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)
    """Of a class, what can be made apart from it, by its name in the program."""


def definitions(module: str, function: str) -> tuple[str, dict[str, Definition]]:
    """The name of a function in its program, and all that the program needs.

    Raises StoreProblem where a source can't be read, or isn't written so that it could be taken
    apart: modules bind names, once each, and do nothing else.
    """
    program = _Program()
    start = program.find(module, function)
    if not isinstance(start, str):
        raise not_whole(module, f"it has no {function}")
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in program.made:
            made = program.made[name] = program.define(name)
            waiting += made.needs
    for each in list(program.made.values()):
        for name, method in each.methods.items():
            program.made[name] = Definition(name, method.name, method, each.module)
    return start, program.made


def not_whole(name: str, why: str) -> StoreProblem:
    """What is told of a module that can't be taken apart."""
    return StoreProblem(
        f"Barry's own module {name} can't be read: {why}",
        hint="this installation is not whole: install it again",
        details={"module": name},
    )


@dataclass(frozen=True, slots=True)
class _Whole:
    """A module that is named as such."""

    module: str


class _Program:
    """The names of all modules, and the definitions that were asked for."""

    def __init__(self) -> None:
        self.made: dict[str, Definition] = {}
        self.bound: dict[str, tuple[str, str, ast.stmt]] = {}
        """Name in the program -> its module, its name there, and what binds it."""
        self._modules: dict[str, dict[str, ast.stmt]] = {}
        self._imported: dict[tuple[str, str], str | _Whole] = {}

    def find(self, module: str, name: str) -> str | _Whole | None:
        """What a module's name is in the program; None for one that the module doesn't bind."""
        statement = self._names(module).get(name)
        if statement is None:
            return None
        if isinstance(statement, ast.ImportFrom) and ours(statement.module or ""):
            alias = next(each for each in statement.names if (each.asname or each.name) == name)
            return self.imported(statement.module or "", alias.name)
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            known = f"{name}.{getattr(statement, 'module', '')}"
        else:
            known = f"{name}.{list(self._modules).index(module)}"
        self.bound.setdefault(known, (module, name, statement))
        return known

    def imported(self, module: str, name: str) -> str | _Whole:
        """What `from module import name` gives. Raises StoreProblem."""
        if (module, name) not in self._imported:
            self._imported[module, name] = self._import(module, name)
        return self._imported[module, name]

    def _import(self, module: str, name: str) -> str | _Whole:
        if _is_module(module, name):
            return _Whole(f"{module}.{name}")
        found = self.find(module, name)
        if found is None:
            raise not_whole(module, f"it has no {name}")
        return found

    def is_function(self, name: str) -> bool:
        return isinstance(self.bound[name][2], ast.FunctionDef)

    def define(self, name: str) -> Definition:
        module, own, statement = self.bound[name]
        made = Definition(name, own, statement, module)
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            statement = copy.deepcopy(statement)  # it may bind other names too
        made.statement = _Named(self, module, made).visit(statement)
        return made

    def _names(self, module: str) -> dict[str, ast.stmt]:
        if module not in self._modules:
            bound: dict[str, ast.stmt] = {}
            self._modules[module] = bound
            for statement in tree(module).body:
                for name in _binds(module, statement):
                    if name in bound:
                        raise not_whole(module, f"it binds {name} twice")
                    bound[name] = statement
        return self._modules[module]


def ours(name: str) -> bool:
    """Whether a module is one of Barry's."""
    return name == HOUSE or name.startswith(f"{HOUSE}.")


def _is_module(package: str, name: str) -> bool:
    spec = importlib.util.find_spec(package)
    is_package = spec is not None and spec.submodule_search_locations is not None
    return is_package and importlib.util.find_spec(f"{package}.{name}") is not None


def tree(name: str) -> ast.Module:
    """A module's source. Raises StoreProblem."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise not_whole(name, "it isn't there as a file")
    try:
        with open(spec.origin, "rb") as file:
            return ast.parse(file.read())
    except (OSError, ValueError, SyntaxError) as error:
        raise not_whole(name, str(error)) from error


def _binds(module: str, statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            for each in names:
                if isinstance(statement, ast.Import) and (ours(each.name) or "." in each.name):
                    raise not_whole(each.name, "write `from` to import it")
                yield each.asname or each.name
        case ast.Assign(targets=[ast.Name(id=name)]):
            yield name
        case ast.Assign(targets=[ast.Tuple(elts=parts)]):
            for part in parts:
                if isinstance(part, ast.Name):
                    yield part.id
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            yield name
        case ast.AnnAssign() | ast.Expr(value=ast.Constant()):
            pass
        case _:
            raise not_whole(module, f"line {statement.lineno} does more than to bind a name")


PLACE: dict[str, Any] = {"lineno": 1, "col_offset": 0}
"""Where what is added stands: the compiler asks, and nobody is told."""


def called(function: str, given: list[ast.expr]) -> ast.Call:
    """A call of a function, by its name."""
    return ast.Call(ast.Name(function, ast.Load(), **PLACE), given, [], **PLACE)


class Bare(ast.NodeTransformer):
    """Takes away what nothing runs: annotations, and texts that stand alone."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass(**PLACE)
        return self.generic_visit(ast.Assign([node.target], node.value, **PLACE))

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant):
            return ast.Pass(**PLACE)
        return self.generic_visit(node)


class _Named(Bare):
    """Gives a statement the names of the program."""

    def __init__(self, program: _Program, module: str, made: Definition) -> None:
        self._program = program
        self._module = module
        self._made = made
        self._scopes: list[Scope] = []
        self._late = isinstance(made.statement, (ast.Assign, ast.AnnAssign))

    def _found(self, name: str) -> str | _Whole | None:
        for depth, scope in enumerate(reversed(self._scopes)):
            if name in scope.names and not (depth and scope.is_class):
                return _Whole(scope.names[name]) if scope.names[name] else None
        return self._program.find(self._module, name)

    def _need(self, name: str) -> ast.expr:
        self._made.needs.add(name)
        if self._late and self._program.is_function(name):
            # A table of functions makes none of them.
            return called(LATER, [ast.Constant(name, **PLACE)])
        return ast.Name(name, ast.Load(), **PLACE)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return node
        found = self._found(node.id)
        if isinstance(found, _Whole):
            raise not_whole(self._module, f"{node.id} stands there for a whole module")
        return node if found is None else self._need(found)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr == SLOTS:
            raise not_whole(self._module, "a class has no slots in a program")
        if isinstance(node.value, ast.Name):
            found = self._found(node.value.id)
            if isinstance(found, _Whole):
                within = self._program.imported(found.module, node.attr)
                if isinstance(within, str):
                    return self._need(within)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.args = self.visit(node.args)
        node.returns = None
        self._scopes.append(Scope(bound_in(node)))
        node.body = self._body(node.body)
        self._scopes.pop()
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.args = self.visit(node.args)
        self._scopes.append(Scope(bound_in(node)))
        node.body = self.visit(node.body)
        self._scopes.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.bases = [self.visit(each) for each in node.bases]
        node.keywords = [self.visit(each) for each in node.keywords]
        # Without slots a class takes a third less time to make, and its objects no more.
        node.body = [each for each in node.body if not is_slots(each)] or [ast.Pass(**PLACE)]
        self._scopes.append(Scope(bound_by(node.body), is_class=True))
        node.body = self._body(node.body)
        self._scopes.pop()
        if not self._scopes:
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and stands_alone(each):
                    self._made.methods[f"{each.name}.{self._made.name}"] = each
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, COMPREHENSIONS):
            return super().generic_visit(node)
        # What the first loop runs through is no part of it.
        first, *_ = node.generators
        through = self.visit(first.iter)
        first.iter = ast.Constant(None, **PLACE)
        self._scopes.append(Scope(bound_by([each.target for each in node.generators])))
        super().generic_visit(node)
        self._scopes.pop()
        first.iter = through
        return node

    def _body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in statements:
            changed = self.visit(statement)
            made += changed if isinstance(changed, list) else [changed]
        return made

    def visit_Global(self, node: ast.Global) -> ast.AST:
        raise not_whole(self._module, f"{', '.join(node.names)} changes while it runs")

    def visit_Import(self, node: ast.Import) -> ast.AST:
        self._made.imports.update(each.name for each in node.names)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.stmt]:
        module = node.module or ""
        if not ours(module):
            self._made.imports.add(module)
            return node
        lines: list[ast.stmt] = []
        for each in node.names:
            name = each.asname or each.name
            found = self._program.imported(module, each.name)
            if isinstance(found, _Whole):
                self._scopes[-1].names[name] = found.module
            else:
                bound = ast.Name(name, ast.Store(), **PLACE)
                lines.append(ast.Assign([bound], self._need(found), **PLACE))
        return lines or [ast.Pass(**PLACE)]
