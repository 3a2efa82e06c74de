"""Making definitions smaller and quicker to make, without a change to what they do."""

from __future__ import annotations

import ast
import inspect
import marshal
from collections import Counter
from collections.abc import Collection, Mapping
from types import CodeType
from typing import Any

from barry_cli.policy.definitions import PLACE, Definition

SMALL = 160
"""Data of up to so many bytes stands wherever it is named."""


def is_data(value: Any) -> bool:
    """Whether marshal gives back the same."""
    kind = type(value)
    if kind is dict:
        return all(is_data(each) for pair in value.items() for each in pair)
    if kind in (tuple, list, set, frozenset):
        return all(map(is_data, value))
    return value is None or kind in (bool, int, float, str, bytes)


def is_small(value: Any) -> bool:
    """Whether data may stand wherever it is named: nothing can change it, and it is short."""
    kind = type(value)
    if kind in (tuple, frozenset):
        return all(map(is_small, value)) and len(marshal.dumps(value)) <= SMALL
    return kind not in (dict, list, set) and len(marshal.dumps(value)) <= SMALL


def inline(found: Mapping[str, Definition], data: Mapping[str, object]) -> None:
    """Put data in the place of its names."""
    for each in found.values():
        if each.needs & data.keys():
            each.statement = _Inlined(data).visit(each.statement)


class _Inlined(ast.NodeTransformer):
    """Puts data in the place of its names."""

    def __init__(self, data: Mapping[str, object]) -> None:
        self._data = data

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._data:
            return node
        value: Any = self._data[node.id]
        return ast.Constant(value, **PLACE)


def join_classes(found: Mapping[str, Definition], data: Collection[str]) -> None:
    """Make a class and what it extends one class, where nothing else names that."""
    users = Counter(need for name, each in found.items() if name not in data for need in each.needs)
    for each in found.values():
        holder = each.statement
        while (base := _base(each, found)) and users[base.name] == 1:
            above, below = base.statement, each.statement
            assert isinstance(above, ast.ClassDef)
            assert isinstance(below, ast.ClassDef)
            nodes = ast.walk(holder)
            if sum(isinstance(node, ast.Name) and node.id == base.name for node in nodes) > 1:
                break
            below.bases = above.bases
            below.body = [*above.body, *below.body]
            each.methods = base.methods | each.methods
            each.needs = (each.needs | base.needs) - {base.name}
            holder = above


def _base(each: Definition, found: Mapping[str, Definition]) -> Definition | None:
    match each.statement:
        case ast.ClassDef(bases=[ast.Name(id=base)], keywords=[], decorator_list=[]):
            if base in found and isinstance(found[base].statement, ast.ClassDef):
                return found[base]
        case _:
            pass
    return None


def compiled(module: ast.Module) -> CodeType:
    """A module's code, as small as it may be."""
    return stripped(code_of(module))


def code_of(module: ast.Module) -> CodeType:
    """A module's code as it is."""
    return compile(module, "", "exec", dont_inherit=True)


def stripped(code: CodeType) -> CodeType:
    """The code without line numbers, and without names that only a traceback would show.

    That is a third of it, each new name takes its time, and nobody is shown a traceback.
    """
    taken = code.co_argcount + code.co_kwonlyargcount
    taken += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    given, own = code.co_varnames[:taken], code.co_varnames[taken:]
    renamed = (name if name in code.co_cellvars else f"_{at}" for at, name in enumerate(own))
    inner = (stripped(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(
        co_linetable=b"",
        co_name="_",
        co_qualname="_",
        co_varnames=(*given, *renamed),
        co_consts=tuple(inner),
    )
