"""The JSON Schema (2020-12) of a bound, with the words that its source says about each key."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from barry_cli.policy import schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def bound_json_schema() -> dict[str, Any]:
    """The schema of bound files: camelCase keys, unknown ones refused, as ``parse_bound`` does."""
    found = schema.Bound.model_json_schema()
    models = {"Bound": found, **found.get("$defs", {})}
    for name, words in _words().items():
        model = models.get(name, {})
        for key, said in words.items():
            field = getattr(schema, name).model_fields[key]
            model["properties"][field.alias or key].setdefault("description", said)
    models["NetworkBound"]["dependentSchemas"] = {
        "allowDomains": {
            "required": ["enforce"],
            "properties": {"enforce": {"const": "sandbox"}},
            "description": schema.ALLOW_DOMAINS_NEEDS_SANDBOX,
        }
    }
    return {"$schema": DIALECT, **found}


def _words() -> dict[str, dict[str, str]]:
    """Class -> field -> the docstring below the field. Empty where the source isn't at hand."""
    try:
        tree = ast.parse(inspect.getsource(schema))
    except OSError:
        return {}
    return {
        each.name: {
            before.target.id: inspect.cleandoc(after.value.value).replace("\n", " ")
            for before, after in zip(each.body, each.body[1:], strict=False)
            if isinstance(before, ast.AnnAssign)
            and isinstance(before.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        }
        for each in tree.body
        if isinstance(each, ast.ClassDef) and each.name != "AgentTrait"
    }
