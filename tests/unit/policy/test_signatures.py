"""Every function of the seed takes what the seed gives it: by place, and by name."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from barry_cli import bounds, sessions

# A star: what stands behind it comes from an options object, so by name alone.
SEED = {
    "apply_bound_guards": "tools scope",
    "approve_execution_scope": (
        "* bound_by_name bounds? harness? identity? tools trait_names traits"
    ),
    "assert_node_allowed": "node_id bound?",
    "assert_scope_delegation": "scope delegator catalog",
    "assert_tool_allowed": "context tool node_id",
    "bound_has_content": "bound?",
    "classify_bash_command": "command",
    "classify_file_write": "command",
    "classify_network_actions": "classification raw_command",
    "expand_actions": "actions",
    "expand_trait_names": "names traits harness?",
    "extract_domains_from_command": "command",
    "filter_tools": "tools trait_names all_traits bound? harness?",
    "filter_tools_qualified": "tools trait_names all_traits bound? harness?",
    "get_implied_denied_tools": "actions",
    "intersect_execution_scope": "approved current catalog restrictions?",
    "is_bash_denied": "command deny",
    "is_domain_denied": "domain domains",
    "is_file_allowed": "file_path allow_only",
    "is_file_denied": "file_path deny",
    "is_network_action_denied": "command actions",
    "is_program_denied": "command deny_programs",
    "merge_bounds": "base override",
    "merge_network": "base? override?",
    "native_tool_denials": "bound harness inventory",
    "native_tool_status": "traits bound harness mode?",
    "native_tools_taken_back": "bound harness",
    "qualify_tool_id": "namespace tool_name",
    "resolve_effective_bound": "* bound_by_name bounds? harness? trait_names traits",
    "resolve_execution_context": (
        "* bound_by_name bounds? harness? identity? tools trait_names traits"
    ),
    "resolve_native_policy": "grants harness? mode?",
    "resolve_traits": "trait_names all_traits harness?",
    "scope_fingerprint": "value",
    "tool_grant": "grants namespace tool",
    "validate_native_tools": "manifest harness",
}

PROMISES = {"approve_execution_scope", "resolve_effective_bound", "resolve_execution_context"}


def described(function: Any) -> str:
    parameters = inspect.signature(function).parameters.values()
    by_name = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
    words = [
        each.name + ("" if each.default is each.empty else "?")
        for each in (sorted(by_name, key=lambda each: each.name) or parameters)
    ]
    return " ".join(["*", *words] if by_name else words)


@pytest.mark.parametrize("name", sorted(SEED))
def test_the_seeds_functions(name: str) -> None:
    function = getattr(bounds, name)
    assert described(function) == SEED[name]
    assert inspect.iscoroutinefunction(function) == (name in PROMISES)
    assert function.__doc__


def test_sessions_ask_the_policy_what_the_proxy_can_do() -> None:
    assert described(sessions.can_enforce_in_sandbox) == "actions?"


def test_the_schemas_are_the_classes() -> None:
    assert bounds.BoundSchema is bounds.Bound
    assert bounds.execution_scope_schema is bounds.ExecutionScope
    assert set(bounds.CORE_NAMESPACES) == {"barry"}
    assert bounds.NATIVE_CATEGORIES == ("shell", "file-reads", "file-writes", "network")
