"""Tables of a program as texts: a text is there at once, a dict takes its time for each name.

A table of texts by names, or a set of names, that a program only looks names up in becomes one
text, and each look-up a call of ``loading``'s. Sources need not know.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from typing import Any

from barry_cli.policy.definitions import PLACE, Definition, called
from barry_cli.policy.loading import FOUND

LEAST, MOST = 400, 65_536
"""Characters that such a text has. Shorter tables take no time, and longer texts too much."""

_SIMPLE = (ast.Constant, ast.Name)


def packed(data: Mapping[str, object], found: Mapping[str, Definition]) -> dict[str, str]:
    """The tables that become texts, by their names in the program, and these texts.

    The definitions are changed to look names up in them.
    """
    texts = {name: text for name, value in data.items() if (text := _text(value))}
    users = [each for name, each in found.items() if name not in data and each.needs & texts.keys()]
    named: Counter[str] = Counter()
    looked_up: Counter[str] = Counter()
    for each in users:
        for node in ast.walk(each.statement):
            if isinstance(node, ast.Name):
                named[node.id] += 1
            looked_up[_looked_up(node)] += 1
    texts = {name: text for name, text in texts.items() if named[name] == looked_up[name]}
    for each in users:
        each.statement = _LookUps(texts, data).visit(each.statement)
    return texts


def _text(value: Any) -> str:
    """A line for each name: the name, a tab, what it stands for. "" for what can't be one."""
    if type(value) not in (dict, frozenset):
        return ""
    pairs = value.items() if type(value) is dict else [(name, "") for name in value]
    if not all(type(part) is str and part.isprintable() for pair in pairs for part in pair):
        return ""
    text = "\n" + "".join(f"{name}\t{part}\n" for name, part in sorted(pairs))
    return text if LEAST <= len(text) <= MOST else ""


def _looked_up(node: ast.AST) -> str:
    """The table's name where a node looks a name up in one, else ""."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=table), attr="get"), args=[_, *rest], keywords=[]
        ) if len(rest) < 2 and all(isinstance(each, _SIMPLE) for each in rest):
            return table
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=table)]):
            return table
        case ast.Subscript(value=ast.Name(id=table), slice=ast.Constant(), ctx=ast.Load()):
            return table
        case _:
            return ""


class _LookUps(ast.NodeTransformer):
    """Looks names up in texts."""

    def __init__(self, texts: Mapping[str, str], data: Mapping[str, Any]) -> None:
        self._texts = texts
        self._data = data

    def visit(self, node: ast.AST) -> Any:
        table = _looked_up(node)
        self.generic_visit(node)
        if table not in self._texts:
            return node
        match node:
            case ast.Call(args=given):
                return _call(table, given)
            case ast.Compare(left=left, ops=[how]):
                operator = ast.IsNot() if isinstance(how, ast.In) else ast.Is()
                nothing = ast.Constant(None, **PLACE)
                return ast.Compare(_call(table, [left]), [operator], [nothing], **PLACE)
            case ast.Subscript(slice=ast.Constant(value=name)):
                return ast.Constant(self._data[table][name], **PLACE)
            case _:
                return node


def _call(table: str, given: list[ast.expr]) -> ast.Call:
    return called(FOUND, [ast.Name(table, ast.Load(), **PLACE), *given])
