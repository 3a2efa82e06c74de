"""Where names hold: what functions, classes and comprehensions bind for themselves."""

from __future__ import annotations

import ast

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SLOTS = "__slots__"


class Scope:
    """The names of a function, a comprehension or a class: those of the last hold in it alone."""

    __slots__ = ("is_class", "names")

    def __init__(self, names: set[str], is_class: bool = False) -> None:
        self.names: dict[str, str] = dict.fromkeys(names, "")
        """Name -> the module of Barry's that it stands for, or ""."""
        self.is_class = is_class


def bound_in(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    """What a function's arguments and its body bind."""
    given = function.args
    each = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    names = {arg.arg for arg in each if arg is not None}
    body = function.body
    return names | bound_by(body if isinstance(body, list) else [body])


def bound_by(nodes: list[ast.stmt] | list[ast.expr]) -> set[str]:
    """The names that statements bind where they stand, not in functions and classes of theirs."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(nodes)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found.update(each.asname or each.name for each in names)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.NamedExpr(target=ast.Name(id=name)):
                found.add(name)
            case _:
                pass
        if isinstance(node, COMPREHENSIONS):
            # Its own variables are its own, what it assigns within is not.
            waiting += [each for each in ast.walk(node) if isinstance(each, ast.NamedExpr)]
        else:
            waiting += ast.iter_child_nodes(node)
    return found


def stands_alone(method: ast.FunctionDef) -> bool:
    """Whether a method means the same outside of its class."""
    nodes = list(ast.walk(method))
    names = {each.id for each in nodes if isinstance(each, ast.Name)}
    names |= {each.attr for each in nodes if isinstance(each, ast.Attribute)}
    given = [*method.args.defaults, *method.args.kw_defaults]
    return (
        all(each is None or isinstance(each, ast.Constant) for each in given)
        and not method.decorator_list
        and not method.name.startswith("__")
        and not names & {"super", "__class__"}
        and not any(name.startswith("__") and not name.endswith("__") for name in names)
    )


def is_slots(statement: ast.stmt) -> bool:
    """Whether a statement names a class's slots."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name == SLOTS
        case _:
            return False
