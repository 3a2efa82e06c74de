"""Bounds: what may not be done, what traits grant, and the rulings on both (seed 003)."""

from barry_cli._face import face

TYPE_CHECKING = False
if TYPE_CHECKING:
    from barry_cli.policy.aliases import bound_with_ids as bound_with_ids
    from barry_cli.policy.aliases import trait_with_ids as trait_with_ids
    from barry_cli.policy.classify import BashClassification as BashClassification
    from barry_cli.policy.classify import classify_bash_command as classify_bash_command
    from barry_cli.policy.classify import is_bash_denied as is_bash_denied
    from barry_cli.policy.classify import is_program_denied as is_program_denied
    from barry_cli.policy.commands import FileWriteFinding as FileWriteFinding
    from barry_cli.policy.commands import classify_file_write as classify_file_write
    from barry_cli.policy.commands import classify_network_actions as classify_network_actions
    from barry_cli.policy.commands import (
        extract_domains_from_command as extract_domains_from_command,
    )
    from barry_cli.policy.commands import is_domain_denied as is_domain_denied
    from barry_cli.policy.commands import is_file_allowed as is_file_allowed
    from barry_cli.policy.commands import is_file_denied as is_file_denied
    from barry_cli.policy.commands import is_network_action_denied as is_network_action_denied
    from barry_cli.policy.guards import BoundGuardTool as BoundGuardTool
    from barry_cli.policy.guards import apply_bound_guards as apply_bound_guards
    from barry_cli.policy.json_schema import bound_json_schema as bound_json_schema
    from barry_cli.policy.merge import Merged as Merged
    from barry_cli.policy.merge import bound_has_content as bound_has_content
    from barry_cli.policy.merge import merge_bounds as merge_bounds
    from barry_cli.policy.merge import merge_network as merge_network
    from barry_cli.policy.merge import merge_with_notes as merge_with_notes
    from barry_cli.policy.native import NativeGrants as NativeGrants
    from barry_cli.policy.native import NativeHarness as NativeHarness
    from barry_cli.policy.native import NativePolicy as NativePolicy
    from barry_cli.policy.native import NativeToolStatus as NativeToolStatus
    from barry_cli.policy.native import native_tool_denials as native_tool_denials
    from barry_cli.policy.native import native_tool_status as native_tool_status
    from barry_cli.policy.native import native_tools_taken_back as native_tools_taken_back
    from barry_cli.policy.native import resolve_native_policy as resolve_native_policy
    from barry_cli.policy.native import validate_native_tools as validate_native_tools
    from barry_cli.policy.network_tools import NETWORK_TOOL_ACTIONS as NETWORK_TOOL_ACTIONS
    from barry_cli.policy.network_tools import NETWORK_TOOL_URL_PARAMS as NETWORK_TOOL_URL_PARAMS
    from barry_cli.policy.problems import NotAllowed as NotAllowed
    from barry_cli.policy.problems import PolicyProblem as PolicyProblem
    from barry_cli.policy.ruling.actions import expand_actions as expand_actions
    from barry_cli.policy.schema import ALLOW_DOMAINS_NEEDS_SANDBOX as ALLOW_DOMAINS_NEEDS_SANDBOX
    from barry_cli.policy.schema import NATIVE_CATEGORIES as NATIVE_CATEGORIES
    from barry_cli.policy.schema import Access as Access
    from barry_cli.policy.schema import AgentTrait as AgentTrait
    from barry_cli.policy.schema import BashBound as BashBound
    from barry_cli.policy.schema import Bound as Bound
    from barry_cli.policy.schema import BoundSchema as BoundSchema
    from barry_cli.policy.schema import FilesBound as FilesBound
    from barry_cli.policy.schema import NativeCategory as NativeCategory
    from barry_cli.policy.schema import NetworkAction as NetworkAction
    from barry_cli.policy.schema import NetworkBound as NetworkBound
    from barry_cli.policy.schema import NodesBound as NodesBound
    from barry_cli.policy.schema import bound_problems as bound_problems
    from barry_cli.policy.schema import parse_bound as parse_bound
    from barry_cli.policy.scope import ExecutionContext as ExecutionContext
    from barry_cli.policy.scope import ExecutionScope as ExecutionScope
    from barry_cli.policy.scope import approve_execution_scope as approve_execution_scope
    from barry_cli.policy.scope import assert_node_allowed as assert_node_allowed
    from barry_cli.policy.scope import assert_scope_delegation as assert_scope_delegation
    from barry_cli.policy.scope import assert_tool_allowed as assert_tool_allowed
    from barry_cli.policy.scope import execution_scope_schema as execution_scope_schema
    from barry_cli.policy.scope import intersect_execution_scope as intersect_execution_scope
    from barry_cli.policy.scope import resolve_execution_context as resolve_execution_context
    from barry_cli.policy.scope import scope_fingerprint as scope_fingerprint
    from barry_cli.policy.tools import CORE_NAMESPACES as CORE_NAMESPACES
    from barry_cli.policy.tools import McpAnnotations as McpAnnotations
    from barry_cli.policy.tools import ToolMeta as ToolMeta
    from barry_cli.policy.tools import filter_tools as filter_tools
    from barry_cli.policy.tools import filter_tools_qualified as filter_tools_qualified
    from barry_cli.policy.tools import get_implied_denied_tools as get_implied_denied_tools
    from barry_cli.policy.tools import qualify_tool_id as qualify_tool_id
    from barry_cli.policy.traits import ResolvedTraitGrants as ResolvedTraitGrants
    from barry_cli.policy.traits import ResolvedTraits as ResolvedTraits
    from barry_cli.policy.traits import expand_trait_names as expand_trait_names
    from barry_cli.policy.traits import resolve_effective_bound as resolve_effective_bound
    from barry_cli.policy.traits import resolve_traits as resolve_traits
    from barry_cli.policy.traits import tool_grant as tool_grant
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "ALLOW_DOMAINS_NEEDS_SANDBOX": "barry_cli.policy.schema",
            "Access": "barry_cli.policy.schema",
            "AgentTrait": "barry_cli.policy.schema",
            "BashBound": "barry_cli.policy.schema",
            "BashClassification": "barry_cli.policy.classify",
            "Bound": "barry_cli.policy.schema",
            "BoundGuardTool": "barry_cli.policy.guards",
            "BoundSchema": "barry_cli.policy.schema",
            "CORE_NAMESPACES": "barry_cli.policy.tools",
            "ExecutionContext": "barry_cli.policy.scope",
            "ExecutionScope": "barry_cli.policy.scope",
            "FileWriteFinding": "barry_cli.policy.commands",
            "FilesBound": "barry_cli.policy.schema",
            "McpAnnotations": "barry_cli.policy.tools",
            "Merged": "barry_cli.policy.merge",
            "NATIVE_CATEGORIES": "barry_cli.policy.schema",
            "NETWORK_TOOL_ACTIONS": "barry_cli.policy.network_tools",
            "NETWORK_TOOL_URL_PARAMS": "barry_cli.policy.network_tools",
            "NativeCategory": "barry_cli.policy.schema",
            "NativeGrants": "barry_cli.policy.native",
            "NativeHarness": "barry_cli.policy.native",
            "NativePolicy": "barry_cli.policy.native",
            "NativeToolStatus": "barry_cli.policy.native",
            "NetworkAction": "barry_cli.policy.schema",
            "NetworkBound": "barry_cli.policy.schema",
            "NodesBound": "barry_cli.policy.schema",
            "NotAllowed": "barry_cli.policy.problems",
            "PolicyProblem": "barry_cli.policy.problems",
            "ResolvedTraitGrants": "barry_cli.policy.traits",
            "ResolvedTraits": "barry_cli.policy.traits",
            "ToolMeta": "barry_cli.policy.tools",
            "apply_bound_guards": "barry_cli.policy.guards",
            "approve_execution_scope": "barry_cli.policy.scope",
            "assert_node_allowed": "barry_cli.policy.scope",
            "assert_scope_delegation": "barry_cli.policy.scope",
            "assert_tool_allowed": "barry_cli.policy.scope",
            "bound_has_content": "barry_cli.policy.merge",
            "bound_json_schema": "barry_cli.policy.json_schema",
            "bound_problems": "barry_cli.policy.schema",
            "bound_with_ids": "barry_cli.policy.aliases",
            "classify_bash_command": "barry_cli.policy.classify",
            "classify_file_write": "barry_cli.policy.commands",
            "classify_network_actions": "barry_cli.policy.commands",
            "execution_scope_schema": "barry_cli.policy.scope",
            "expand_actions": "barry_cli.policy.ruling.actions",
            "expand_trait_names": "barry_cli.policy.traits",
            "extract_domains_from_command": "barry_cli.policy.commands",
            "filter_tools": "barry_cli.policy.tools",
            "filter_tools_qualified": "barry_cli.policy.tools",
            "get_implied_denied_tools": "barry_cli.policy.tools",
            "intersect_execution_scope": "barry_cli.policy.scope",
            "is_bash_denied": "barry_cli.policy.classify",
            "is_domain_denied": "barry_cli.policy.commands",
            "is_file_allowed": "barry_cli.policy.commands",
            "is_file_denied": "barry_cli.policy.commands",
            "is_network_action_denied": "barry_cli.policy.commands",
            "is_program_denied": "barry_cli.policy.classify",
            "merge_bounds": "barry_cli.policy.merge",
            "merge_network": "barry_cli.policy.merge",
            "merge_with_notes": "barry_cli.policy.merge",
            "native_tool_denials": "barry_cli.policy.native",
            "native_tool_status": "barry_cli.policy.native",
            "native_tools_taken_back": "barry_cli.policy.native",
            "parse_bound": "barry_cli.policy.schema",
            "qualify_tool_id": "barry_cli.policy.tools",
            "resolve_effective_bound": "barry_cli.policy.traits",
            "resolve_execution_context": "barry_cli.policy.scope",
            "resolve_native_policy": "barry_cli.policy.native",
            "resolve_traits": "barry_cli.policy.traits",
            "scope_fingerprint": "barry_cli.policy.scope",
            "tool_grant": "barry_cli.policy.traits",
            "trait_with_ids": "barry_cli.policy.aliases",
            "validate_native_tools": "barry_cli.policy.native",
        },
    )
